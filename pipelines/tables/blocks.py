"""Which lines of a page are of one table: its rows, and the lines of heads above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from pipelines.layout import Box
from pipelines.tables.amount_units import is_note_of_units
from pipelines.tables.columns import TableColumn, columns_of
from pipelines.tables.fragments import Fragment, LineOfFragments

_MIN_ROWS = 2
_MAX_GAP = 3.2  # of the height of a line, between rows of one table
_MAX_HEAD_GAP = 2.2  # of it, between a head and what it stands above
_MAX_LABELS_BETWEEN = 4  # lines without values between rows
_MAX_WORDS_AFTER = 4  # of a text to the right of an amount; more are prose
_MAX_REACH = 40.0  # points that the head of the first column may begin before its values
_MAX_HEAD_LINES = 9
_SAME_EDGE = 2.0  # points


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of one table.

    Attributes:
        above: lines that stand above its heads, from the nearest one upwards.
        heads: the lines of its heads, from top to bottom.
        lines: its rows and the headings between them.
        columns: of its values.
        head_edge: where heads of columns begin at the earliest, in points.
    """

    above: tuple[LineOfFragments, ...]
    heads: tuple[LineOfFragments, ...]
    lines: tuple[LineOfFragments, ...]
    columns: tuple[TableColumn, ...]
    head_edge: float


def blocks_of(lines: Sequence[LineOfFragments]) -> list[Block]:
    """Return the tables of a page as lines of it, from top to bottom."""
    if not lines:
        return []
    height = median(line.box.bottom - line.box.top for line in lines)
    spans = _spans(lines, height)
    blocks: list[Block] = []
    before = 0
    for start, end in spans:
        block = _block(lines, before, start, end, height)
        if block is not None:
            blocks.append(block)
            before = end
    return blocks


def is_row(line: LineOfFragments) -> bool:
    """Tell whether a line has amounts in the places of cells."""
    values = line.values
    if not values or is_head_of_years(line):
        return False
    if len(line.fragments) == 1:
        return True
    first = line.fragments.index(values[0])
    after = line.fragments[first + 1 :]
    if any(len(one.text.split()) > _MAX_WORDS_AFTER for one in after if not one.is_value):
        return False
    texts = sum(not one.is_value for one in line.fragments)
    return texts <= len(values) + 1


def is_head_of_years(line: LineOfFragments) -> bool:
    """Tell whether the amounts of a line are years that name columns."""
    values = line.values
    if not values or not all(one.is_year for one in values):
        return False
    return len(values) > 1 or len(line.fragments) == 1 or line.fragments[-1].is_year


def _spans(lines: Sequence[LineOfFragments], height: float) -> list[tuple[int, int]]:
    """Return where rows begin and end that belong together."""
    spans: list[tuple[int, int]] = []
    rows: list[int] = []
    for at, line in enumerate(lines):
        if not is_row(line):
            continue
        if rows and not _goes_on(lines, rows, at, height):
            spans.append((rows[0], rows[-1] + 1))
            rows = []
        rows.append(at)
    if rows:
        spans.append((rows[0], rows[-1] + 1))
    return spans


def _goes_on(lines: Sequence[LineOfFragments], rows: Sequence[int], at: int, height: float) -> bool:
    """Tell whether a row belongs to the rows before it, by what stands between."""
    between = lines[rows[-1] + 1 : at]
    near = all(
        after.box.top - before.box.bottom <= _MAX_GAP * height
        for before, after in pairwise(lines[rows[-1] : at + 1])
    )
    if not near or len(between) > _MAX_LABELS_BETWEEN:
        return False
    edge = min(
        (value.box.left for row in rows for value in _cells(lines[row])), default=float("inf")
    )
    return all(_is_label(line, edge) for line in between)


def _cells(line: LineOfFragments) -> tuple[Fragment, ...]:
    """Return the amounts of a row; a year or number at its beginning is its label."""
    values = line.values
    if len(line.fragments) > 1 and line.fragments[0].is_year and not values[-1].is_year:
        return values[1:]
    return values


def _is_label(line: LineOfFragments, edge: float) -> bool:
    if line.values and not (len(line.fragments) == 1 and line.fragments[0].is_year):
        return False
    return all(one.box.right <= edge + _SAME_EDGE for one in line.fragments)


def _block(
    lines: Sequence[LineOfFragments], before: int, start: int, end: int, height: float
) -> Block | None:
    rows = [line for line in lines[start:end] if is_row(line)]
    columns = columns_of((value for row in rows for value in _cells(row)), height)
    columns = _supported(columns, rows)
    if not columns:
        return None
    first = start
    edge = columns[0].left
    while first > before and _leads(lines[first - 1], lines[first], edge, height):
        first -= 1
    head_edge = _head_edge(rows, edge)
    top = first
    while top > before and first - top < _MAX_HEAD_LINES:
        line, below = lines[top - 1], lines[top]
        if not _is_head(line, below, columns, head_edge, height):
            break
        top -= 1
    above = tuple(reversed(lines[before:top]))
    return Block(above, tuple(lines[top:first]), tuple(lines[first:end]), columns, head_edge)


def _supported(
    columns: Sequence[TableColumn], rows: Sequence[LineOfFragments]
) -> tuple[TableColumn, ...]:
    """Return columns that more than one row has, where the table has many."""
    if len(rows) < 2 * _MIN_ROWS + 1:
        return tuple(columns)
    return tuple(column for column in columns if column.support > 1)


def _leads(line: LineOfFragments, below: LineOfFragments, edge: float, height: float) -> bool:
    """Tell whether a line is a heading of rows, which stands between heads and rows."""
    near = below.box.top - line.box.bottom <= _MAX_HEAD_GAP * height
    return near and _is_label(line, edge) and not is_note_of_units(line.text)


def _head_edge(rows: Sequence[LineOfFragments], edge: float) -> float:
    """Return where heads may begin: to the right of the labels, or a little before the amounts."""
    labels = [row.fragments[0].box.right for row in rows if not row.fragments[0].is_value]
    return min(edge - _MAX_REACH, max(labels, default=edge))


def _is_head(
    line: LineOfFragments,
    below: LineOfFragments,
    columns: Sequence[TableColumn],
    head_edge: float,
    height: float,
) -> bool:
    """Tell whether a line names columns: what is not above them stands before them all."""
    if below.box.top - line.box.bottom > _MAX_HEAD_GAP * height or is_row(line):
        return False
    if is_head_of_years(line) and len(line.values) == len(columns):
        return True
    if is_note_of_units(line.text):
        return True
    left, right = columns[0].left, columns[-1].right
    over = [one for one in line.fragments if one.box.left >= head_edge]
    before = [one for one in line.fragments if one.box.left < head_edge]
    if len(line.fragments) == 1 < len(columns) and _middle(line.box) < left:
        return False  # the title of the table, above the middle of the page
    return (
        bool(over)
        and all(one.box.right <= left for one in before)
        and over[-1].box.right <= right + _MAX_REACH
    )


def _middle(box: Box) -> float:
    return (box.left + box.right) / 2
