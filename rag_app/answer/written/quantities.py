"""Numbers with unit, scale and sign, in whatever form they are written.

"£50,900,000", "£50.9 million" and a cell "50,900" of a table in £ thousand are one
quantity; so are 「７時間４５分」 and "7.75 hours", 「３割」 and "30 per cent".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from rag_app.answer.written.clock_times import times
from rag_app.answer.written.number_context import bound_around, noun_after, period_around
from rag_app.answer.written.number_values import (
    UNIT,
    read_compound,
    read_digits,
    read_scale,
    read_unit,
    significant,
)
from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.spelled_numbers import shares, spelled
from rag_app.answer.written.units import CLOCK, MONEY, NO_UNIT, PREFIXES, SECONDS, unit_named

# 「1日7時間」 is seven hours in each day, no day and seven hours.
MAX_JOINED_SECONDS = 3600
_PREFIX = "|".join(re.escape(prefix) for prefix in sorted(PREFIXES, key=len, reverse=True))
_DIGITS = (
    r"\d{1,3}(?:,\d{3})++(?![,\d])(?:\.\d+)?"
    r"|\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})++(?!\d)(?:[.,]\d+)?"
    r"|\d{1,3}(?:\.\d{3})++(?![.\d])(?:,\d+)?"
    r"|\d++[.,]\d++(?![.,]\d)|\d++"
)
_SOLID_DIGITS = r"\d{1,3}(?:,\d{3})++(?![,\d])(?:\.\d+)?|\d++\.\d++(?!\.\d)|\d++"
_SIGN = r"(?P<sign>(?:(?<![\w.,)])[-−–]|[△▲]|\b(?:minus|マイナス)\s?)\s?)?"
_NUMBER = re.compile(
    rf"{_SIGN}(?P<open>\((?=[^()\n]{{0,24}}\)))?"
    rf"(?P<prefix>(?:{_PREFIX})\s?[-−]?)?(?<![\d.])(?P<digits>{_DIGITS})",
)
_ROW_NUMBER = re.compile(
    rf"{_SIGN}(?P<open>\((?=[^()\n]{{0,24}}\)))?"
    rf"(?P<prefix>(?:{_PREFIX})\s?[-−(]?)?(?<![\d.])(?P<digits>{_SOLID_DIGITS})",
)
_CLOSE = re.compile(r"\s?\)")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"\s?(?:to|and|or|-|–|~|±|から|、|・|/|,)\s?", re.IGNORECASE)
_JOINED_TIMES = re.compile(r"\s?(?:and\s)?", re.IGNORECASE)


def quantities(text: str, *, row: bool = False) -> list[Quantity]:
    """Return the quantities of a prepared text, in reading order, none within another.

    Args:
        text: as :func:`prepared` returns it; dates and identifiers blanked out.
        row: whether it is a row of a table: white space then parts numbers.
    """
    found = _disjoint([*times(text), *spelled(text), *shares(text), *_numerals(text, row=row)])
    return list(_joined_durations(text, found if row else _ranges(text, found)))


def _numerals(text: str, *, row: bool) -> Iterator[Quantity]:
    pattern = _ROW_NUMBER if row else _NUMBER
    at = 0
    while match := pattern.search(text, at):
        found = _numeral(text, match)
        at = max(match.end(), found.end if found else 0)
        if found is not None:
            yield found


def _disjoint(found: Iterable[Quantity]) -> list[Quantity]:
    """Return those that overlap no earlier one of the list, in reading order."""
    taken: set[int] = set()
    kept: list[Quantity] = []
    for one in found:
        places = range(one.start, one.end)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def _numeral(text: str, match: re.Match[str]) -> Quantity | None:
    """Return the quantity that begins with some digits, read on to scale and unit."""
    end = match.end()
    if _ORDINAL.match(text, end):
        return None
    prefix = match["prefix"] or ""
    unit = PREFIXES.get(prefix.strip(" -−("), NO_UNIT)
    compound = read_compound(text, match.start("digits"))
    if compound is not None:
        raw, scale, step, end = compound
        readings: tuple[Fraction, ...] = (raw * scale,)
        digits = significant(match["digits"])
    else:
        readings, step, digits = read_digits(match["digits"])
        raw = readings[0]
        scale, end = read_scale(text, end, money=unit.dimension in MONEY)
        step *= scale
        readings = tuple(value * scale for value in readings)
    if unit is NO_UNIT:
        unit, end = read_unit(text, end)
    elif after := UNIT.match(text, end):
        # "$24 cents": the sign and the word agree on money.
        named = unit_named(after[0].strip(" -("))
        end = after.end() if named is not None and named.dimension in MONEY else end
    negative = bool(match["sign"]) or prefix.rstrip().endswith(("-", "−"))
    closed = _CLOSE.match(text, end)
    bracketed = bool(match["open"]) or prefix.rstrip().endswith("(")
    if bracketed and closed is not None:
        # Brackets around a number alone are a sign; "(2024: £6.9 million)" are none.
        negative, end = True, closed.end()
    start = match.start()
    if match["open"] and closed is None:
        start = match.end("open")
    return Quantity(
        start, end, text[start:end].strip(), unit.dimension,
        tuple(value * unit.factor for value in readings), step * unit.factor, digits, raw,
        negative=negative, scaled=scale != 1 or unit.factor != 1,
        bound=bound_around(text, start, end), per=period_around(text, start, end),
        noun="" if unit.dimension else noun_after(text, end),
    )  # fmt: skip


def _ranges(text: str, found: Sequence[Quantity]) -> list[Quantity]:
    """Give the first number of "24 to 31 hours" the unit of the second."""
    made = list(found)
    for n in range(len(made) - 2, -1, -1):
        one, after = made[n], made[n + 1]
        if one.dimension or not after.dimension or after.dimension == CLOCK:
            continue
        if _BETWEEN.fullmatch(text, one.end, after.start) is None:
            continue
        factor = _factor(after)
        values = tuple(dict.fromkeys(value * factor for value in one.readings))
        made[n] = replace(one, dimension=after.dimension, readings=values, step=one.step * factor)
    return made


def _joined_durations(text: str, found: Sequence[Quantity]) -> Iterator[Quantity]:
    """Yield the quantities, the parts of "7 hours 45 minutes" as one."""
    held: Quantity | None = None
    for one in found:
        if held is not None and _goes_on(text, held, one):
            value = held.value + one.value
            held = replace(
                held, end=one.end, text=text[held.start : one.end], readings=(value,),
                step=one.step, digits=max(held.digits, 2), raw=value,
            )  # fmt: skip
            continue
        if held is not None:
            yield held
        held = one
    if held is not None:
        yield held


def _goes_on(text: str, held: Quantity, one: Quantity) -> bool:
    return (
        held.dimension == one.dimension == SECONDS
        and _factor(one) < _factor(held) <= MAX_JOINED_SECONDS
        and _JOINED_TIMES.fullmatch(text, held.end, one.start) is not None
    )


def _factor(one: Quantity) -> Fraction:
    """Return base units in the unit that a quantity is written in."""
    return one.value / one.raw if one.raw else Fraction(1)
