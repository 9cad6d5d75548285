"""Columns in the order in which a person reads them. Pure.

Some files draw two columns line by line across the page. PDF libraries then return "The
reservoir was built in The ferry runs from": two sentences in one line. Such lines are cut
at the gutter where both sides are prose. The gutters of a table are left as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

from pipelines.layout import Box, PageLayout, Word
from pipelines.page_text import assembled

MIN_SHARED_LINES = 5  # with words on both sides of a gutter
_MIN_GUTTER = 0.6  # of the height of a word
_MIN_SHARED_SHARE = 0.6  # of the lines that have words on both sides of it, or on it
_MIN_LETTERS_SHARE = 0.8  # of the visible characters of prose
_MIN_WORDS = 3  # of a line of prose, in the middle
_MIN_CONTINUED_SHARE = 0.3  # of lines of prose that begin within a sentence
_MIN_FULL = 0.6  # of the widest line of a column
_MIN_FULL_SHARE = 0.6  # of the lines of a column of prose that are so wide
_MAX_CUTS_DEEP = 3  # one within the side of another
_CJK = re.compile("[\u3041-\u30fa\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class _RowOfWords:
    """Words of one line in the order of the text, from left to right."""

    words: tuple[Word, ...]

    @property
    def span(self) -> tuple[int, int]:
        return self.words[0].start, self.words[-1].end

    @property
    def width(self) -> float:
        return self.words[-1].box.right - self.words[0].box.left


@dataclass(frozen=True, slots=True)
class _CutRow:
    """A line and what of it stands on each side of a gutter: nothing where words stand on it."""

    whole: _RowOfWords
    left: tuple[_RowOfWords, ...] = ()
    right: tuple[_RowOfWords, ...] = ()

    @property
    def is_across(self) -> bool:
        return not (self.left or self.right)

    @property
    def is_shared(self) -> bool:
        return bool(self.left and self.right)


def in_columns(text: str, layout: PageLayout) -> tuple[str, PageLayout]:
    """Return a page column by column where its lines run across columns of prose.

    Any other page is returned as it is.

    Args:
        text: of the page.
        layout: the words of the page, in the order of the text.
    """
    lines = _lines(text, layout.words)
    ordered = _ordered(text, lines, _MAX_CUTS_DEEP)
    if ordered is lines:
        return text, layout
    pieces: list[tuple[int, int] | str] = []
    for line in ordered:
        pieces += ("\n", line.span)
    return assembled(text, layout, pieces[1:])


def is_prose(lines: Sequence[str]) -> bool:
    """Tell whether lines are sentences that run on, not cells of a table."""
    visible = "".join("".join(lines).split())
    if sum(map(str.isalpha, visible)) < _MIN_LETTERS_SHARE * len(visible):
        return False
    sizes = [max(len(line.split()), len(_CJK.findall(line)) / 2) for line in lines]
    continued = sum(line[:1].islower() or bool(_CJK.match(line)) for line in lines)
    return median(sizes) >= _MIN_WORDS and continued >= _MIN_CONTINUED_SHARE * len(lines)


def _lines(text: str, words: Sequence[Word]) -> list[_RowOfWords]:
    """Return the lines of a text; one that steps back or down, in its parts."""
    starts = [word.start for word in words]
    lines: list[_RowOfWords] = []
    at = 0
    for line in text.split("\n"):
        end = at + len(line)
        part: list[Word] = []
        for word in words[bisect_left(starts, at) : bisect_left(starts, end)]:
            if part and not _follows(part[-1].box, word.box):
                lines += _line(part)
                part = []
            part.append(word)
        lines += _line(part)
        at = end + 1
    return lines


def _follows(before: Box, box: Box) -> bool:
    return box.left >= before.left and box.top < before.bottom and before.top < box.bottom


def _line(words: Sequence[Word]) -> tuple[_RowOfWords, ...]:
    return (_RowOfWords(tuple(words)),) if words else ()


def _ordered(text: str, lines: list[_RowOfWords], depth: int) -> list[_RowOfWords]:
    """Return lines, cut at a gutter between columns of prose and put in order."""
    gutter = _gutter(lines) if depth else None
    if gutter is None:
        return lines
    cut = [_cut(line, gutter) for line in lines]
    shared = [line for line in cut if line.is_shared]
    across = sum(line.is_across for line in cut)
    if len(shared) < max(MIN_SHARED_LINES, _MIN_SHARED_SHARE * (len(shared) + across)):
        return lines
    if not all(_has_columns(text, column, depth) for column in _columns(shared)):
        return lines
    ordered: list[_RowOfWords] = []
    for _, band in groupby(cut, key=lambda line: line.is_across):
        ordered += _in_order(text, list(band), depth)
    return ordered


def _in_order(text: str, band: list[_CutRow], depth: int) -> list[_RowOfWords]:
    """Return lines that stand together: the left column, then the right one."""
    if not any(line.is_shared for line in band):
        return [line.whole for line in band]
    return [line for column in _columns(band) for line in _ordered(text, column, depth - 1)]


def _columns(lines: Sequence[_CutRow]) -> tuple[list[_RowOfWords], list[_RowOfWords]]:
    return [one for line in lines for one in line.left], [
        one for line in lines for one in line.right
    ]


def _has_columns(text: str, lines: list[_RowOfWords], depth: int) -> bool:
    """Tell whether what stands on one side of a gutter is a column, or some of them."""
    return _is_column(text, lines) or _ordered(text, lines, depth - 1) is not lines


def _is_column(text: str, lines: Sequence[_RowOfWords]) -> bool:
    widest = max(line.width for line in lines)
    full = sum(line.width >= _MIN_FULL * widest for line in lines)
    return full >= _MIN_FULL_SHARE * len(lines) and is_prose(
        [text[slice(*line.span)] for line in lines]
    )


def is_wide(before: Box, after: Box) -> bool:
    """Tell whether the gap between two neighbours on a line may be one between columns."""
    return after.left - before.right >= _MIN_GUTTER * (after.bottom - after.top)


def most_shared(gaps: Iterable[tuple[float, float]]) -> tuple[int, float]:
    """Return how many gaps share one place, and the place from the left.

    Args:
        gaps: where they begin and end.
    """
    edges = [edge for left, right in gaps for edge in ((left, 1), (right, -1))]
    most, count, place = 0, 0, 0.0
    # Where one gap ends and another begins, the end counts first.
    for x, step in sorted(edges):
        count += step
        if count > most:
            most, place = count, x
    return most, place


def _gutter(lines: Iterable[_RowOfWords]) -> float | None:
    """Return the place, from the left, that most lines have a wide gap at."""
    most, place = most_shared(
        (before.box.right, after.box.left)
        for line in lines
        for before, after in pairwise(line.words)
        if is_wide(before.box, after.box)
    )
    return place if most else None


def _cut(line: _RowOfWords, gutter: float) -> _CutRow:
    at = sum(word.box.right <= gutter for word in line.words)
    left, right = line.words[:at], line.words[at:]
    on_it = any(word.box.right > gutter for word in left) or any(
        word.box.left < gutter for word in right
    )
    if on_it or (left and right and not is_wide(left[-1].box, right[0].box)):
        return _CutRow(line)
    return _CutRow(line, _line(left), _line(right))
