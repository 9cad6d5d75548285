"""What each line of a text is: blank, heading, table row, list item or prose.

PDF readers return lines, not structure. The rules are general ones, about a line
and its neighbours: its length against theirs, how it begins and ends, how many of
its words are numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What a line is."""

    BLANK = "blank"
    HEADING = "heading"
    ROW = "row"
    ITEM = "item"
    PROSE = "prose"


class Line(NamedTuple):
    """One line without the white space around it; ``full``: as wide as the lines around it."""

    start: int
    end: int
    kind: Kind
    full: bool


class _Surroundings(NamedTuple):
    """What surrounds a line: the kind of the line before, the next visible line, the widths."""

    before: Kind
    runs_on: bool
    following: str
    apart: bool
    width: int
    typical: int


_QUANTITY = r"[-($€£¥+▲△~<>−–]*\d[\d.,:/]*[%)]*(?<![,:])"
_NUMERIC = re.compile(rf"{_QUANTITY}|[-–—]+|N/?A|N/?M|n\.m\.", re.IGNORECASE)
# A number that measures something: with a thousands comma, a decimal, a unit or a bracket.
_LABELLED_AMOUNT = re.compile(
    r"(?:\S+\s+){1,10}?(?:[$€£¥(▲△-]+\s?\d[\d.,]*[%)]*|\d[\d.,]*[,.]\d+\s?%?\)?|\d+\s?%)$"
)
_SYMBOL = re.compile(r"[$€£¥%()*†]+")
_KANA_OR_HAN = "[\u3041-\u30fa\u3400-\u9fff]"
_BULLET = "•‣▪●○◦■□◆◇▶►➢✓✔・"
_ITEM = re.compile(
    rf"[{_BULLET}]\s*\S|[-·※＊*–—]\s+\S|\(?(?:[a-z]|[ivx]{{1,4}}|\d{{1,2}})\)\s*\S"
    r"|\d{1,2}\.\s+\S|[①-⑳]|[(（][\d０-９一二三四五六七八九十ア-ン]{1,2}[)）]"
    rf"|[\d０-９]{{1,2}}[．.、]\s*{_KANA_OR_HAN}|[０-９]{{1,2}}\s+{_KANA_OR_HAN}"
)
# What looks like an item and may also be the middle of a sentence.
_MAY_CONTINUE = re.compile(r"[-–—*(]|[０-９]+\s")
# Rows of a table of contents, and rows that begin with a count.
_LEADERS = re.compile(r"(?:\.\s?){5,}|[…‥・]{2,}|(?:・\s?){4,}")
_COUNTED = re.compile(r"\d{1,4}\s+\S")
_NUMBERED = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-Z]\.)\s+[^\W\d_]"
    r"|(?:chapter|section|part|item|note|appendix|article|annex|table|figure)\s+[\dA-Z]"
    rf"|[\d０-９]{{1,2}}(?:[．.][\d０-９]{{1,2}}){{0,3}}(?:[．.、]\s*|\s+){_KANA_OR_HAN}"
    r"|第\s*[\d０-９一二三四五六七八九十百]+\s*[章節条編部款項]|【.+】",
    re.IGNORECASE,
)
_TERMINAL = re.compile(r"[.!?…。！？｡．:;：；][\"'”’)\]»」』）】〉》]*$")
_TWO_SENTENCES = re.compile(r"[^\W\d]{2}[.!?] +[^\W\d_]|\d{2}[.!?] +[A-Z]|。.")
_OPEN_END = re.compile(
    r"(?:[,、，(（「\-–&/]|\b(?:a|an|and|are|as|at|be|been|but|by|can|for|from|had|has|have|if|in|into|"
    r"is|its|may|nor|not|of|on|or|our|so|than|that|the|their|these|this|those|to|was|we|were|which|"
    r"who|will|with|would|approximately|about))$",
    re.IGNORECASE,
)
_OPEN_END_CJK = re.compile(r"(?<!はじめ)(?<!おわり)(?<!終わり)[はがをにのともへやかしてっ]$")
_NOUN_END = re.compile(
    r"(?:[^\u3041-\u309f]|はじめに|おわりに|終わりに|まとめ|あらまし|について|とは)$"
)
_SMALL_WORDS = (
    "and the for with from into over under upon per via nor but of in on at to a an by or as"
)
_SMALL = frozenset(_SMALL_WORDS.split())
# All full-width characters are among these; quotation marks, dashes and accents are not.
_MAYBE_WIDE = re.compile("[\u1100-\u115f\u231a-\u27bf\u2b1b-\u2b55\u2e80-\U0010ffff]")
_REGION_LINES = 40
# A line of at least this share of the width around it was wrapped; a shorter one ends by choice.
_MIN_FULL_SHARE = 0.75
_MAX_CELL_COLUMNS = 4
# How much of a line's end is looked at.
_TAIL_CHARS = 24


def classify(text: str) -> list[Line]:
    """Return the lines of a text in order, each with its kind."""
    spans = _spans(text)
    words = [text[start:end] for start, end in spans]
    widths = [columns(word) for word in words]
    typical = _typical(widths)
    following = _following(words)
    kinds: list[Kind] = []
    for i, line in enumerate(words):
        before = kinds[-1] if kinds else Kind.BLANK
        runs_on = i > 0 and _runs_on(words[i - 1], before, widths[i - 1], typical[i])
        apart = before is Kind.BLANK and (i + 1 == len(words) or not words[i + 1])
        around = _Surroundings(before, runs_on, following[i], apart, widths[i], typical[i])
        kinds.append(_kind(line, around))
    return [
        Line(start, end, kind, width >= _MIN_FULL_SHARE * wide)
        for (start, end), kind, width, wide in zip(spans, kinds, widths, typical, strict=True)
    ]


def columns(text: str) -> int:
    """Return the width of a text in half-width columns: a full-width character is two."""
    if text.isascii() or not _MAYBE_WIDE.search(text):
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def ends_open(line: str) -> bool:
    """Tell whether a line ends in a word or mark that no sentence ends with."""
    tail = line[-_TAIL_CHARS:]
    return bool(_OPEN_END.search(tail) or _OPEN_END_CJK.search(tail))


def ends_sentence(line: str) -> bool:
    """Tell whether a line ends in a mark that ends a sentence, in a colon or a semicolon."""
    return bool(_TERMINAL.search(line[-_TAIL_CHARS:]))


def _spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at = 0
    for line in text.split("\n"):
        stripped = line.strip()
        start = at + (len(line) - len(line.lstrip()) if stripped else 0)
        spans.append((start, start + len(stripped)))
        at += len(line) + 1
    return spans


def _typical(widths: Sequence[int]) -> list[int]:
    """Return for each line how wide the full lines around it are."""
    typical: list[int] = []
    for first in range(0, len(widths), _REGION_LINES):
        around = sorted(w for w in widths[max(0, first - 20) : first + _REGION_LINES + 20] if w)
        wide = around[int(len(around) * 0.9)] if around else 0
        typical.extend([wide] * len(widths[first : first + _REGION_LINES]))
    return typical


def _following(words: Sequence[str]) -> list[str]:
    """Return for each line the next one that is not blank."""
    following: list[str] = []
    after = ""
    for line in reversed(words):
        following.append(after)
        after = line or after
    return following[::-1]


def _runs_on(previous: str, kind: Kind, width: int, typical: int) -> bool:
    """Tell whether the line before leaves its sentence open."""
    if kind not in (Kind.PROSE, Kind.ITEM) or ends_sentence(previous):
        return False
    return ends_open(previous) or width >= _MIN_FULL_SHARE * typical


def _kind(line: str, around: _Surroundings) -> Kind:
    if not line:
        return Kind.BLANK
    if _is_row(line, around):
        return Kind.ROW
    if _is_heading(line, around):
        return Kind.HEADING
    if _ITEM.match(line) and not (around.runs_on and _MAY_CONTINUE.match(line)):
        return Kind.ITEM
    if around.width <= _MAX_CELL_COLUMNS and not around.runs_on and not ends_sentence(line):
        return Kind.ROW
    return Kind.PROSE


def _is_row(line: str, around: _Surroundings) -> bool:
    """Tell whether a line is a row of a table, or a cell that stands alone."""
    if _LEADERS.search(line) or (_COUNTED.match(line) and _COUNTED.match(around.following)):
        return not around.runs_on
    tokens = [token for token in line.split() if not _SYMBOL.fullmatch(token)]
    numbers = [_NUMERIC.fullmatch(token) is not None for token in tokens]
    count = sum(numbers)
    if not count:
        return False
    if around.runs_on and (line[0].islower() or ends_sentence(line)):
        return False
    if count == len(tokens):
        return not around.runs_on
    share = count / len(tokens)
    if count >= 2 and (share >= 0.4 or (numbers[-1] and numbers[-2] and share >= 0.2)):
        return not (around.runs_on and share < 0.6)
    if not numbers[-1] or around.runs_on or ends_sentence(line):
        return False
    if around.following[:1].islower():
        return False
    return (around.before is Kind.ROW and share >= 0.2) or bool(_LABELLED_AMOUNT.match(line))


def _is_heading(line: str, around: _Surroundings) -> bool:
    titled = line.isupper() and line[-1] in ":："
    if around.runs_on or not around.following or len(line) < 2:
        return False
    if ends_sentence(line) and not titled:
        return False
    if ends_open(line) or around.following[0].islower() or not _starts_like_heading(line):
        return False
    words = line.split()
    names = [w for w in words if w[0].isalpha() and w.lower() not in _SMALL]
    if len(words) > 20 or not names or (len(words) > 8 and _TWO_SENTENCES.search(line)):
        return False
    capitals = sum(not w[0].islower() for w in names) / len(names)
    if around.width > max(0.8 * around.typical, 40):
        # Only a title fills its line with nothing but capitalised words.
        return capitals == 1 and len(names) >= 5 and "," not in line
    if _NUMBERED.match(line):
        return True
    if not _NOUN_END.search(line):
        return around.apart
    return capitals >= 0.75 or (around.width <= 0.5 * around.typical and len(words) <= 8)


def _starts_like_heading(line: str) -> bool:
    first = line[0]
    return first in "“\"‘'【「『§(（" or (first.isalnum() and not first.islower())
