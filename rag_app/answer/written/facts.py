"""Numbers and dates of a text in one form, so that they can be compared.

"1,234.50", "１２３４．５" and "1234.5" are one number; "3 March 2021",
"March 3, 2021", "2021-03-03" and 「2021年3月3日」 are one date.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_WORDS = {word: str(n) for n, word in enumerate((*_SMALL, "ten", "eleven", "twelve"))}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_DATES = [
    re.compile(pattern)
    for pattern in (
        rf"\b{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})\b",
        rf"{_YEAR}\s*年\s*(?P<month>\d{{1,2}})\s*月(?:\s*(?P<day>\d{{1,2}})\s*日)?",
        rf"\b{_DAY}\s+(?:of\s+)?(?P<name>{_MONTH})\b\.?,?\s+{_YEAR}\b",
        rf"\b(?P<name>{_MONTH})\b\.?\s+{_DAY}(?:\s*+,)?\s++{_YEAR}\b",
        rf"\b(?P<name>{_MONTH})\b\.?,?\s+{_YEAR}\b",
    )
]
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b")


def numbers_and_dates(text: str) -> list[str]:
    """Return the numbers and dates of a text, each once, in reading order.

    Dates as ``2021-03-03`` or ``2021-03``; numbers without separators and
    trailing zeros. Digits of a date are not numbers beside it.
    """
    rest = _plain(text)
    found: list[tuple[int, str]] = []
    for pattern in _DATES:
        for match in pattern.finditer(rest):
            if (date := _date(match)) is not None:
                found.append((match.start(), date))
                blank = " " * (match.end() - match.start())
                rest = rest[: match.start()] + blank + rest[match.end() :]
    found += [(match.start(), _canonical(match.group())) for match in _NUMBER.finditer(rest)]
    return list(dict.fromkeys(fact for _, fact in sorted(found)))


def missing(facts: Iterable[str], text: str) -> list[str]:
    """Return those numbers and dates that do not occur in a text.

    A date of month and year occurs in a full date; a year in a date of that
    year; a small number also in words ("three").
    """
    there = _all_facts(text)
    return [fact for fact in facts if fact not in there]


def _all_facts(text: str) -> set[str]:
    plain = _plain(text)
    facts = {_canonical(number) for number in _NUMBER.findall(plain)}
    facts |= {_WORDS[word] for word in _WORD.findall(plain)}
    for date in (fact for fact in numbers_and_dates(text) if "-" in fact):
        facts |= {date, date[:7]}
    return facts


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _date(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    month = _MONTHS.get(parts.get("name") or "") or int(parts.get("month") or 0)
    day = int(parts.get("day") or 0)
    if not 1 <= month <= 12 or day > 31:
        return None
    return f"{parts['year']}-{month:02}" + (f"-{day:02}" if day else "")


def _canonical(number: str) -> str:
    plain = number.replace(",", "")
    whole, _, fraction = plain.partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")
