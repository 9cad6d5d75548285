"""Whether what a statement says rises or falls, is gained or lost, does so in the evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, permutations

from rag_app.answer.written.evidence_units import EvidenceUnit
from rag_app.answer.written.findings import Check
from rag_app.answer.written.places import Place, shown, year_keys
from rag_app.answer.written.segments import Clause
from rag_app.answer.written.wording import compared_years, denies, directions, gains

_UP, _DOWN, _SAME = 1, -1, 0
_WAYS = {_UP: "a rise", _DOWN: "a fall", _SAME: "no change"}
_EARNED = {_UP: "a gain", _DOWN: "a loss"}
_EARLIER = re.compile(r"\b(?:from|against|compared (?:with|to)|versus)\s?$", re.IGNORECASE)


class DirectionCheck(Check):
    """Compares the direction of a clause with that of the stretch it rests on."""

    def direction(self, segment: Clause, places: Sequence[Place]) -> None:
        """Note a rise that is a fall there, or that nothing there speaks of.

        Args:
            segment: the clause.
            places: where its facts stand.
        """
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
                for place in self._found.chosen
                for one in directions(place.unit.text) | _number_direction(place.unit, segment)
            )
        if denies(nearest.segment.text) and way not in there:
            return
        if not there and self._moves(way):
            return
        if not there and not self._places.foreign and segment not in self._found.computed_in:
            self._found.problem(f"nothing in what it cites says {_WAYS[way]}")
        elif there and way not in there:
            ways = " and ".join(_WAYS[one] for one in sorted(there))
            self._found.problem(
                f"it says {_WAYS[way]}, what it cites says {ways}: {shown(nearest)}"
            )

    def _moves(self, way: int) -> bool:
        """Tell whether two numbers that stand there move the way that is said."""
        found = [place.said for place in self._found.placed if place.said is not None]
        text = self._claim.prepared
        earlier = [one for one in found if _EARLIER.search(text, 0, one.start)]
        return any(
            one.dimension == other.dimension
            and (other.value > one.value) - (other.value < one.value) == way
            and (not earlier or (one in earlier and other not in earlier))
            for one, other in permutations(found, 2)
        )

    def gain(self, segment: Clause, places: Sequence[Place]) -> None:
        """Note a gain that is a loss there, and the other way round."""
        said = segment.gains
        nearest = self._nearest(segment, places)
        if len(said) != 1 or nearest is None or segment.denied:
            return
        there = nearest.segment.gains or gains(nearest.unit.text)
        if there and not said & there:
            (one,), other = said, next(iter(there))
            self._found.problem(
                f"it says {_EARNED[one]}, what it cites says {_EARNED[other]}: {shown(nearest)}"
            )

    def _nearest(self, segment: Clause, places: Sequence[Place]) -> Place | None:
        """Return the stretch of the evidence that a part of the statement rests on."""
        numbered = [place for place in places if place.quantity is not None]
        if numbered:
            return max(numbered, key=lambda place: place.near)
        chosen = {id(place.unit) for place in self._found.chosen}
        inside = [
            self._places.at(segment, p, None) for p in self._places.all if id(p.unit) in chosen
        ]
        return max(inside, key=lambda place: place.near, default=None)


def _number_direction(unit: EvidenceUnit, segment: Clause) -> frozenset[int]:
    """Return which way the numbers of a unit go, by its columns or by a year in brackets."""
    if unit.is_row or not compared_years(unit.text):
        return _row_direction(unit, segment)
    found: set[int] = set()
    for one, other in pairwise(unit.segments):
        if not one.quantities or not other.quantities or not year_keys(other):
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
