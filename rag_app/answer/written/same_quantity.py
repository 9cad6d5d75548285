"""Whether a number that is said is one that stands there: equal, rounded, or the bound of it."""

from __future__ import annotations

from fractions import Fraction

from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.units import comparable

# A rounded number of one digit may be so far from the exact one.
MAX_ROUNDING_SHARE = Fraction(1, 10)
# "More than 400" is said of 412, not of 4,000.
MAX_BOUND_SHARE = Fraction(1, 4)


def same(said: Quantity, there: Quantity) -> bool:
    """Tell whether what is said is what stands there: equal, rounded, or the bound of it."""
    if not comparable(said.dimension, there.dimension) or _at_odds(said, there):
        return False
    pairs = [(one, other) for one in said.readings for other in there.readings]
    if any(one == other for one, other in pairs):
        return True
    return any(
        _rounds(said, one, other, there.step) or _bounds(said, one, other) for one, other in pairs
    )


def _at_odds(said: Quantity, there: Quantity) -> bool:
    """Tell whether two numbers differ in what stands around them: a month, a year; above, below."""
    if said.per and there.per and said.per != there.per:
        return True
    return {said.bound, there.bound} == {"least", "most"}


def near(said: Quantity, value: Fraction) -> bool:
    """Tell whether a computed value is what is said, at the precision it is said with."""
    return any(
        one == value or abs(one - value) <= said.step / 2 or _bounds(said, one, value)
        for one in said.readings
    ) and (said.digits > 1 or abs(said.value - value) <= MAX_ROUNDING_SHARE * abs(value))


def _rounds(said: Quantity, one: Fraction, other: Fraction, exactness: Fraction) -> bool:
    step = _step(said, one)
    if step <= exactness or (said.digits < 2 and not said.bound):
        return False
    off = abs(one - other)
    if said.bound and said.digits < 2:
        return off <= MAX_ROUNDING_SHARE * other
    return off <= step / 2


def _step(said: Quantity, value: Fraction) -> Fraction:
    """Return the step that a number is rounded to: "about 187,000" to thousands."""
    step = said.step
    while said.bound and value and value % (step * 10) == 0:
        step *= 10
    return step


def _bounds(said: Quantity, one: Fraction, other: Fraction) -> bool:
    slack = MAX_BOUND_SHARE * abs(other)
    if said.bound == "least":
        return one <= other <= one + slack
    if said.bound == "most":
        return one - slack <= other <= one
    return False
