"""Whether the numbers of a statement stand in the evidence, of the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_app.answer.written import arithmetic
from rag_app.answer.written.evidence_shares import (
    MIN_NEARER_SHARE,
    MIN_NEARER_UNIT_SHARE,
    MIN_WORDS_SHARE,
)
from rag_app.answer.written.findings import Check
from rag_app.answer.written.places import Place, shown, year_keys
from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.same_number import stands
from rag_app.answer.written.same_quantity import same
from rag_app.answer.written.segments import Clause
from rag_app.answer.written.units import MONEY

# A number by the same period ("a week") is that much nearer.
SAME_PERIOD_SHARE = 0.2


class NumberCheck(Check):
    """Looks for each number where the evidence speaks of what the statement does."""

    def quantity(self, segment: Clause, said: Quantity, taken: Sequence[Place]) -> Place | None:
        """Return where a number stands; None, with nothing said yet, where it does not."""
        found = [
            self._places.at(segment, place, there)
            for place in self._places.all
            for there in place.segment.quantities
            if stands(said, there, place.unit)
        ]
        if not found:
            return None
        free = [place for place in found if not any(is_same_place(place, one) for one in taken)]
        best = replace(max(free or found, key=lambda place: place.near), said=said)
        if self._places.foreign:
            return best
        rival = self._rival(segment, best, said)
        if rival is not None:
            if self._follows(said, taken):
                return None
            self._found.problem(f"{said.text} stands there for something else: {shown(best)}")
        return best

    def _follows(self, said: Quantity, taken: Sequence[Place]) -> bool:
        """Tell whether a number follows from others that the statement states."""
        others = [
            place.quantity
            for place in (*self._found.placed, *taken)
            if place.quantity is not None and not same(said, place.quantity)
        ]
        return len(others) > 1 and arithmetic.computed(said, others) is not None

    def _rival(self, segment: Clause, best: Place, said: Quantity) -> Place | None:
        """Return a stretch that speaks more closely of the same, with another number."""
        keys = self._places.keys(segment)
        local, whole = self._places.local(keys, best), self._places.whole(keys, best)
        years = year_keys(segment)
        there = best.quantity
        for place in self._places.all:
            if place.segment is best.segment:
                continue
            others = [
                other
                for other in place.segment.quantities
                if self._competes(segment, said, there, other)
            ]
            if not others or (
                place.unit is not best.unit
                and not any(_of_a_kind(said, there, one) for one in others)
            ):
                continue
            if _labelled(segment, said, place) > _labelled(segment, said, best):
                return place
            nearer = self._places.local(keys, place) - local
            if year_keys(place.segment) == year_keys(best.segment):
                # The year tells the two not apart: their words do.
                words = {key: weight for key, weight in keys.items() if key not in years}
                nearer = self._places.local(words, place) - self._places.local(words, best)
            own_period = there is not None and there.per
            if said.per and not own_period and any(one.per == said.per for one in others):
                nearer += SAME_PERIOD_SHARE
            if place.unit is best.unit:
                if nearer >= MIN_NEARER_SHARE:
                    return place
            elif nearer >= MIN_NEARER_SHARE and self._places.whole(keys, place) >= max(
                whole + MIN_NEARER_SHARE, MIN_NEARER_UNIT_SHARE
            ):
                return place
        return None

    def _competes(
        self, segment: Clause, said: Quantity, there: Quantity | None, other: Quantity
    ) -> bool:
        if there is None or stands(said, other, None):
            return False
        alike = there.dimension == other.dimension or {there.dimension, other.dimension} <= MONEY
        return alike and not any(same(one, other) for one in segment.quantities)

    def computed(self, segment: Clause, said: Quantity) -> None:
        """Note how a number that stands nowhere follows from others, or that it does not."""
        own = [place.quantity for place in self._found.placed if place.quantity is not None]
        marked = [date for one in self._claim.segments for date in one.dates]
        how = arithmetic.computed(said, own) if own else None
        how = how or arithmetic.period(said, marked)
        if how is None:
            for unit in self._candidates(segment):
                inside = [q for one in unit.unit.segments for q in one.quantities]
                how = arithmetic.computed(said, inside) if len(inside) > 1 else None
                if how is not None:
                    self._found.placed.append(unit)
                    break
        if how is None:
            self._found.problem(f"{said.text} does not stand in what it cites")
        else:
            self._found.notes.append(f"computed: {how}")
            self._found.computed_in.append(segment)

    def _candidates(self, segment: Clause) -> list[Place]:
        """Return the units that a number may be computed in: those of its words, the best two."""
        keys = self._places.keys(segment)
        units = {
            id(place.unit): self._places.at(segment, place, None) for place in self._places.all
        }
        ranked = sorted(units.values(), key=lambda place: -self._places.whole(keys, place))
        return [place for place in ranked[:2] if self._places.whole(keys, place) >= MIN_WORDS_SHARE]


def is_same_place(one: Place, other: Place) -> bool:
    """Tell whether two numbers that are said rest on one and the same number."""
    return one.segment is other.segment and one.quantity is other.quantity


def _labelled(segment: Clause, said: Quantity, place: Place) -> int:
    """Return how many other numbers that are said name the row of a place: "4 to 6 years"."""
    if not place.unit.is_row:
        return 0
    labels = place.segment.quantities[1:]
    return sum(
        any(stands(one, label, place.unit) for label in labels)
        for one in segment.quantities
        if one is not said
    )


def _of_a_kind(said: Quantity, there: Quantity | None, other: Quantity) -> bool:
    """Tell whether two numbers of different sentences count the same kind of thing.

    The other may count what the statement says, where the number that stands there does not:
    "88 buses" of "88 trams … 301 buses".
    """
    if there is None or there.dimension or not there.noun:
        return True
    return other.noun in (there.noun, said.noun)
