"""Numbers and shares in words: forty-one, two and a half years, a quarter, 3割5分."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from rag_app.answer.written.clock_times import whole_match
from rag_app.answer.written.number_context import bound_around
from rag_app.answer.written.number_values import read_scale, read_unit, significant
from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.units import PERCENT

_SMALL_WORDS_TEXT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_SMALL_WORDS = _SMALL_WORDS_TEXT.split()
_TENS_WORDS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORD_VALUES = {
    **{word: n for n, word in enumerate(_SMALL_WORDS)},
    **{word: n * 10 for n, word in enumerate(_TENS_WORDS, start=2)},
}
_WORDS = "|".join(sorted(_WORD_VALUES, key=len, reverse=True))
_NUMBER_WORD = re.compile(
    rf"\b(?:a (?=hundred\b|dozen\b|thousand\b|million\b|billion\b)|(?:{_WORDS})\b)"
    rf"(?:[-\s](?:{_WORDS})\b){{0,2}}(?P<half> and a half\b)?",
    re.IGNORECASE,
)
_DOZEN = re.compile(r"\s?dozen\b", re.IGNORECASE)
_SHARE_WORDS: dict[str, int | Fraction] = {
    "half": 50, "a quarter": 25, "one quarter": 25, "a third": Fraction(100, 3),
    "one third": Fraction(100, 3), "two thirds": Fraction(200, 3), "three quarters": 75,
    "a fifth": 20, "one fifth": 20, "a tenth": 10, "one in ten": 10, "半分": 50, "半数": 50,
    "半額": 50,
}  # fmt: skip
_SHARE_WORD = re.compile(
    r"\b(?:half|a quarter|one quarter|a third|one third|two[- ]thirds|three[- ]quarters|a fifth|"
    r"one fifth|a tenth|one in ten)\b|半分|半数|半額",
    re.IGNORECASE,
)
_FRACTION = re.compile(r"(?<!\d)(\d{1,6})分の(\d{1,6})")
_WARI_BU = re.compile(r"(?<!\d)(\d{1,3})割(\d)分")


def shares(text: str) -> Iterator[Quantity]:
    """Yield shares of ten and fractions: 3割5分, 10分の1, a quarter."""
    for match in _WARI_BU.finditer(text):
        yield whole_match(match, PERCENT, (Fraction(int(match[1]) * 10 + int(match[2])),))
    for match in _FRACTION.finditer(text):
        if int(match[1]):
            yield whole_match(match, PERCENT, (Fraction(100 * int(match[2]), int(match[1])),))
    for match in _SHARE_WORD.finditer(text):
        value = Fraction(_SHARE_WORDS[match[0].casefold().replace("-", " ")])
        yield replace(whole_match(match, PERCENT, (value,)), spelled=True)


def spelled(text: str) -> Iterator[Quantity]:
    """Yield numbers in English words: "forty-one", "two and a half years", "a hundred"."""
    for match in _NUMBER_WORD.finditer(text):
        words = match[0].casefold().removesuffix(" and a half").replace("-", " ").split()
        values = [_WORD_VALUES[word] for word in words if word in _WORD_VALUES]
        total = Fraction(sum(values)) if values else Fraction(1)
        if match["half"]:
            total += Fraction(1, 2)
        end = match.end()
        if words[-1] == "a":
            end -= 1
        dozen = _DOZEN.match(text, end)
        scale, end = (12, dozen.end()) if dozen else read_scale(text, end, money=False)
        if not values and scale == 1:
            continue
        unit, end = read_unit(text, end)
        value = total * scale
        yield Quantity(
            match.start(), end, text[match.start() : end], unit.dimension,
            (value * unit.factor,), unit.factor * scale, significant(str(int(total))), value,
            scaled=unit.factor != 1, bound=bound_around(text, match.start(), end), spelled=True,
        )  # fmt: skip
