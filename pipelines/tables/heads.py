"""The heads of columns: over several lines, and over several columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from pipelines.tables.amount_units import is_note_of_units
from pipelines.tables.blocks import is_head_of_years
from pipelines.tables.columns import TableColumn
from pipelines.tables.fragments import Fragment, LineOfFragments

_PERIOD = re.compile(
    r"\b(?:years?|months|quarters?|weeks|ended|ending|fiscal|december|november|october|september|"
    r"august|july|june|may|april|march|february|january|as of|at)\b|年度|期間|会計|月",
    re.IGNORECASE,
)
_MIN_COVERED = 0.3  # of a column, or of a head, for one to stand over the other
_MAX_OFF_MIDDLE = 0.4  # of the way from one column to the next


def heads_of(
    lines: Sequence[LineOfFragments], columns: Sequence[TableColumn], edge: float
) -> tuple[str, ...]:
    """Return what names each column, from top to bottom; empty where nothing does.

    Args:
        lines: of heads, from top to bottom.
        columns: that they stand over.
        edge: where heads begin at the earliest, in points.
    """
    said: list[list[str]] = [[] for _ in columns]
    for line in lines:
        over = _over(line, len(columns), edge)
        for fragment, numbers in zip(over, _spread(over, columns), strict=True):
            for number in numbers:
                said[number].append(fragment.text)
    return tuple(" ".join(parts) for parts in said)


def _over(line: LineOfFragments, columns: int, edge: float) -> list[Fragment]:
    if is_head_of_years(line) and len(line.values) == columns:
        return list(line.values)
    over = [one for one in line.fragments if one.box.left >= edge]
    return [one for one in over if not is_note_of_units(one.text)]


def _spread(fragments: Sequence[Fragment], columns: Sequence[TableColumn]) -> list[list[int]]:
    """Return which columns each fragment of a line of heads stands over."""
    if len(fragments) == len(columns):
        return [[number] for number in range(len(columns))]
    direct = [_covered(one, columns) for one in fragments]
    if not fragments or len(fragments) > len(columns):
        return direct
    groups = _nearest(fragments, columns)
    spans = (
        any(len(numbers) != 1 for numbers in direct)
        or any(_PERIOD.search(one.text) and not one.is_year for one in fragments)
        or any(numbers and len(numbers) % 2 == 0 for numbers in groups)
    )
    if spans and all(
        _is_centred(one, numbers, columns) for one, numbers in zip(fragments, groups, strict=True)
    ):
        return groups
    return [
        numbers or _closest(one, columns) for one, numbers in zip(fragments, direct, strict=True)
    ]


def _covered(fragment: Fragment, columns: Sequence[TableColumn]) -> list[int]:
    """Return the columns that a fragment stands over, by how much of either is shared."""
    box = fragment.box
    numbers: list[int] = []
    for number, column in enumerate(columns):
        shared = min(box.right, column.right) - max(box.left, column.left)
        if shared >= _MIN_COVERED * min(column.right - column.left, box.right - box.left):
            numbers.append(number)
    return numbers


def _nearest(fragments: Sequence[Fragment], columns: Sequence[TableColumn]) -> list[list[int]]:
    middles = [(one.box.left + one.box.right) / 2 for one in fragments]
    groups: list[list[int]] = [[] for _ in fragments]
    for number, column in enumerate(columns):
        at = min(range(len(middles)), key=lambda at: abs(middles[at] - column.middle))
        groups[at].append(number)
    return groups


def _is_centred(fragment: Fragment, numbers: Sequence[int], columns: Sequence[TableColumn]) -> bool:
    """Tell whether a head stands over the middle of its columns, or reaches from side to side."""
    if not numbers:
        return False
    first, last = columns[numbers[0]], columns[numbers[-1]]
    apart = min(
        (after.middle - before.middle for before, after in pairwise(columns)),
        default=first.right - first.left,
    )
    middle = (fragment.box.left + fragment.box.right) / 2
    return abs(middle - (first.left + last.right) / 2) <= _MAX_OFF_MIDDLE * apart


def _closest(fragment: Fragment, columns: Sequence[TableColumn]) -> list[int]:
    middle = (fragment.box.left + fragment.box.right) / 2
    number = min(range(len(columns)), key=lambda at: abs(columns[at].middle - middle))
    return [number]
