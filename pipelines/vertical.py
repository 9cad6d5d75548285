"""Text that is set in columns from top to bottom, as in Japanese books and gazettes.

PDF libraries read it as one line for each character, or the columns from left
to right. Pure geometry: characters and the middles of their boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple


class Glyph(NamedTuple):
    """A character and the middle of its box, in points; y grows upwards."""

    character: str
    x: float
    y: float


def is_vertical(glyphs: Sequence[Glyph]) -> bool:
    """Tell whether most characters stand below the one before."""
    steps = [
        abs(b.x - a.x) < 0.5 * (a.y - b.y)
        for a, b in pairwise(glyphs)
        if not (a.character.isspace() or b.character.isspace())
    ]
    return len(steps) >= 3 and sum(steps) > 0.6 * len(steps)


def vertical_text(glyphs: Sequence[Glyph]) -> str:
    """Return the columns as lines, from right to left."""
    columns = _columns(glyphs)
    starts = [column[0].x for column in columns]
    rightwards = sum(b > a for a, b in pairwise(starts))
    if rightwards > 0.5 * (len(columns) - 1):
        # Drawn from left to right: the order of drawing is not the order of reading.
        columns = [
            column
            for tier in _tiers(columns)
            for column in sorted(tier, key=lambda column: -column[0].x)
        ]
    return "\n".join("".join(glyph.character for glyph in column) for column in columns)


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
