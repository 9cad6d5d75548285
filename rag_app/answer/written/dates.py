"""Dates, years, weekdays of a text in one form, however they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MONTH_NAMES = (
    "january jan januar janvier enero", "february feb februar février febrero",
    "march mar märz mars marzo", "april apr avril abril", "may mai mayo", "june jun juni "
    "juin junio",
    "july jul juli juillet julio", "august aug août agosto",
    "september sept sep septembre septiembre", "october oct oktober octobre octubre",
    "november nov novembre noviembre", "december dec dezember décembre diciembre",
)  # fmt: skip
_MONTHS = {name: n for n, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
# Alone, without day or year, only a whole name that is no other word.
_BARE_MONTH = "January|February|April|June|July|August|September|October|November|December"
_WEEKDAY_NAMES = ("monday 月曜 montag lundi", "tuesday 火曜 dienstag mardi",
                  "wednesday 水曜 mittwoch mercredi", "thursday 木曜 donnerstag jeudi",
                  "friday 金曜 freitag vendredi", "saturday 土曜 samstag samedi",
                  "sunday 日曜 sonntag dimanche")  # fmt: skip
_WEEKDAYS = {name: n for n, names in enumerate(_WEEKDAY_NAMES) for name in names.split()}
_WEEKDAY = re.compile("|".join(_WEEKDAYS), re.IGNORECASE)
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867}
_D = r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?"
_Y = r"(?P<year>\d{4})"
_JA_DAY = r"(?P<month>\d{1,2})\s?月(?:\s?(?P<day>\d{1,2})\s?日(?!間)|期|末)?"
_PATTERNS = (
    re.compile(rf"(?<!\d){_Y}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?!\d)"),
    re.compile(rf"(?<![\d.])(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_Y}(?!\d)"),
    re.compile(rf"(?:{_Y}\s?年|(?P<era>{'|'.join(_ERAS)})\s?(?P<reign>\d{{1,2}}|元)\s?年)\s?{_JA_DAY}"),
    re.compile(rf"(?P<era>{'|'.join(_ERAS)})\s?(?P<reign>\d{{1,2}}|元)\s?年度?"),
    re.compile(rf"(?<!\d){_Y}\s?年度?"),
    re.compile(rf"(?<![\d年]){_JA_DAY}"),
    re.compile(
        rf"(?<!\d){_D}\s(?:of\s|de\s)?(?P<name>{_MONTH})\b\.?(?:,?\s(?:de\s)?{_Y}\b)?", re.I
    ),
    re.compile(rf"\b(?P<name>{_MONTH})\b\.?\s{_D}(?!\d)(?:\s?,)?\s{_Y}\b", re.I),
    re.compile(rf"\b(?P<name>{_MONTH})\b\.?,?\s(?:of\s)?{_Y}\b", re.I),
    re.compile(rf"\b(?P<name>{_BARE_MONTH}|March|May)\s{_D}(?![\d,.]*\d)\b"),
    re.compile(rf"\b(?:FY|fiscal\s(?:year\s)?|CY)\s?{_Y}\b", re.I),
    re.compile(r"\bFY\s?'?(?P<short>\d{2})\b"),
    re.compile(rf"(?<![\d.,$£€¥-]){_Y}[/–-](?P<next>\d{{2}})(?![\d%])"),
    re.compile(rf"\b(?P<name>{_BARE_MONTH})\b"),
    re.compile(rf"(?<![\d.,$£€¥/-])(?<![$£€¥]\s){_Y}(?![\d%]|[.,]\d)"),
)  # fmt: skip
_FIRST_YEAR, _LAST_YEAR = 1800, 2199
# A number of four digits that is no year: what it counts follows.
_COUNTED = re.compile(
    r"\s?(?:%|per\s?cent|people|passengers|million|billion|thousand|kg|km|mm|m\b|年間|人|名|円|件|個)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Date:
    """A date as far as it is said; ``None``: it is not.

    Attributes:
        start, end: span in the text it was found in.
        text: these characters.
        year, month, day: from 1.
        until: the second year of "2024/25".
    """

    start: int
    end: int
    text: str
    year: int | None = None
    month: int | None = None
    day: int | None = None
    until: int | None = None

    def says(self, other: Date) -> bool:
        """Tell whether this one holds all that another says: 3 March 2021 says March 2021."""
        # A date without its year may be one of it: what is said elsewhere tells.
        open_year = self.year is None and self.month is not None and other.month is not None
        if other.year not in (None, self.year, self.until) and not open_year:
            return False
        return (other.month is None or other.month == self.month) and (
            other.day is None or other.day == self.day
        )


def dates(text: str) -> list[Date]:
    """Return the dates of a prepared text in reading order, none within another."""
    found: list[Date] = []
    taken: set[int] = set()
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            date = _date(match)
            places = range(match.start(), match.end())
            if date is not None and taken.isdisjoint(places):
                taken.update(places)
                found.append(date)
    return sorted(found, key=lambda date: date.start)


def weekdays(text: str) -> Iterator[tuple[str, int]]:
    """Yield the weekdays that a text names: the word, and the day from 0, Monday."""
    for match in _WEEKDAY.finditer(text):
        yield match[0], _WEEKDAYS[match[0].casefold()]


def _date(match: re.Match[str]) -> Date | None:
    parts = match.groupdict()
    name = (parts.get("name") or "").casefold()
    month = _MONTHS.get(name) or _number(parts.get("month"))
    day = _number(parts.get("day"))
    year = _year(parts)
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    if year is not None and not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    if match[0].isdigit() and _COUNTED.match(match.string, match.end()):
        return None
    until = _number(parts.get("next"))
    if until is not None and year is not None:
        until += year // 100 * 100
        if until != year + 1:
            return None
    return Date(match.start(), match.end(), match[0].strip(), year, month, day, until)


def _year(parts: dict[str, str | None]) -> int | None:
    if era := parts.get("era"):
        reign = parts.get("reign")
        return _ERAS[era] + (1 if reign == "元" else int(reign or 1))
    if short := parts.get("short"):
        return 2000 + int(short)
    return _number(parts.get("year"))


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None
