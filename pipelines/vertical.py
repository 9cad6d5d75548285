"""Text that is set in columns from top to bottom, as in Japanese books and gazettes.

PDF libraries read it as one line for each character, or the columns from left
to right. Heads and page numbers that run across stand above and below the columns; small
characters beside them (ruby) say how a word is read, and follow the text, so that it is whole.
Pure geometry: characters and the middles and sizes of their boxes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

MIN_LINE_GLYPHS = 4  # that stand side by side are a line; fewer, as of a year, are in a column
_MIN_LINE_WIDTH = 1.6  # heights of its characters; some digits in one place of a column have less
_MIN_SPACE = 0.25  # of the height of a line, between two of its characters
_MAX_RUBY = 0.65  # of the usual height
_MAX_RUBY_DISTANCE = 1.2  # usual heights from the column that it explains


class Glyph(NamedTuple):
    """A character with the middle and the size of its box, in points; y grows upwards."""

    character: str
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0


def is_vertical(glyphs: Sequence[Glyph]) -> bool:
    """Tell whether most characters stand below the one before."""
    steps = [
        abs(b.x - a.x) < 0.5 * (a.y - b.y)
        for a, b in pairwise(glyphs)
        if not (a.character.isspace() or b.character.isspace())
    ]
    return len(steps) >= 3 and sum(steps) > 0.6 * len(steps)


def vertical_text(glyphs: Sequence[Glyph]) -> str:
    """Return the columns as lines, from right to left.

    Lines that run across come before them, or after where they do not begin above; small
    characters beside a column come last.
    """
    standing, lines = _without_lines(glyphs)
    body, ruby = _without_ruby(standing)
    top = max((glyph.y for glyph in body), default=0.0)
    lines.sort(key=lambda line: -line[0].y)
    above = [_line_text(line) for line in lines if line[0].y > top]
    below = [_line_text(line) for line in lines if line[0].y <= top]
    columns = ["".join(glyph.character for glyph in column) for column in _in_order(body)]
    readings = ["".join(glyph.character for glyph in column) for column in _columns(ruby)]
    return "\n".join([*above, *columns, *below, *readings])


def _without_lines(glyphs: Sequence[Glyph]) -> tuple[list[Glyph], list[list[Glyph]]]:
    """Return the characters of columns, and the lines that run across, in the order of drawing."""
    runs: list[list[Glyph]] = []
    for glyph in glyphs:
        if runs and _is_beside(runs[-1][-1], glyph):
            runs[-1].append(glyph)
        else:
            runs.append([glyph])
    lines = [run for run in runs if _is_line(run)]
    return [glyph for run in runs if not _is_line(run) for glyph in run], lines


def _is_beside(before: Glyph, glyph: Glyph) -> bool:
    height = max(before.height, glyph.height)
    return abs(glyph.y - before.y) < 0.5 * height and 0 < glyph.x - before.x < 3 * height


def _is_line(run: Sequence[Glyph]) -> bool:
    wide = run[-1].x - run[0].x > _MIN_LINE_WIDTH * run[0].height
    return len(run) >= MIN_LINE_GLYPHS and wide


def _line_text(line: Sequence[Glyph]) -> str:
    """Return a line, with a blank where its characters stand apart."""
    parts = [line[0].character]
    for before, glyph in pairwise(line):
        gap = glyph.x - before.x - (before.width + glyph.width) / 2
        is_apart = gap > _MIN_SPACE * glyph.height
        if is_apart and not (before.character.isspace() or glyph.character.isspace()):
            parts.append(" ")
        parts.append(glyph.character)
    return "".join(parts)


def _without_ruby(glyphs: Sequence[Glyph]) -> tuple[list[Glyph], list[Glyph]]:
    """Return characters, and the small ones that stand at the right of others."""
    usual = median([glyph.height for glyph in glyphs] or [0.0])
    large = sorted((one.x, one.y) for one in glyphs if one.height > _MAX_RUBY * usual)
    body: list[Glyph] = []
    ruby: list[Glyph] = []
    for glyph in glyphs:
        small = glyph.height <= _MAX_RUBY * usual and _has_column(glyph, large, usual)
        (ruby if small else body).append(glyph)
    return body, ruby


def _has_column(glyph: Glyph, large: Sequence[tuple[float, float]], usual: float) -> bool:
    """Tell whether a large character stands close at the left of a small one."""
    first = bisect_left(large, (glyph.x - _MAX_RUBY_DISTANCE * usual, float("-inf")))
    last = bisect_left(large, (glyph.x - glyph.width / 2, float("-inf")))
    return any(abs(y - glyph.y) <= usual for _, y in large[first:last])


def _in_order(glyphs: Sequence[Glyph]) -> list[list[Glyph]]:
    """Return the columns in the order of reading."""
    columns = _columns(glyphs)
    starts = [column[0].x for column in columns]
    rightwards = sum(b > a for a, b in pairwise(starts))
    if rightwards >= 0.5 * (len(columns) - 1):
        # Drawn from left to right: the order of drawing is not the order of reading.
        columns = [
            column
            for tier in _tiers(columns)
            for column in sorted(tier, key=lambda column: -column[0].x)
        ]
    return columns


def _tiers(columns: Sequence[list[Glyph]]) -> list[list[list[Glyph]]]:
    """Return the columns in bands that lie one above the other, the highest first."""
    tiers: list[list[list[Glyph]]] = []
    lowest = float("inf")
    for column in sorted(columns, key=lambda column: -column[0].y):
        if column[0].y < lowest:
            tiers.append([])
        lowest = min(lowest, column[-1].y)
        tiers[-1].append(column)
    return tiers


def _columns(glyphs: Sequence[Glyph]) -> list[list[Glyph]]:
    advance = median([a.y - b.y for a, b in pairwise(glyphs) if a.y > b.y] or [1.0])
    columns: list[list[Glyph]] = []
    for glyph in glyphs:
        last = columns[-1][-1] if columns else None
        same = (
            last is not None
            and abs(glyph.x - last.x) < 0.7 * advance
            and -0.5 * advance < last.y - glyph.y < 3 * advance
        )
        if same:
            columns[-1].append(glyph)
        else:
            columns.append([glyph])
    return columns
