"""Digits, words of scale and units → values."""

from __future__ import annotations

import re
from fractions import Fraction

from rag_app.answer.written.units import (
    NO_UNIT,
    SCALES,
    SHORT_SCALES,
    UNITS,
    MeasureUnit,
    alternatives,
    unit_named,
)

_SCALE = re.compile(rf"[\s-]?(?:{alternatives(SCALES)})\.?", re.IGNORECASE)
_SHORT_SCALE = re.compile(r"\s?(?:k|mn|mm|m|bn|b|tn)\b(?![/²³])", re.IGNORECASE)
_KILO = re.compile(r"k\b", re.IGNORECASE)
UNIT = re.compile(
    rf"[\s-]?\(?(?:(?i:{alternatives(n for n in UNITS if len(n) > 2)})"
    rf"|(?:{alternatives(n for n in UNITS if len(n) <= 2)}))"
)
_JA_PART = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s?([十百千]?[万億兆]|[百千])\s?")
_LAST_PART = re.compile(r"\d[\d,]*")


def read_digits(digits: str) -> tuple[tuple[Fraction, ...], Fraction, int]:
    """Return the values that digits may have, the step of the last one, how many count."""
    plain = readings_of(digits)
    values = tuple(dict.fromkeys(Fraction(one) for one in plain))
    fraction = plain[0].partition(".")[2]
    return values, Fraction(1, 10 ** len(fraction)), significant(plain[0])


def readings_of(digits: str) -> list[str]:
    """Return a numeral with a decimal point and nothing else: the readings it may have."""
    for space in " \u00a0\u2009\u202f'’":
        digits = digits.replace(space, "")
    commas, dots = digits.count(","), digits.count(".")
    if commas and dots:
        decimal = max(",.", key=digits.rfind)
        other = "," if decimal == "." else "."
        return [digits.replace(other, "").replace(decimal, ".")]
    mark = "," if commas else "."
    if not commas + dots:
        return [digits]
    grouped = digits.replace(mark, "")
    whole, _, last = digits.partition(mark)
    if commas + dots > 1:
        return [grouped]
    thousands = len(last) == 3 and 0 < len(whole) <= 3 and whole != "0"
    point = f"{whole}.{last}"
    if mark == ",":
        return [grouped] if thousands else [point]
    return [point, grouped] if thousands else [point]


def significant(digits: str) -> int:
    """Return how many digits count, without zeros at either end; at least 1."""
    plain = digits.replace(",", "").replace(".", "").strip("0")
    return max(len(plain), 1)


def read_compound(text: str, start: int) -> tuple[Fraction, int, Fraction, int] | None:
    """Return the value of 「385億4,200万」 as (value, 1, step, end); ``None``: it is no such."""
    value, step, at = Fraction(0), Fraction(1), start
    while part := _JA_PART.match(text, at):
        scale = SCALES["千" if part[2] == "千" else part[2]] if part[2] in SCALES else 100
        number = part[1].replace(",", "")
        value += Fraction(number) * scale
        step = Fraction(scale, 10 ** len(number.partition(".")[2]))
        at = part.end()
    if at == start:
        return None
    end = at
    if (last := _LAST_PART.match(text, at)) is not None and at == len(text[:at].rstrip()):
        value += Fraction(last[0].replace(",", "").rstrip(",") or "0")
        step, end = Fraction(1), last.end()
    return value, 1, step, len(text[:end].rstrip()) if end == at else end


def read_scale(text: str, end: int, *, money: bool) -> tuple[int, int]:
    """Return the factor of the words of scale that begin at ``end``, and where they end.

    Args:
        text: prepared.
        end: where the digits end.
        money: whether "m" and "b" mean million and billion.
    """
    scale = 1
    for _ in range(2):
        match = _SCALE.match(text, end)
        if match is None:
            break
        scale *= SCALES[match[0].strip(" -.\n\u00a0").casefold()]
        end = match.end() - (1 if match[0].endswith(".") else 0)
    if scale == 1:
        match = _SHORT_SCALE.match(text, end) if money else _KILO.match(text, end)
        if match is not None:
            return SHORT_SCALES[match[0].strip().casefold()], match.end()
    return scale, end


def read_unit(text: str, end: int) -> tuple[MeasureUnit, int]:
    """Return the unit that stands behind a number, and where it ends."""
    match = UNIT.match(text, end)
    named = unit_named(match[0].strip(" -(\n\u00a0")) if match is not None else None
    if match is None or named is None:
        return NO_UNIT, end
    return named, match.end()
