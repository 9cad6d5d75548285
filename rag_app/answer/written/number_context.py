"""What stands around a number: "at least", "a year", the word that follows it."""

from __future__ import annotations

import re

_ABOUT = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|some|circa|close to|rund|etwa"
    r"|environ|"
    r"well over|just over|just under)|約|およそ|ほぼ|大体|~)\s?(?:a\s|the\s)?$",
    re.IGNORECASE,
)
_ABOUT_AFTER = re.compile(r"\s?(?:余り|あまり|ほど|程度|前後|近く|弱|強|or so\b)")
_AT_LEAST = re.compile(
    r"(?:\b(?:more than|over|at least|above|exceeding|exceeds?|upwards of|mehr als|über"
    r"|plus de))\s$",
    re.IGNORECASE,
)
_AT_LEAST_AFTER = re.compile(r"\S{0,3}(?:以上|超|を超え|を上回)")
_AT_MOST = re.compile(
    r"(?:\b(?:less than|fewer than|under|below|at most|up to|no more than|not more than"
    r"|weniger als|"
    r"moins de|within))\s$",
    re.IGNORECASE,
)
_AT_MOST_AFTER = re.compile(r"\S{0,3}(?:以下|未満|以内|まで|を下回)")
_PER = re.compile(
    r"\s?(?:(?:a|an|per|each|every|/|pro|je|par)\s?(year|month|week|day|hour|minute|quarter|share|acre"
    r"|tonne|head|night|Jahr|Monat|Tag|Aktie)\b|(annually|yearly|monthly|weekly|daily|hourly)\b)",
    re.IGNORECASE,
)
_PERIODS = {
    "annually": "year", "yearly": "year", "monthly": "month", "weekly": "week", "daily": "day",
    "hourly": "hour", "jahr": "year", "monat": "month", "tag": "day", "aktie": "share",
    "年": "year", "月": "month", "週": "week", "日": "day",
}  # fmt: skip
_JA_PER = re.compile(r"(?<![\d第])(?:1|毎)?([年月週日])(?:額|間)?(?:につき|に)?約?$")
_NEXT_WORD = re.compile(r"[\s-]([^\W\d_]{2,40})")
_REACH_CHARACTERS = 24


def period_around(text: str, start: int, end: int) -> str:
    """Return what a number is counted by: ``year`` of "£310,000 a year"; ``""``: unsaid."""
    after = _PER.match(text, end)
    if after is not None:
        word = str(next(filter(None, after.groups()))).casefold()
        return _PERIODS.get(word, word)
    before = _JA_PER.search(text[max(0, start - _REACH_CHARACTERS) : start])
    return _PERIODS[before[1]] if before is not None else ""


def noun_after(text: str, end: int) -> str:
    """Return the word that follows a number, in the singular; ``""``: none."""
    word = _NEXT_WORD.match(text, end)
    return word[1].casefold().rstrip("s") if word is not None else ""


def bound_around(text: str, start: int, end: int) -> str:
    """Return ``least``, ``most``, ``about`` or ``""``, as the words around a number say."""
    before, after = (
        text[max(0, start - _REACH_CHARACTERS) : start],
        text[end : end + _REACH_CHARACTERS],
    )
    if _AT_LEAST.search(before) or _AT_LEAST_AFTER.match(after):
        return "least"
    if _AT_MOST.search(before) or _AT_MOST_AFTER.match(after):
        return "most"
    return "about" if _ABOUT.search(before) or _ABOUT_AFTER.match(after) else ""
