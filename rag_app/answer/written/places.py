"""Where in the evidence something stands, and how near that is to what a statement says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.text import content_words
from rag_app.answer.support import share
from rag_app.answer.written.claim import Claim
from rag_app.answer.written.evidence_units import EvidenceUnit
from rag_app.answer.written.foreign import is_foreign
from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.segments import Clause
from rag_app.answer.written.sent_passage import SentPassage

# A year tells two cells of a row apart as well as a rare word does.
YEAR_WEIGHT = 4.0
MAX_SHOWN_CHARACTERS = 60
_REFERS = re.compile(
    r"(?:It|This|That|These|Those|They|He|She|His|Her|Its|Their)\b|(?:その|この|これ|それ|同)"
)


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


class Places:
    """Every stretch of the evidence, with its nearness to the clauses of a statement.

    Attributes:
        claim: the statement.
        sources: the passages that it is compared with.
        all: their stretches, in reading order.
        foreign: whether the statement is in another language than all of them.
    """

    def __init__(self, claim: Claim, sources: Sequence[SentPassage]) -> None:
        self.claim = claim
        self.sources = sources
        self.all = [
            Place(source, unit, segment)
            for source in sources
            for unit in source.units
            for segment in unit.segments
        ]
        self.foreign = is_foreign(claim, sources)

    def at(self, segment: Clause, place: Place, there: Quantity | None) -> Place:
        """Return a place with its nearness to a clause, and the number that stands there."""
        keys = self.keys(segment)
        near = self.local(keys, place) + 0.5 * self.whole(keys, place)
        near += 0.25 * self.claim.share(self.claim.words, place.unit.words | place.unit.context)
        return Place(place.source, place.unit, place.segment, near, there)

    def keys(self, segment: Clause) -> dict[str, float]:
        """Return what a clause is about: its words and years, each with its weight."""
        words = segment.words & self.claim.words or self.claim.subject
        keys = self.claim.weighted(words)
        return keys | dict.fromkeys(year_keys(segment), YEAR_WEIGHT)

    def local(self, keys: Mapping[str, float], place: Place) -> float:
        """Return the share of the keys that stand in the stretch itself, 0 to 1."""
        segment, unit = place.segment, place.unit
        # The heads of a table speak for its rows, the sentence before for "It was …".
        context = unit.context if unit.is_row or _REFERS.match(unit.text) else frozenset[str]()
        return share(keys, {*segment.words, *segment.around, *context, *year_keys(segment)})

    def whole(self, keys: Mapping[str, float], place: Place) -> float:
        """Return the share of the keys that stand in the sentence or row, 0 to 1."""
        years = {key for segment in place.unit.segments for key in year_keys(segment)}
        refers = _REFERS.match(place.unit.text) is not None
        context = place.unit.context if refers else frozenset[str]()
        return share(keys, {*place.unit.words, *context, *years})

    def words_in(self, unit: EvidenceUnit) -> frozenset[str]:
        """Return the content words of a sentence or row."""
        if self.claim.words <= self.claim.said:
            return unit.words
        # Nothing but hiragana is said, which the words of units leave out.
        return frozenset(content_words(unit.text))


def year_keys(segment: Clause) -> set[str]:
    """Return the years of a clause, in a form that no word has."""
    return {f"year {date.year}" for date in segment.dates if date.year is not None}


def shown(place: Place) -> str:
    """Return the stretch in quotation marks, for a message."""
    return f"“{cut(place.segment.text)}”"


def cut(text: str) -> str:
    """Return a text in one line of at most ``MAX_SHOWN_CHARACTERS``."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN_CHARACTERS else line[: MAX_SHOWN_CHARACTERS - 1] + "…"
