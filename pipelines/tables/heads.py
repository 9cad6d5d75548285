"""The heads of columns: over several lines, and over several columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from pipelines.tables.amount_units import is_note_of_units
from pipelines.tables.blocks import is_head_of_years
from pipelines.tables.columns import TableColumn
from pipelines.tables.fragments import Fragment, LineOfFragments

_PERIOD = re.compile(
    r"\b(?:years?|months|quarters?|weeks|ended|ending|fiscal|december|november|october|september|"
    r"august|july|june|may|april|march|february|january|as of|at|(?:19|20)\d\d)\b"
    r"|年度|期間|会計|月",
    re.IGNORECASE,
)
_MIN_COVERED = 0.3  # of a column, or of a head, for one to stand over the other
_OVER_ONE = 0.15  # of the same: a head that near to the middle of a column is over it alone
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
    over = [_over(line, len(columns), edge) for line in lines]
    whole = next((line for line in reversed(over) if len(line) == len(columns)), None)
    if whole is not None:
        columns = [TableColumn(one.box.left, one.box.right, 1) for one in whole]
    said: list[list[str]] = [[] for _ in columns]
    groups: list[list[int]] = []
    for fragments in reversed(over):
        spread = _with_groups(_spread(fragments, columns), groups)
        for fragment, numbers in zip(fragments, spread, strict=True):
            for number in numbers:
                said[number].insert(0, fragment.text)
        groups += [numbers for numbers in spread if len(numbers) > 1]
    return tuple(" ".join(parts) for parts in said)


def _with_groups(
    spread: Sequence[Sequence[int]], groups: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Return columns with those that a lower head joins to one of them, if these have no head."""
    taken = [number for numbers in spread for number in numbers]
    whole: list[list[int]] = []
    for numbers in spread:
        joined = {one for group in groups if set(group) & set(numbers) for one in group}
        whole.append(sorted({*numbers, *(joined - set(taken))}))
    return whole


def _over(line: LineOfFragments, columns: int, edge: float) -> list[Fragment]:
    if is_head_of_years(line) and len(line.values) == columns:
        return [_with_period(line.fragments[0], year) for year in line.values]
    over = [one for one in line.fragments if one.box.left >= edge]
    return [one for one in over if not is_note_of_units(one.text)]


def _spread(fragments: Sequence[Fragment], columns: Sequence[TableColumn]) -> list[list[int]]:
    """Return which columns each fragment of a line of heads stands over."""
    if len(fragments) == len(columns):
        return [[number] for number in range(len(columns))]
    direct = [_covered(one, columns) for one in fragments]
    if not fragments or len(fragments) > len(columns):
        return direct
    if blocks := _equal_blocks(fragments, columns):
        return blocks
    groups = _nearest(fragments, columns)
    pairs = list(zip(fragments, groups, strict=True))
    spans = (
        any(len(numbers) != 1 for numbers in direct)
        or any(_PERIOD.search(one.text) and not one.is_year for one in fragments)
        or any(_is_between(one, numbers, columns) for one, numbers in pairs)
    )
    if spans and all(
        _is_centred(one, numbers, columns) for one, numbers in zip(fragments, groups, strict=True)
    ):
        return groups
    return [
        numbers or _closest(one, columns) for one, numbers in zip(fragments, direct, strict=True)
    ]


def _with_period(first: Fragment, year: Fragment) -> Fragment:
    """Return the head of a year with the day or period that begins its line."""
    if first.is_value or not _PERIOD.search(first.text) or is_note_of_units(first.text):
        return year
    return replace(year, text=f"{first.text} {year.text}")


def _equal_blocks(fragments: Sequence[Fragment], columns: Sequence[TableColumn]) -> list[list[int]]:
    """Return as many columns for each period as for the others; empty where that does not fit."""
    size, rest = divmod(len(columns), len(fragments))
    if rest or len(fragments) == 1 or not all(_PERIOD.search(one.text) for one in fragments):
        return []
    blocks = [list(range(at * size, (at + 1) * size)) for at in range(len(fragments))]
    within = all(
        columns[block[0]].left < _middle(one) < columns[block[-1]].right
        for one, block in zip(fragments, blocks, strict=True)
    )
    return blocks if within else []


def _is_between(fragment: Fragment, numbers: Sequence[int], columns: Sequence[TableColumn]) -> bool:
    """Tell whether a head stands over the gap in the middle of columns, not over one of them."""
    if not numbers or len(numbers) % 2:
        return False
    before, after = columns[numbers[len(numbers) // 2 - 1]], columns[numbers[len(numbers) // 2]]
    near = (after.middle - before.middle) * _OVER_ONE
    return before.middle + near < _middle(fragment) < after.middle - near


def _middle(fragment: Fragment) -> float:
    return (fragment.box.left + fragment.box.right) / 2


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
    middles = [_middle(one) for one in fragments]
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
    middle = _middle(fragment)
    return abs(middle - (first.left + last.right) / 2) <= _MAX_OFF_MIDDLE * apart


def _closest(fragment: Fragment, columns: Sequence[TableColumn]) -> list[int]:
    middle = _middle(fragment)
    number = min(range(len(columns)), key=lambda at: abs(columns[at].middle - middle))
    return [number]
