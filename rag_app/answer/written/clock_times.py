"""Times of day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.units import CLOCK

_TIME = re.compile(
    r"(?P<half>午前|午後|正午)?(?P<hour>\d{1,2})時(?!間)(?:(?P<minute>\d{1,2})分|(?P<thirty>半))?"
    r"|\b(?P<hour2>\d{1,2})(?:[.:](?P<minute2>\d{2}))?\s?(?P<half2>[ap])\.?\s?m\b\.?"
    r"|\b(?P<hour3>[01]?\d|2[0-3]):(?P<minute3>[0-5]\d)\b|(?P<noon>正午|\bnoon\b)",
    re.IGNORECASE,
)


def times(text: str) -> Iterator[Quantity]:
    """Yield times of day, in minutes after midnight."""
    for match in _TIME.finditer(text):
        half = (match["half"] or match["half2"] or "").casefold()
        hour = 12 if match["noon"] else int(match["hour"] or match["hour2"] or match["hour3"])
        minute = 30 if match["thirty"] else int(
            match["minute"] or match["minute2"] or match["minute3"] or 0
        )  # fmt: skip
        if hour > 24 or minute > 59:
            continue
        minutes = hour % 24 * 60 + minute
        if half in ("午後", "p") and hour < 12:
            minutes += 720
        elif half in ("午前", "a") and hour == 12:
            minutes -= 720
        open_half = not half and not match["noon"] and not match["hour3"] and 0 < hour < 12
        readings = (minutes, minutes + 720) if open_half else (minutes,)
        yield whole_match(match, CLOCK, tuple(map(Fraction, readings)))


def whole_match(match: re.Match[str], dimension: str, values: tuple[Fraction, ...]) -> Quantity:
    """Return a match as a quantity with these readings, exact to its last digit."""
    start, end = match.span()
    return Quantity(
        start, end, match[0].strip(), dimension, values, Fraction(0), 3, values[0], scaled=True
    )
