"""Columns of values: amounts align at their right edges, or stand above each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipelines.layout import Box
from pipelines.tables.fragments import Fragment

_MAX_EDGE = 0.6  # of the height of a line: right edges that far apart are of one column
_MIN_SHARED = 0.5  # of the narrower of two columns that are one


@dataclass(frozen=True, slots=True)
class TableColumn:
    """Where the amounts of a column stand, in points from the left edge of the page."""

    left: float
    right: float
    support: int

    @property
    def middle(self) -> float:
        """The middle between its edges."""
        return (self.left + self.right) / 2

    def shared(self, box: Box) -> float:
        """Return which part of the narrower one stands above the other; below 0: none."""
        narrower = min(self.right - self.left, box.right - box.left)
        return _overlap((self.left, self.right), (box.left, box.right)) / max(narrower, 0.1)


def columns_of(values: Iterable[Fragment], height: float) -> tuple[TableColumn, ...]:
    """Return the columns that amounts stand in, from left to right.

    Args:
        values: of the lines of one table.
        height: of its lines, in points.
    """
    columns: list[TableColumn] = []
    for value in sorted(values, key=lambda value: value.core.right):
        box = value.core
        last = columns[-1] if columns else None
        if last is not None and box.right - last.right <= _MAX_EDGE * height:
            left = min(last.left, box.left)
            columns[-1] = TableColumn(left, max(last.right, box.right), last.support + 1)
        else:
            columns.append(TableColumn(box.left, box.right, 1))
    return _without_overlaps(columns)


def _without_overlaps(columns: Sequence[TableColumn]) -> tuple[TableColumn, ...]:
    kept: list[TableColumn] = []
    for column in columns:
        while kept and _are_one(kept[-1], column):
            other = kept.pop()
            column = TableColumn(
                min(other.left, column.left),
                max(other.right, column.right),
                other.support + column.support,
            )
        kept.append(column)
    return tuple(kept)


def _are_one(first: TableColumn, second: TableColumn) -> bool:
    narrower = min(first.right - first.left, second.right - second.left)
    shared = _overlap((first.left, first.right), (second.left, second.right))
    return shared >= _MIN_SHARED * narrower


def _overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    return min(first[1], second[1]) - max(first[0], second[0])


def column_under(box: Box, columns: Sequence[TableColumn]) -> int | None:
    """Return the number of the column that a box shares most with; None: it touches none."""
    best = max(range(len(columns)), key=lambda at: columns[at].shared(box), default=None)
    return best if best is not None and columns[best].shared(box) > 0 else None
