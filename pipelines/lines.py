"""What each line of a text is: blank, heading, table row, list item or prose.

Readers give lines, not structure. The rules are general ones, about the line
and its neighbours: length against the lines around it, how it begins and ends,
how many of its words are numbers.
"""

from __future__ import annotations

import re
import unicodedata
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
    """One line without the white space around it; ``width`` in half-width columns."""

    start: int
    end: int
    kind: Kind
    width: int


_NUMERIC = re.compile(
    r"[-($€£¥+▲△~<>−–]*\d[\d.,:/]*[%)]*(?<![,:])|[-–—]+|N/?A|n\.m\.", re.IGNORECASE
)
_SYMBOL = re.compile(r"[$€£¥%()*†]+")
_ITEM = re.compile(
    r"[•‣▪●○◦■□◆◇▶►➢✓✔·・※＊*–—-]\s+\S|[•‣▪●○◦■□◆◇▶►➢✓✔・]\S"
    r"|\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})\)\s*\S|\d{1,2}\.\s+\S|[①-⑳]|（[\d０-９一二三四五六七八九十ア-ン]{1,2}）"
)
_NUMBERED = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-Z]\.)\s+[^\W\d_]"
    r"|(?:chapter|section|part|item|note|appendix|article|annex|table|figure)\s+[\dA-Z]"
    r"|第\s*[\d０-９一二三四五六七八九十百]+\s*[章節条編部款項]|【.+】|[■◆●▼]",
    re.IGNORECASE,
)
_TERMINAL = re.compile(r"[.!?…。！？｡．:;：；][\"'”’)\]»」』）】〉》]*$")
_OPEN_END = re.compile(
    r"(?:[,、，(（「\-–&/]|\b(?:a|an|and|are|as|at|be|been|but|by|can|for|from|had|has|have|if|in|into|"
    r"is|its|may|nor|not|of|on|or|our|so|than|that|the|their|these|this|those|to|was|we|were|which|"
    r"who|will|with|would|approximately|about))$",
    re.IGNORECASE,
)
_OPEN_END_CJK = re.compile(r"[はがをにのとでもへやかしてっ]$")
_SMALL = frozenset(
    ["and", "the", "for", "with", "from", "into", "over", "under", "upon", "per", "via", "nor", "but", "of", "in", "on", "at", "to", "a", "an", "by", "or", "as"]
)
_WIDE_BLOCK = 40


def columns(text: str) -> int:
    """Return the width of a text in half-width columns: a full-width character counts two."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def classify(text: str) -> list[Line]:
    """Return the lines of a text in order, each with its kind."""
    spans = _spans(text)
    words = [text[start:end] for start, end in spans]
    widths = [columns(word) for word in words]
    typical = _typical(widths)
    kinds: list[Kind] = []
    for i, line in enumerate(words):
        previous = words[i - 1] if i else ""
        before = kinds[-1] if kinds else Kind.BLANK
        following = words[i + 1] if i + 1 < len(words) else ""
        runs_on = _runs_on(previous, before, widths[i - 1] if i else 0, typical[i])
        kinds.append(_kind(line, following, before, widths[i], typical[i], runs_on))
    return [
        Line(start, end, kind, width)
        for (start, end), kind, width in zip(spans, kinds, widths, strict=True)
    ]


def _spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at = 0
    for line in text.split("\n"):
        stripped = line.strip()
        start = at + (len(line) - len(line.lstrip()) if stripped else 0)
        spans.append((start, start + len(stripped)))
        at += len(line) + 1
    return spans


def _typical(widths: list[int]) -> list[int]:
    """Return for each line how wide the full lines around it are."""
    typical: list[int] = []
    for first in range(0, len(widths), _WIDE_BLOCK):
        around = sorted(w for w in widths[max(0, first - 20) : first + _WIDE_BLOCK + 20] if w)
        wide = around[int(len(around) * 0.9)] if around else 0
        typical.extend([wide] * len(widths[first : first + _WIDE_BLOCK]))
    return typical


def _runs_on(previous: str, kind: Kind, width: int, typical: int) -> bool:
    """Tell whether the line before leaves its sentence open."""
    if kind not in (Kind.PROSE, Kind.ITEM) or _TERMINAL.search(previous):
        return False
    return ends_open(previous) or width >= 0.75 * typical


def ends_open(line: str) -> bool:
    """Tell whether a line ends in a word or mark that no sentence ends with."""
    return bool(_OPEN_END.search(line) or _OPEN_END_CJK.search(line))


def ends_sentence(line: str) -> bool:
    """Tell whether a line ends in a mark that ends a sentence, or in a colon."""
    return bool(_TERMINAL.search(line))


def _kind(line: str, following: str, before: Kind, width: int, typical: int, runs_on: bool) -> Kind:
    if not line:
        return Kind.BLANK
    if _is_row(line, before, runs_on):
        return Kind.ROW
    if _is_heading(line, following, before, width, typical, runs_on):
        return Kind.HEADING
    if _ITEM.match(line) and not (runs_on and line[0] in "-–—*("):
        return Kind.ITEM
    return Kind.PROSE


def _is_row(line: str, before: Kind, runs_on: bool) -> bool:
    tokens = [token for token in line.split() if not _SYMBOL.fullmatch(token)]
    numbers = [bool(_NUMERIC.fullmatch(token)) for token in tokens]
    count = sum(numbers)
    if not count or (runs_on and (line[:1].islower() or _TERMINAL.search(line))):
        return False
    if count == len(tokens):
        return not runs_on
    share = count / len(tokens)
    if count >= 2 and (share >= 0.4 or (numbers[-1] and numbers[-2] and share >= 0.2)):
        return not (runs_on and share < 0.6)
    return before is Kind.ROW and numbers[-1] and share >= 0.2 and not _TERMINAL.search(line)


def _is_heading(
    line: str, following: str, before: Kind, width: int, typical: int, runs_on: bool
) -> bool:
    if runs_on or not following or width > max(0.8 * typical, 40) or _TERMINAL.search(line):
        return False
    if ends_open(line) or following[:1].islower() or not _starts_like_heading(line):
        return False
    if _NUMBERED.match(line):
        return True
    words = line.split()
    if len(words) > 14:
        return False
    letters = [w for w in words if w[:1].isalpha() and w.lower() not in _SMALL]
    if not letters or len(line) < 3:
        return False
    capital = sum(not w[0].islower() for w in letters) / len(letters)
    return capital >= 0.75 or (width <= 0.5 * typical and len(words) <= 8)


def _starts_like_heading(line: str) -> bool:
    first = line[0]
    return first in "“\"‘'【「『■◆●▼§(（第" or (first.isalnum() and not first.islower())
