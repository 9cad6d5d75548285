"""The words of a page as lines of fragments: what stands together, and what stands apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import normalize

from pipelines.layout import Box, PageLayout, united

# Of the height of a line.
_MIN_APART = 0.6  # between words: a wider gap parts fragments
_MIN_BLANK = 0.2  # between Chinese or Japanese characters: a wider gap is a blank
_MIN_OVERLAP = 0.5  # of the lower of two words that stand in one line
_MAX_MARK = 0.85  # a note's mark is set in smaller type than its amount
_Placed = tuple[str, Box]
_LEADERS = ".．・…‥_ "
_MIN_LEADERS = 3
_VALUE = re.compile(
    r"[(\[]?[-+–—−△▲]?(?:(?:US|R|C|A)?[$€£¥\\])?[-+–—−(△▲]?\d(?:[\d,.]*\d)?[)\]]?"
    r"(?:%|x|pts|bps|bp|円)?[)\]]?(?:\*|†|‡)*"
)
_BLANK_VALUE = re.compile(
    r"(?:US|R|C|A)?[$€£¥\\]?[-–—−―ー]{1,3}%?|(?:N/?[AM]|n/?[am]|NMF?|nm)\.?|\*"
)
_CURRENCY = re.compile(r"(?:US|R|C|A)?[$€£¥\\][(-]?")
_DASH = re.compile(r"[-–—−]")
_BEFORE = re.compile(r"[(△▲]|[-–—−]\(?\$?")
_AFTER = re.compile(r"[)\]%]+|pts|bps|x")
_YEAR = re.compile(r"(?:FY)?(?:19|20)\d\d[AEF*]?")
_MARK = re.compile(r"\(\w{1,2}\)|\[\w{1,2}\]|[*†‡]+|\d{1,2}|[a-z](?:,[a-z])*")
_CJK = re.compile("[\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff9f]")


@dataclass(frozen=True, slots=True)
class Fragment:
    """Words of one line that stand together.

    Attributes:
        text: of them; an amount and its signs without blanks between.
        box: around them.
        core: around them without the sign of a currency that stands apart from its amount.
        is_value: whether it is an amount, or what stands for one ("—", "N/A").
    """

    text: str
    box: Box
    core: Box
    is_value: bool

    @property
    def is_year(self) -> bool:
        """Whether it names a year, so that it may be the head of a column."""
        return _YEAR.fullmatch(normalize("NFKC", self.text)) is not None


@dataclass(frozen=True, slots=True)
class LineOfFragments:
    """A line of a page, from left to right; never empty."""

    fragments: tuple[Fragment, ...]
    box: Box

    @property
    def values(self) -> tuple[Fragment, ...]:
        """The amounts of the line, years among them."""
        return tuple(one for one in self.fragments if one.is_value)

    @property
    def text(self) -> str:
        """The text of the line."""
        return " ".join(one.text for one in self.fragments)


def lines_of(text: str, layout: PageLayout) -> list[LineOfFragments]:
    """Return the lines of a page from top to bottom.

    Args:
        text: of the page.
        layout: where its words stand.
    """
    words = [(_cleaned(text[word.start : word.end]), word.box) for word in layout.words]
    return [
        LineOfFragments(fragments, united(one.box for one in fragments))
        for line in _gathered([(said, box) for said, box in words if said])
        if (fragments := tuple(_fragments(line)))
    ]


def _cleaned(word: str) -> str:
    """Return a text without the dots that lead from a label to its amounts."""
    kept = word.rstrip(_LEADERS)
    return kept if len(word) - len(kept) >= _MIN_LEADERS else word


def _gathered(words: Iterable[_Placed]) -> list[list[_Placed]]:
    """Return words by line; the tallest word of a line says where the line stands."""
    lines: list[list[_Placed]] = []
    bands: list[Box] = []
    for word in sorted(words, key=lambda word: (-_height(word[1]), word[1].top)):
        best = max(range(len(bands)), key=lambda at: _shared(bands[at], word[1]), default=None)
        if best is not None and _shared(bands[best], word[1]) >= _MIN_OVERLAP:
            lines[best].append(word)
        else:
            lines.append([word])
            bands.append(word[1])
    ordered = sorted(zip(bands, lines, strict=True), key=lambda pair: pair[0].top)
    return [sorted(line, key=lambda word: word[1].left) for _, line in ordered]


def _height(box: Box) -> float:
    return box.bottom - box.top


def _shared(first: Box, second: Box) -> float:
    """Return which part of the lower box stands beside the other."""
    lower = min(_height(first), _height(second))
    return (min(first.bottom, second.bottom) - max(first.top, second.top)) / max(lower, 0.1)


def _fragments(line: Sequence[_Placed]) -> Iterator[Fragment]:
    height = max(_height(box) for _, box in line)
    return _with_signs(_joined(_without_marks(line), height), height)


def _joined(line: Sequence[_Placed], height: float) -> list[_Placed]:
    """Return words of a line joined where they stand together."""
    parts: list[list[_Placed]] = [[line[0]]]
    for before, after in pairwise(line):
        gap = after[1].left - before[1].right
        amount = _is_value(_said(parts[-1]))
        next_one = amount and (_is_value(after[0]) or _CURRENCY.fullmatch(after[0]))
        if gap > _MIN_APART * height or (next_one and gap > _MIN_BLANK * height / 2):
            parts.append([after])
        else:
            parts[-1].append(after)
    return [(_said(part), united(box for _, box in part)) for part in parts if _said(part)]


def _said(words: Sequence[_Placed]) -> str:
    said = words[0][0]
    for (before, left), (after, right) in pairwise(words):
        close = right.left - left.right <= _MIN_BLANK * _height(left)
        tied = close and (_CJK.match(before[-1]) or _CJK.match(after[0]))
        said += after if tied else f" {after}"
    return _cleaned(said).strip()


def _without_marks(words: Sequence[_Placed]) -> list[_Placed]:
    """Return words without marks of notes that follow an amount in smaller type."""
    kept = [words[0]]
    for word in words[1:]:
        said, box = kept[-1]
        is_small = _height(word[1]) < _MAX_MARK * _height(box) and _MARK.fullmatch(word[0])
        follows = word[1].left - box.right < _height(box)
        if not (is_small and follows and _is_value(said)):
            kept.append(word)
    return kept


def _with_signs(parts: Sequence[_Placed], height: float) -> Iterator[Fragment]:
    """Yield fragments; a sign before or after an amount belongs to it, however far it stands."""
    at = 0
    while at < len(parts):
        said, box = parts[at]
        core = box
        if at + 2 < len(parts) and _is_range(parts[at], parts[at + 1], parts[at + 2], height):
            box = united(one for _, one in parts[at : at + 3])
            yield Fragment("".join(one for one, _ in parts[at : at + 3]), box, box, True)
            at += 3
            continue
        if at + 1 < len(parts) and _opens(parts[at], parts[at + 1], height):
            at += 1
            said, core = said + parts[at][0], parts[at][1]
            box = united((box, core))
        is_value = _is_value(said)
        while is_value and at + 1 < len(parts) and _closes(parts[at], parts[at + 1], height):
            at += 1
            said += parts[at][0]
            box, core = united((box, parts[at][1])), united((core, parts[at][1]))
        yield Fragment(said.replace(" ", "") if is_value else said, box, core, is_value)
        at += 1


def _is_range(first: _Placed, dash: _Placed, last: _Placed, height: float) -> bool:
    near = dash[1].left - first[1].right < height > last[1].left - dash[1].right
    return (
        near
        and _DASH.fullmatch(dash[0]) is not None
        and all(_VALUE.fullmatch(one) for one in (first[0], last[0]))
    )


def _opens(sign: _Placed, amount: _Placed, height: float) -> bool:
    near = amount[1].left - sign[1].right < height
    is_sign = _CURRENCY.fullmatch(sign[0]) or (near and _BEFORE.fullmatch(sign[0]))
    return bool(is_sign) and _is_value(amount[0])


def _closes(amount: _Placed, sign: _Placed, height: float) -> bool:
    near = sign[1].left - amount[1].right < 2 * height
    return near and _AFTER.fullmatch(sign[0]) is not None


def _is_value(said: str) -> bool:
    plain = normalize("NFKC", said).replace(" ", "")
    return bool(_VALUE.fullmatch(plain) or _BLANK_VALUE.fullmatch(plain))
