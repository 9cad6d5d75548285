"""One statement against the sentences and rows of what it cites: which facts stand there.

Each number, date and name is looked for in a stretch of the evidence that speaks of the same
thing; where another stretch speaks of it more closely and gives another value, it does not
stand there. Rise and fall, gain and loss and denials are compared where the evidence is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise, permutations

from pipelines.text import content_words, language_name, script_of
from rag_app.answer.support import about_the_answer, share, subject_words
from rag_app.answer.written import arithmetic
from rag_app.answer.written.dates import Date, dates, weekdays
from rag_app.answer.written.evidence_units import EvidenceUnit, evidence_units
from rag_app.answer.written.names import Name, stands_in, tokens
from rag_app.answer.written.quantities import Quantity, prepared, same
from rag_app.answer.written.segments import (
    Clause,
    pieces_of,
    segments_of,
    stems,
    word_list,
    words_of,
)
from rag_app.answer.written.squashing import squashed
from rag_app.answer.written.units import CLOCK, MONEY, PERCENT
from rag_app.answer.written.wording import (
    compared_years,
    condition,
    denials,
    denies,
    directions,
    gains,
    is_exception,
    quotations,
)
from rag_app.passages import Sentence

# So much nearer to what is said must another stretch be, to be what is spoken of.
MIN_NEARER_SHARE = 0.3
MIN_NEARER_UNIT_SHARE = 0.6
MIN_NAMED_SHARE = 0.5
# Below it, a statement, or a part of it, shares too few of its words with its evidence.
MIN_WORDS_SHARE = 0.5
MIN_PART_WORDS_SHARE = 0.25
# A further sentence is evidence where it holds so much that no earlier one does.
MIN_GAIN_SHARE = 0.15
MAX_UNITS = 4
# A year tells two cells of a row apart as well as a rare word does.
YEAR_WEIGHT = 4.0
MIN_DENIED_SHARE = 0.5
MIN_DENYING_SHARE = 0.75
MAX_SHOWN_CHARACTERS = 60

WEAK_SUPPORT = "few of its words stand in what it cites"
NOTHING_TO_CHECK = (
    "it is in another language than what it cites, and has no number or name to check"
)
OTHER_LANGUAGE = (
    "in another language than what it cites: numbers and names were checked, the wording was not"
)
# They relate numbers to one another, and stand in no evidence.
_RELATING = frozenset(
    words_of(
        "compared earlier previous prior last ago respectively approximately roughly overall total "
        "sum share whole also versus amount figure value level together combined year "
        "前年 前期 比べ 合計 割合 全体 約 上限 下限"
    )
)
_UP, _DOWN, _SAME = 1, -1, 0
_WAYS = {_UP: "a rise", _DOWN: "a fall", _SAME: "no change"}
_EARNED = {_UP: "a gain", _DOWN: "a loss"}


@dataclass(frozen=True)
class SentPassage:
    """One passage as it was sent, ready to be compared with.

    Attributes:
        passage: its index.
        sentences: those that were sent.
        label: file, page and headings that stood with it.
    """

    passage: int
    sentences: Sequence[Sentence]
    label: str

    @cached_property
    def text(self) -> str:
        """All that was sent of it."""
        return "\n".join([self.label, *(sentence.text for sentence in self.sentences)])

    @cached_property
    def units(self) -> list[EvidenceUnit]:
        """Its sentences and rows, with the facts of each."""
        return evidence_units(self.sentences)

    @cached_property
    def squashed(self) -> str:
        """Its text without white space, case and marks of references."""
        return squashed(self.text)

    @cached_property
    def prepared(self) -> str:
        """Its text in the form that facts are read from."""
        return prepared(self.text)

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Its words in the form that names are compared in."""
        return frozenset(tokens(self.prepared))

    @cached_property
    def words(self) -> frozenset[str]:
        """All its content words."""
        return words_of(self.prepared)

    @cached_property
    def label_words(self) -> frozenset[str]:
        """The content words of its label."""
        return words_of(self.label)

    @cached_property
    def label_years(self) -> frozenset[int]:
        """The years in its label."""
        plain = prepared(self.label).replace("-", " ").replace("_", " ")
        return frozenset(date.year for date in dates(plain) if date.year is not None)

    @cached_property
    def weekdays(self) -> frozenset[int]:
        """The weekdays that it names."""
        return frozenset(day for _, day in weekdays(self.prepared))

    @cached_property
    def language(self) -> tuple[str, str]:
        """Its script, and a name of its language."""
        return script_of(self.text), language_name(self.text)


@dataclass(frozen=True)
class Claim:
    """A statement, taken apart.

    Attributes:
        text: as the model wrote it, without marks.
        weights: weight of content words; 1 for those that are not there.
        known_names: tokens of names that the question speaks of.
        asked: content words of the question.
    """

    text: str
    weights: Mapping[str, float]
    known_names: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()

    @cached_property
    def prepared(self) -> str:
        """Its text in the form that facts are read from."""
        return prepared(self.text)

    @cached_property
    def segments(self) -> list[Clause]:
        """Its stretches, with the facts of each."""
        return segments_of(self.prepared)

    @cached_property
    def said(self) -> frozenset[str]:
        """All its content words."""
        return frozenset[str]().union(*(segment.words for segment in self.segments))

    @cached_property
    def words(self) -> frozenset[str]:
        """Its content words, without those about the answer itself."""
        about, said = frozenset(subject_words(self.prepared)), self.said
        stated = any(segment.has_facts for segment in self.segments)
        # "The answer is 38 tonnes" has no other words.
        left = said - stems(about_the_answer())
        left = left - _RELATING or left
        return left if stated or left else about or said

    @cached_property
    def subject(self) -> frozenset[str]:
        """What its numbers are said of: its words, or those of the question."""
        return self.words or self.asked

    def weighted(self, words: Iterable[str]) -> dict[str, float]:
        """Return the weight of each word."""
        return {word: self.weights.get(word, 1.0) for word in words}

    def share(self, words: frozenset[str], there: Iterable[str]) -> float:
        """Return the weighted share of words that are there; 0 without words."""
        return share(self.weighted(words), set(there))


@dataclass(frozen=True)
class Place:
    """Where a fact stands: a stretch of a unit of a source, and how near it is.

    ``quantity`` is the number that stands there, ``said`` the one of the statement.
    """

    source: SentPassage
    unit: EvidenceUnit
    segment: Clause
    near: float = 0.0
    quantity: Quantity | None = None
    said: Quantity | None = None


@dataclass
class ClaimCheck:
    """What became of a statement.

    Attributes:
        problems: facts that do not stand in what it cites, in words for the reader.
        notes: what was computed, or could not be checked.
        evidence: units that carry it, by source.
        quoted: whether it stands there word for word.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    evidence: list[tuple[SentPassage, EvidenceUnit]] = field(default_factory=list)
    quoted: bool = False


def compare(claim: Claim, sources: Sequence[SentPassage]) -> ClaimCheck:
    """Return what a statement's facts rest on in its sources, and which do not stand there."""
    return _Comparison(claim, sources).finding()


class _Comparison:
    def __init__(self, claim: Claim, sources: Sequence[SentPassage]) -> None:
        self._claim = claim
        self._sources = sources
        self._placed: list[Place] = []
        self._segment_places: dict[int, list[Place]] = {}
        self._finding = ClaimCheck()
        self._all = [
            Place(source, unit, segment)
            for source in sources
            for unit in source.units
            for segment in unit.segments
        ]
        self._foreign = _is_foreign(claim, sources)
        self._checked = 0
        self._computed_in: list[Clause] = []

    def finding(self) -> ClaimCheck:
        found = self._finding
        found.quoted = self._verbatim()
        self._facts()
        self._quotations()
        self._evidence()
        self._sense()
        self._wording()
        found.problems = list(dict.fromkeys(found.problems))
        found.notes = list(dict.fromkeys(found.notes))
        return found

    def _problem(self, text: str) -> None:
        self._finding.problems.append(text)

    # The facts: numbers, dates, names.

    def _facts(self) -> None:
        unplaced: list[tuple[Clause, Quantity]] = []
        for number, segment in enumerate(self._claim.segments):
            places = self._segment_places.setdefault(number, [])
            for quantity in segment.quantities:
                if quantity.raw == 1 and (
                    quantity.spelled or _EACH.match(self._claim.prepared, quantity.end)
                ):
                    continue
                self._checked += 1
                place = self._quantity(segment, quantity, places)
                if place is None:
                    unplaced.append((segment, quantity))
                elif any(_is_same_place(place, one) for one in places):
                    self._problem(f"{quantity.text} stands there once: {_shown(place)}")
                else:
                    places.append(place)
            places += [p for p in (self._date(segment, d) for d in segment.dates) if p]
            places += [p for p in (self._name(segment, n) for n in segment.names) if p]
            self._placed += places
        for segment, quantity in unplaced:
            self._computed(segment, quantity)
        self._weekdays()

    def _quantity(self, segment: Clause, said: Quantity, taken: Sequence[Place]) -> Place | None:
        """Return where a number stands; None, with nothing said yet, where it does not."""
        found = [
            self._at(segment, place, there)
            for place in self._all
            for there in place.segment.quantities
            if _stands(said, there, place.unit)
        ]
        if not found:
            return None
        free = [place for place in found if not any(_is_same_place(place, one) for one in taken)]
        best = replace(max(free or found, key=lambda place: place.near), said=said)
        if self._foreign:
            return best
        rival = self._rival(segment, best, said)
        if rival is not None:
            if self._follows(said, taken):
                return None
            self._problem(f"{said.text} stands there for something else: {_shown(best)}")
        return best

    def _follows(self, said: Quantity, taken: Sequence[Place]) -> bool:
        """Tell whether a number follows from others that the statement states."""
        others = [
            place.quantity
            for place in (*self._placed, *taken)
            if place.quantity is not None and not same(said, place.quantity)
        ]
        return len(others) > 1 and arithmetic.computed(said, others) is not None

    def _at(self, segment: Clause, place: Place, there: Quantity | None) -> Place:
        keys = self._keys(segment)
        near = self._local(keys, place) + 0.5 * self._whole(keys, place)
        near += 0.25 * self._claim.share(self._claim.words, place.unit.words | place.unit.context)
        return Place(place.source, place.unit, place.segment, near, there)

    def _rival(self, segment: Clause, best: Place, said: Quantity) -> Place | None:
        """Return a stretch that speaks more closely of the same, with another number."""
        keys = self._keys(segment)
        local, whole = self._local(keys, best), self._whole(keys, best)
        years = _year_keys(segment)
        there = best.quantity
        for place in self._all:
            if place.segment is best.segment:
                continue
            others = [
                other
                for other in place.segment.quantities
                if self._competes(segment, said, there, other)
            ]
            if not others or (
                place.unit is not best.unit and not any(_of_a_kind(there, one) for one in others)
            ):
                continue
            if _labelled(segment, said, place) > _labelled(segment, said, best):
                return place
            nearer = self._local(keys, place) - local
            if _year_keys(place.segment) == _year_keys(best.segment):
                # The year tells the two not apart: their words do.
                words = {key: weight for key, weight in keys.items() if key not in years}
                nearer = self._local(words, place) - self._local(words, best)
            own_period = there is not None and there.per
            if said.per and not own_period and any(one.per == said.per for one in others):
                nearer += SAME_PERIOD_SHARE
            if place.unit is best.unit:
                if nearer >= MIN_NEARER_SHARE:
                    return place
            elif nearer >= MIN_NEARER_SHARE and self._whole(keys, place) >= max(
                whole + MIN_NEARER_SHARE, MIN_NEARER_UNIT_SHARE
            ):
                return place
        return None

    def _competes(
        self, segment: Clause, said: Quantity, there: Quantity | None, other: Quantity
    ) -> bool:
        if there is None or _stands(said, other, None):
            return False
        alike = there.dimension == other.dimension or {there.dimension, other.dimension} <= MONEY
        return alike and not any(same(one, other) for one in segment.quantities)

    def _keys(self, segment: Clause) -> dict[str, float]:
        words = segment.words & self._claim.words or self._claim.subject
        keys = self._claim.weighted(words)
        return keys | dict.fromkeys(_year_keys(segment), YEAR_WEIGHT)

    def _local(self, keys: Mapping[str, float], place: Place) -> float:
        segment, unit = place.segment, place.unit
        # The heads of a table speak for its rows, the sentence before for "It was …".
        context = unit.context if unit.is_row or _REFERS.match(unit.text) else frozenset[str]()
        return share(keys, {*segment.words, *segment.around, *context, *_year_keys(segment)})

    def _whole(self, keys: Mapping[str, float], place: Place) -> float:
        years = {key for segment in place.unit.segments for key in _year_keys(segment)}
        refers = _REFERS.match(place.unit.text) is not None
        context = place.unit.context if refers else frozenset[str]()
        return share(keys, {*place.unit.words, *context, *years})

    def _date(self, segment: Clause, said: Date) -> Place | None:
        self._checked += 1
        found = [
            self._at(segment, place, None)
            for place in self._all
            if any(there.says(said) for there in place.segment.dates)
        ]
        if not found:
            if not self._dated_around(said):
                self._problem(f"{said.text} does not stand in what it cites")
            return None
        best = max(found, key=lambda place: place.near)
        if not self._foreign and said.month is not None and self._other_date(segment, best, said):
            self._problem(f"{said.text} stands there for something else: {_shown(best)}")
        return best

    def _dated_around(self, said: Date) -> bool:
        """Tell whether the heads, captions and the label of the sources give a date."""
        if said.month is None and any(said.year in one.label_years for one in self._sources):
            return True
        return any(there.says(said) for one in self._sources for there in dates(one.prepared))

    def _other_date(self, segment: Clause, best: Place, said: Date) -> bool:
        keys = self._claim.weighted(segment.words & self._claim.words or self._claim.words)
        local = self._local(keys, best)
        whole = self._whole(keys, best)
        for place in self._all:
            others = [one for one in place.segment.dates if one.month is not None]
            if not others or place.segment is best.segment or any(o.says(said) for o in others):
                continue
            if any(one.says(other) for one in others for other in segment.dates):
                continue
            nearer = self._local(keys, place) - local
            same_unit = place.unit is best.unit
            if nearer >= MIN_NEARER_SHARE and (
                same_unit
                or self._whole(keys, place) >= max(whole + MIN_NEARER_SHARE, MIN_NEARER_UNIT_SHARE)
            ):
                return True
        return False

    def _weekdays(self) -> None:
        there = frozenset[int]().union(*(source.weekdays for source in self._sources))
        for word, day in weekdays(self._claim.prepared):
            self._checked += 1
            if day not in there:
                self._problem(f"{word} does not stand in what it cites")

    def _name(self, segment: Clause, said: Name) -> Place | None:
        if not any(self._could_hold(source, said) for source in self._sources):
            return None
        self._checked += 1
        if not any(stands_in(said, one.tokens, one.prepared) for one in self._sources):
            # German writes all nouns like names.
            if not self._foreign or language_name(self._claim.text) != "German":
                self._problem(f"{said.text} does not stand in what it cites")
            return None
        found = [
            self._at(segment, place, None) for place in self._all if _names(place.segment, said)
        ]
        if not found:
            return None
        best = max(found, key=lambda place: place.near)
        if not self._foreign and self._other_name(segment, found, said):
            self._problem(f"{said.text} stands there for something else: {_shown(best)}")
        return best

    def _could_hold(self, source: SentPassage, said: Name) -> bool:
        """Tell whether a source is in the letters of a name."""
        return source.language[0] == script_of(said.text) or said.text in source.prepared

    def _other_name(self, segment: Clause, found: Sequence[Place], said: Name) -> bool:
        """Tell whether what is said of a name is said there of another one."""
        if set(said.tokens) & self._claim.known_names:
            return False
        if any(set(said.tokens) <= source.label_words for source in self._sources):
            return False
        own = {token for name in segment.names for token in name.tokens}
        keys = self._claim.weighted((segment.words & self._claim.words) - _stems(said.tokens))
        if not keys:
            return False
        local = max(self._local(keys, place) for place in found)
        return any(
            self._local(keys, place) - local >= MIN_NEARER_SHARE
            and self._local(keys, place) >= MIN_NAMED_SHARE
            for place in self._all
            if place.segment.names
            and not _names(place.segment, said)
            and any(set(name.tokens) - own for name in place.segment.names)
        )

    def _computed(self, segment: Clause, said: Quantity) -> None:
        """Note how a number that stands nowhere follows from others, or that it does not."""
        own = [place.quantity for place in self._placed if place.quantity is not None]
        marked = [date for one in self._claim.segments for date in one.dates]
        how = arithmetic.computed(said, own) if own else None
        how = how or arithmetic.period(said, marked)
        if how is None:
            for unit in self._candidates(segment):
                inside = [q for one in unit.unit.segments for q in one.quantities]
                how = arithmetic.computed(said, inside) if len(inside) > 1 else None
                if how is not None:
                    self._placed.append(unit)
                    break
        if how is None:
            self._problem(f"{said.text} does not stand in what it cites")
        else:
            self._finding.notes.append(f"computed: {how}")
            self._computed_in.append(segment)

    def _candidates(self, segment: Clause) -> list[Place]:
        """Return the units that a number may be computed in: those of its words, the best two."""
        keys = self._keys(segment)
        units = {id(place.unit): self._at(segment, place, None) for place in self._all}
        ranked = sorted(units.values(), key=lambda place: -self._whole(keys, place))
        return [place for place in ranked[:2] if self._whole(keys, place) >= MIN_WORDS_SHARE]

    # The words: what carries the statement, and in which sense.

    def _verbatim(self) -> bool:
        text = squashed(self._claim.text).rstrip(".。")
        for source in self._sources:
            start = source.squashed.find(text) if len(text) > MIN_QUOTED_CHARACTERS else -1
            if start >= 0:
                self._placed += _units_at(source, start, start + len(text))
                return True
        return False

    def _quotations(self) -> None:
        for quoted in quotations(self._claim.text):
            plain = squashed(quoted).strip(".,。、…")
            if not plain:
                continue
            self._checked += 1
            for source in self._sources:
                start = source.squashed.find(plain)
                if start >= 0:
                    self._placed += _units_at(source, start, start + len(plain))
                    break
            else:
                self._problem(f"the quotation “{_cut(quoted)}” does not stand in what it cites")

    def _evidence(self) -> None:
        """Choose few units that carry the statement: those of its facts, then of its words."""
        chosen: dict[int, Place] = {}
        for place in sorted(self._placed, key=lambda place: -place.near):
            if len(chosen) < MAX_UNITS:
                chosen.setdefault(id(place.unit), place)
        wanted = self._claim.weighted(self._claim.words)
        total = sum(wanted.values()) or 1.0
        units = {id(place.unit): (place, self._words_in(place.unit)) for place in self._all}
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
        self._chosen = list(chosen.values())
        self._finding.evidence = [(place.source, place.unit) for place in self._chosen]

    def _words_in(self, unit: EvidenceUnit) -> frozenset[str]:
        if self._claim.words <= self._claim.said:
            return unit.words
        # Nothing but hiragana is said, which the words of units leave out.
        return frozenset(content_words(unit.text))

    def _sense(self) -> None:
        for number, segment in enumerate(self._claim.segments):
            places = self._segment_places.get(number) or []
            self._direction(segment, places)
            self._gain(segment, places)
        self._denials()
        self._conditions()

    def _direction(self, segment: Clause, places: Sequence[Place]) -> None:
        said = segment.directions
        if len(said) != 1 or segment.denied:
            return
        (way,) = said
        nearest = self._nearest(segment, places)
        if nearest is None:
            return
        unit = nearest.unit
        there = nearest.segment.directions or _number_direction(unit, segment)
        there = there or directions(unit.text)
        if not there:
            there = frozenset(
                one
                for place in self._chosen
                for one in directions(place.unit.text) | _number_direction(place.unit, segment)
            )
        if denies(nearest.segment.text) and way not in there:
            return
        if not there and self._moves(way):
            return
        if not there and not self._foreign and segment not in self._computed_in:
            self._problem(f"nothing in what it cites says {_WAYS[way]}")
        elif there and way not in there:
            ways = " and ".join(_WAYS[one] for one in sorted(there))
            self._problem(f"it says {_WAYS[way]}, what it cites says {ways}: {_shown(nearest)}")

    def _moves(self, way: int) -> bool:
        """Tell whether two numbers that stand there move the way that is said."""
        found = [place.said for place in self._placed if place.said is not None]
        text = self._claim.prepared
        earlier = [one for one in found if _EARLIER.search(text, 0, one.start)]
        return any(
            one.dimension == other.dimension
            and (other.value > one.value) - (other.value < one.value) == way
            and (not earlier or (one in earlier and other not in earlier))
            for one, other in permutations(found, 2)
        )

    def _gain(self, segment: Clause, places: Sequence[Place]) -> None:
        said = segment.gains
        nearest = self._nearest(segment, places)
        if len(said) != 1 or nearest is None or segment.denied:
            return
        there = nearest.segment.gains or gains(nearest.unit.text)
        if there and not said & there:
            (one,), other = said, next(iter(there))
            self._problem(
                f"it says {_EARNED[one]}, what it cites says {_EARNED[other]}: {_shown(nearest)}"
            )

    def _nearest(self, segment: Clause, places: Sequence[Place]) -> Place | None:
        """Return the stretch of the evidence that a part of the statement rests on."""
        numbered = [place for place in places if place.quantity is not None]
        if numbered:
            return max(numbered, key=lambda place: place.near)
        chosen = {id(place.unit) for place in self._chosen}
        inside = [self._at(segment, p, None) for p in self._all if id(p.unit) in chosen]
        return max(inside, key=lambda place: place.near, default=None)

    def _denials(self) -> None:
        text = self._claim.prepared
        there = [f"{place.unit.text} {place.unit.reply}" for place in self._chosen]
        if not there:
            return
        if denies(text):
            self._denial_there(text, there)
            return
        if any(denies(place.unit.reply) for place in self._chosen):
            self._problem("the next sentence of what it cites denies it")
        if self._foreign:
            return
        for piece in pieces_of(text):
            if (denied := self._denied_there(piece)) is not None:
                self._problem(f"what it cites denies it: “{_cut(denied)}”")

    def _denial_there(self, text: str, there: Sequence[str]) -> None:
        """Check that what the statement denies is denied where its words stand."""
        zero = any(
            quantity.value == 0
            for place in self._chosen
            for segment in place.unit.segments
            for quantity in segment.quantities
        )
        if not zero and not any(denies(one) or 0 in directions(one) for one in there):
            self._problem("it denies something that what it cites does not deny")
            return
        if self._foreign or zero:
            return
        for piece in pieces_of(text):
            words = words_of(piece) & self._claim.words
            if not denies(piece) or len(words) < 2:
                continue
            near, stretch = max(
                (
                    (self._claim.share(words, words_of(one)), one)
                    for unit in there
                    for one in pieces_of(unit)
                ),
                default=(0.0, ""),
            )
            says_same = denies(stretch) or 0 in directions(stretch)
            if near >= MIN_DENYING_SHARE and not says_same:
                self._problem(f"it denies what stands there: “{_cut(stretch)}”")

    def _denied_there(self, piece: str) -> str | None:
        """Return the stretch of the evidence that a part of the statement contradicts."""
        words = words_of(piece) & self._claim.words
        if not words:
            return None
        stretches = [one for place in self._chosen for one in pieces_of(place.unit.text)]
        shares = [self._claim.share(words, words_of(one)) for one in stretches]
        least = max(MIN_DENIED_SHARE, max(shares, default=0.0))
        for there, near in zip(stretches, shares, strict=True):
            own = words_of(there)
            alike = near >= least and len(own & words) > 1
            if (alike or (own and own <= words)) and _contradicts(there, piece):
                return there
        return None

    def _conditions(self) -> None:
        if not self._chosen:
            return
        words = self._claim.words
        best = max(self._chosen, key=lambda place: self._claim.share(words, place.unit.words))
        left_out = condition(best.unit.text) if is_exception(best.unit.text) else ""
        if left_out and self._claim.share(words_of(left_out), words) < MIN_NEARER_SHARE:
            self._problem(f"a condition is left out: “{_cut(left_out)}”")

    def _wording(self) -> None:
        if self._foreign:
            self._finding.notes.append(OTHER_LANGUAGE)
            if not self._checked:
                self._problem(NOTHING_TO_CHECK)
            return
        if self._finding.quoted:
            return
        self._substitutions()
        there: set[str] = set()
        for place in self._chosen:
            there |= self._words_in(place.unit) | place.unit.context | place.source.label_words
        words = self._claim.words
        if self._numbers_carry():
            return
        if words and self._claim.share(words, there) < MIN_WORDS_SHARE:
            self._problem(WEAK_SUPPORT)
        for segment in self._claim.segments:
            own = segment.words & words
            if len(own) > 1 and self._claim.share(own, there) < MIN_PART_WORDS_SHARE:
                self._problem(f"few words of “{_cut(segment.text)}” stand in what it cites")

    def _numbers_carry(self) -> bool:
        """Tell whether two measures or more of the statement stand together in one unit."""
        measured = Counter(
            id(place.unit)
            for place in self._placed
            if place.quantity is not None and place.quantity.dimension
        )
        return bool(measured) and max(measured.values()) >= MIN_CARRYING_NUMBERS

    def _swaps(self, said: Sequence[str]) -> None:
        """Find numbers of one kind in the other order, in an otherwise equal sentence."""
        order = [place for place in self._placed if place.quantity is not None]
        if _MOVES.search(self._claim.prepared):
            return
        for one, other in pairwise(order):
            mine, theirs = one.quantity, other.quantity
            if mine is None or theirs is None or one.unit is not other.unit or one.unit.is_row:
                continue
            alike = bool(mine.dimension) and mine.dimension == theirs.dimension
            if not alike or mine.start <= theirs.start:
                continue
            if _MOVES.search(one.unit.text) or mine.value == theirs.value:
                continue
            there = word_list(one.unit.text)[:MAX_ALIGNED_WORDS]
            matcher = SequenceMatcher(None, said, there, autojunk=False)
            equal = sum(block.size for block in matcher.get_matching_blocks())
            if equal >= MIN_ALIGNED_SHARE * len(said):
                self._problem(f"{mine.text} and {theirs.text} stand there the other way round")

    def _substitutions(self) -> None:
        """Find a word that stands in the place of another in an otherwise equal sentence."""
        said = word_list(self._claim.prepared)[:MAX_ALIGNED_WORDS]
        self._swaps(said)
        for place in self._chosen:
            there = word_list(place.unit.text)[:MAX_ALIGNED_WORDS]
            matcher = SequenceMatcher(None, said, there, autojunk=False)
            blocks = matcher.get_opcodes()
            equal = sum(b - a for kind, a, b, _, _ in blocks if kind == "equal")
            if equal < MIN_ALIGNED_SHARE * len(said):
                continue
            for kind, a, b, c, d in blocks:
                if kind == "replace" and b - a == d - c == 1:
                    self._substitution(said[a], there[c], place)

    def _substitution(self, word: str, instead_of: str, place: Place) -> None:
        elsewhere = word in place.source.words and word not in place.unit.words
        own = instead_of in self._claim.words
        if (
            elsewhere
            and not own
            and word.isascii()
            and not word.startswith(instead_of[:MIN_STEM_CHARACTERS])
        ):
            self._problem(f"“{word}” stands where what it cites has “{instead_of}”")


MIN_QUOTED_CHARACTERS = 8
MAX_ALIGNED_WORDS = 64
MIN_ALIGNED_SHARE = 0.6
MIN_STEM_CHARACTERS = 4
MIN_CARRYING_NUMBERS = 2
_REFERS = re.compile(
    r"(?:It|This|That|These|Those|They|He|She|His|Her|Its|Their)\b|(?:その|この|これ|それ|同)"
)
_EACH = re.compile(r"当たり|あたり|につき")
_EARLIER = re.compile(r"\b(?:from|against|compared (?:with|to)|versus)\s?$", re.IGNORECASE)
# A number by the same period ("a week") is that much nearer.
SAME_PERIOD_SHARE = 0.2
# "From 46 to 38" may be said from either end.
_MOVES = re.compile(r"\b(?:from|against|compared (?:with|to))\s(?=[£$€¥\d])|\dから")


def _stands(said: Quantity, there: Quantity, unit: EvidenceUnit | None) -> bool:
    """Tell whether a number is one that stands there."""
    if same(said, there) and (
        said.dimension == there.dimension or _may_lack_unit(said, there, unit)
    ):
        return (
            not said.negative
            or there.negative
            or unit is None
            or bool(gains(unit.text) | directions(unit.text))
        )
    if not said.dimension:
        return not said.scaled and said.raw == there.raw and not said.bound
    measured = said.dimension not in MONEY and said.dimension not in (PERCENT, CLOCK)
    bare = not there.dimension and unit is not None and unit.is_row and not there.scaled
    # A cell without unit is in the one that its table names in words that are not read.
    return measured and bare and said.raw == there.raw


def _is_same_place(one: Place, other: Place) -> bool:
    """Tell whether two numbers that are said rest on one and the same number."""
    return one.segment is other.segment and one.quantity is other.quantity


def _may_lack_unit(said: Quantity, there: Quantity, unit: EvidenceUnit | None) -> bool:
    """Tell whether one of two numbers may be without the unit of the other."""
    if not said.dimension or {said.dimension, there.dimension} <= MONEY:
        return True
    if there.dimension or said.dimension == CLOCK:
        return False
    if (
        unit is not None
        and not there.noun
        and any(
            one.dimension == said.dimension
            for segment in unit.segments
            for one in segment.quantities
        )
    ):
        return True
    return unit is None or unit.is_row or said.dimension in MONEY or said.dimension == PERCENT


def _labelled(segment: Clause, said: Quantity, place: Place) -> int:
    """Return how many other numbers that are said name the row of a place: "4 to 6 years"."""
    if not place.unit.is_row:
        return 0
    labels = place.segment.quantities[1:]
    return sum(
        any(_stands(one, label, place.unit) for label in labels)
        for one in segment.quantities
        if one is not said
    )


def _of_a_kind(there: Quantity | None, other: Quantity) -> bool:
    """Tell whether two numbers of different sentences count the same kind of thing."""
    if there is None or there.dimension or not there.noun:
        return True
    return there.noun == other.noun


def _year_keys(segment: Clause) -> set[str]:
    return {f"year {date.year}" for date in segment.dates if date.year is not None}


def _contradicts(there: str, said: str) -> bool:
    """Tell whether a stretch denies what is said without a denial."""
    stems = words_of(said)
    japanese = script_of(there) == "cjk"
    for denial in denials(there):
        if denial.restriction:
            continue
        if japanese or words_of(denial.after) & stems:
            return True
    return False


def _names(segment: Clause, said: Name) -> bool:
    there = {token for name in segment.names for token in name.tokens}
    last = said.tokens[-1]
    return last in there or (len(said.tokens) == 1 and said.text in segment.text)


def _stems(names: Iterable[str]) -> frozenset[str]:
    return words_of(" ".join(names))


def _number_direction(unit: EvidenceUnit, segment: Clause) -> frozenset[int]:
    """Return which way the numbers of a unit go, by its columns or by a year in brackets."""
    if unit.is_row or not compared_years(unit.text):
        return _row_direction(unit, segment)
    found: set[int] = set()
    for one, other in pairwise(unit.segments):
        if not one.quantities or not other.quantities or not _year_keys(other):
            continue
        before = other.quantities[0]
        alike = [now for now in one.quantities if now.dimension == before.dimension]
        for now in alike[:1]:
            found.add((now.value > before.value) - (now.value < before.value))
    return frozenset(found)


def _row_direction(unit: EvidenceUnit, segment: Clause) -> frozenset[int]:
    """Return which way the values of a row go from its earliest year to its latest."""
    if not unit.is_row:
        return frozenset()
    said = {date.year for date in segment.dates}
    cells = [
        (cell.dates[0].year or 0, cell.quantities[0].value)
        for cell in unit.segments
        if cell.dates and cell.quantities
    ]
    mine = [cell for cell in cells if cell[0] in said]
    cells = sorted(mine if len(mine) > 1 else cells)
    if len(cells) < 2:
        return frozenset()
    (_, before), (_, after) = cells[-2:]
    return frozenset(((after > before) - (after < before),))


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


def _is_foreign(claim: Claim, sources: Sequence[SentPassage]) -> bool:
    """Tell whether a statement is in another language than all its sources."""
    script, language = script_of(claim.text), language_name(claim.text)
    if script == "none":
        return False
    for source in sources:
        theirs = source.language
        if script == theirs[0] and (script != "latin" or _alike(claim, source, language)):
            return False
    return True


def _alike(claim: Claim, source: SentPassage, language: str) -> bool:
    accented = any(letter.isalpha() and letter > "\x7f" for letter in claim.text)
    unknown = language == "a language in Latin script" and not accented
    if unknown or language == source.language[1]:
        return True
    named = _stems(token for one in claim.segments for name in one.names for token in name.tokens)
    return claim.share(claim.words - named, source.words) >= MIN_NEARER_SHARE


def _shown(place: Place) -> str:
    return f"“{_cut(place.segment.text)}”"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN_CHARACTERS else line[: MAX_SHOWN_CHARACTERS - 1] + "…"
