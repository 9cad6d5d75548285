"""One statement against the sentences and rows of what it cites: which facts stand there.

Each number, date and name is looked for in a stretch of the evidence that speaks of the same
thing; where another stretch speaks of it more closely and gives another value, it does not
stand there. Rise and fall, gain and loss and denials are compared where the evidence is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rag_app.answer.written.claim import Claim
from rag_app.answer.written.denial_check import DenialCheck
from rag_app.answer.written.direction_check import DirectionCheck
from rag_app.answer.written.evidence_shares import MIN_WORDS_SHARE
from rag_app.answer.written.findings import ClaimCheck, Findings
from rag_app.answer.written.places import Place, Places, cut, shown
from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.segments import Clause
from rag_app.answer.written.sent_passage import SentPassage
from rag_app.answer.written.squashing import squashed
from rag_app.answer.written.stated_dates import DateCheck
from rag_app.answer.written.stated_names import NameCheck
from rag_app.answer.written.stated_numbers import NumberCheck, is_same_place
from rag_app.answer.written.substitution_check import SubstitutionCheck
from rag_app.answer.written.wording import quotations

# Below it, a statement, or a part of it, shares too few of its words with its evidence.
MIN_PART_WORDS_SHARE = 0.25
# A further sentence is evidence where it holds so much that no earlier one does.
MIN_GAIN_SHARE = 0.15
MAX_UNITS = 4
MIN_QUOTED_CHARACTERS = 8
MIN_CARRYING_NUMBERS = 2

WEAK_SUPPORT = "few of its words stand in what it cites"
NOTHING_TO_CHECK = (
    "it is in another language than what it cites, and has no number or name to check"
)
OTHER_LANGUAGE = (
    "in another language than what it cites: numbers and names were checked, the wording was not"
)
_EACH = re.compile(r"当たり|あたり|につき")


def compare(claim: Claim, sources: Sequence[SentPassage]) -> ClaimCheck:
    """Return what a statement's facts rest on in its sources, and which do not stand there."""
    return _Comparison(claim, sources).result()


class _Comparison:
    def __init__(self, claim: Claim, sources: Sequence[SentPassage]) -> None:
        self._claim = claim
        self._places = Places(claim, sources)
        self._found = Findings()
        self._segment_places: dict[int, list[Place]] = {}

    def result(self) -> ClaimCheck:
        self._found.quoted = self._verbatim()
        self._facts()
        self._quotations()
        self._evidence()
        self._sense()
        self._wording()
        return self._found.result()

    def _facts(self) -> None:
        numbers = NumberCheck(self._places, self._found)
        days = DateCheck(self._places, self._found)
        names = NameCheck(self._places, self._found)
        unplaced: list[tuple[Clause, Quantity]] = []
        for number, segment in enumerate(self._claim.segments):
            places = self._segment_places.setdefault(number, [])
            for quantity in segment.quantities:
                if quantity.raw == 1 and (
                    quantity.spelled or _EACH.match(self._claim.prepared, quantity.end)
                ):
                    continue
                self._found.checked += 1
                place = numbers.quantity(segment, quantity, places)
                if place is None:
                    unplaced.append((segment, quantity))
                elif any(is_same_place(place, one) for one in places):
                    self._found.problem(f"{quantity.text} stands there once: {shown(place)}")
                else:
                    places.append(place)
            places += [p for p in (days.date(segment, d) for d in segment.dates) if p]
            places += [p for p in (names.name(segment, n) for n in segment.names) if p]
            self._found.placed += places
        for segment, quantity in unplaced:
            numbers.computed(segment, quantity)
        days.weekdays()

    def _verbatim(self) -> bool:
        text = squashed(self._claim.text).rstrip(".。")
        for source in self._places.sources:
            start = source.squashed.find(text) if len(text) > MIN_QUOTED_CHARACTERS else -1
            if start >= 0:
                self._found.placed += _units_at(source, start, start + len(text))
                return True
        return False

    def _quotations(self) -> None:
        for quoted in quotations(self._claim.text):
            plain = squashed(quoted).strip(".,。、…")
            if not plain:
                continue
            self._found.checked += 1
            for source in self._places.sources:
                start = source.squashed.find(plain)
                if start >= 0:
                    self._found.placed += _units_at(source, start, start + len(plain))
                    break
            else:
                self._found.problem(
                    f"the quotation “{cut(quoted)}” does not stand in what it cites"
                )

    def _evidence(self) -> None:
        """Choose few units that carry the statement: those of its facts, then of its words."""
        chosen: dict[int, Place] = {}
        for place in sorted(self._found.placed, key=lambda place: -place.near):
            if len(chosen) < MAX_UNITS:
                chosen.setdefault(id(place.unit), place)
        wanted = self._claim.weighted(self._claim.words)
        total = sum(wanted.values()) or 1.0
        units = {
            id(place.unit): (place, self._places.words_in(place.unit)) for place in self._places.all
        }
        held = {word for key in chosen for word in units[key][1]}
        while len(chosen) < MAX_UNITS:
            gain, best = 0.0, None
            for key, (place, words) in units.items():
                more = sum(wanted.get(word, 0.0) for word in words - held) / total
                if key not in chosen and more > gain:
                    gain, best = more, place
            if best is None or (chosen and gain < MIN_GAIN_SHARE):
                break
            chosen[id(best.unit)] = best
            held |= units[id(best.unit)][1]
        self._found.chosen = list(chosen.values())

    def _sense(self) -> None:
        moves = DirectionCheck(self._places, self._found)
        denied = DenialCheck(self._places, self._found)
        for number, segment in enumerate(self._claim.segments):
            places = self._segment_places.get(number) or []
            moves.direction(segment, places)
            moves.gain(segment, places)
        denied.denials()
        denied.conditions()

    def _wording(self) -> None:
        if self._places.foreign:
            self._found.notes.append(OTHER_LANGUAGE)
            if not self._found.checked:
                self._found.problem(NOTHING_TO_CHECK)
            return
        if self._found.quoted:
            return
        SubstitutionCheck(self._places, self._found).substitutions()
        there: set[str] = set()
        for place in self._found.chosen:
            there |= (
                self._places.words_in(place.unit) | place.unit.context | place.source.label_words
            )
        words = self._claim.words
        if self._numbers_carry():
            return
        if words and self._claim.share(words, there) < MIN_WORDS_SHARE:
            self._found.problem(WEAK_SUPPORT)
        for segment in self._claim.segments:
            own = segment.words & words
            if len(own) > 1 and self._claim.share(own, there) < MIN_PART_WORDS_SHARE:
                self._found.problem(f"few words of “{cut(segment.text)}” stand in what it cites")

    def _numbers_carry(self) -> bool:
        """Tell whether two measures or more of the statement stand together in one unit."""
        measured = Counter(
            id(place.unit)
            for place in self._found.placed
            if place.quantity is not None and place.quantity.dimension
        )
        return bool(measured) and max(measured.values()) >= MIN_CARRYING_NUMBERS


def _units_at(source: SentPassage, start: int, end: int) -> list[Place]:
    """Return the units that hold a stretch of a source's squashed text."""
    places, at = [], len(squashed(source.label))
    for unit in source.units:
        length = len(squashed(unit.sentence.text))
        begin = source.squashed.find(squashed(unit.sentence.text), at)
        if begin < 0:
            continue
        at = begin + length
        if begin < end and start < at:
            segment = unit.segments[0]
            places.append(Place(source, unit, segment, near=2.0))
    return places
