"""Whether a number follows by simple arithmetic from others that were found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from rag_app.answer.written.dates import Date
from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.same_quantity import near
from rag_app.answer.written.units import MONTHS, PERCENT, SECONDS

MAX_OPERANDS = 16
DAYS_IN_YEAR = 365.25
_SECONDS_IN_DAY = 86_400


def computed(said: Quantity, operands: Sequence[Quantity]) -> str | None:
    """Return how a number follows from others ("71% is 301 of 423"); ``None``: it does not.

    Tried are the difference, sum, share, change in per cent, product and quotient of two of
    them, and the sum of all that measure the same.
    """
    few = _distinct(operands)[:MAX_OPERANDS]
    for one, other in permutations(few, 2):
        for value, words in _results(said, one, other):
            if near(said, value):
                return f"{said.text} is {words}"
    same = [one for one in few if one.dimension == said.dimension]
    if len(same) > 2 and near(said, sum((one.value for one in same), Fraction(0))):
        return f"{said.text} is the sum of {', '.join(one.text for one in same)}"
    return None


def period(said: Quantity, between: Sequence[Date]) -> str | None:
    """Return between which two dates a duration lies; ``None``: between none."""
    if said.dimension not in (MONTHS, SECONDS):
        return None
    for one, other in combinations(between, 2):
        if one.year is None or other.year is None:
            continue
        months = (other.year - one.year) * 12 + (other.month or 1) - (one.month or 1)
        days = (other.day or 1) - (one.day or 1)
        length = abs(Fraction(months) + Fraction(days, 30))
        if said.dimension == SECONDS:
            length *= Fraction(round(DAYS_IN_YEAR * _SECONDS_IN_DAY), 12)
        if near(said, length):
            return f"{said.text} is from {one.text} to {other.text}"
    return None


def _results(said: Quantity, one: Quantity, other: Quantity) -> Iterator[tuple[Fraction, str]]:
    alike = one.dimension == other.dimension
    fits = said.dimension in (one.dimension, "") or not one.dimension
    if alike and fits and one.value > other.value:
        yield one.value - other.value, f"{one.text} less {other.text}"
    if alike and fits:
        yield one.value + other.value, f"{one.text} plus {other.text}"
        yield one.signed - other.signed, f"{one.text} less {other.text}"
    if said.dimension == PERCENT and alike and other.value:
        yield 100 * one.value / other.value, f"{one.text} of {other.text}"
        yield 100 * abs(one.value - other.value) / other.value, f"{other.text} to {one.text}"
    if said.dimension == "times" and alike and other.value:
        yield one.value / other.value, f"{one.text} by {other.text}"
    if said.dimension == one.dimension and not alike:
        yield one.value * other.raw, f"{one.text} times {other.text}"
        if other.raw:
            yield one.value / other.raw, f"{one.text} by {other.text}"
    if other.dimension == PERCENT and said.dimension == one.dimension:
        yield one.value * other.value / 100, f"{other.text} of {one.text}"


def _distinct(operands: Sequence[Quantity]) -> list[Quantity]:
    kept: dict[tuple[str, Fraction], Quantity] = {}
    for one in operands:
        kept.setdefault((one.dimension, one.signed), one)
    return list(kept.values())
