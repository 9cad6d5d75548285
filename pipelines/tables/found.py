"""The tables of a page, from its words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.layout import PageLayout, united
from pipelines.tables.amount_units import is_note_of_units, unit_in
from pipelines.tables.blocks import Block, blocks_of, is_row
from pipelines.tables.columns import TableColumn, column_under
from pipelines.tables.fragments import Fragment, LineOfFragments, lines_of
from pipelines.tables.heads import heads_of
from pipelines.tables.labels import RowSection, entries_of
from pipelines.tables.sides import sides_of
from pipelines.tables.table import Cell, Table, TableRow

_MIN_ROWS = 2
_MAX_CAPTION_LINES = 4
_MAX_CAPTION_CHARACTERS = 110
_MAX_CAPTION_GAP = 3.5  # of the height of a line
_BACK_LINK = "table of contents"  # on each page of many reports
_CURRENCY = re.compile("[$€£¥%円]")
_AMOUNT = re.compile(r"[$€£¥%()△▲.,]|\d{4,}")


def tables_of(page: int, text: str, layout: PageLayout) -> tuple[Table, ...]:
    """Return the tables of a page from top to bottom; of amounts: not those of words alone.

    Args:
        page: its number, from 1.
        text: of it.
        layout: where the words of the text stand.
    """
    sides = sides_of(lines_of(text, layout), layout.width)
    return tuple(table for lines in sides for table in _tables(page, lines))


def _tables(page: int, lines: Sequence[LineOfFragments]) -> list[Table]:
    found: list[Table] = []
    for block in blocks_of(lines):
        table = _table(page, block)
        if table is None:
            continue
        if found and not any(table.heads) and _goes_on(found[-1], table):
            found[-1] = _joined(found[-1], table)
        else:
            found.append(table)
    return found


def _goes_on(first: Table, second: Table) -> bool:
    """Tell whether a table without heads goes on the one before it on its page."""
    return len(first.heads) == len(second.heads) and not second.caption


def _joined(first: Table, second: Table) -> Table:
    return Table(
        first.page,
        first.caption,
        first.unit,
        first.heads,
        first.rows + second.rows,
        united((first.box, second.box)),
    )


def _table(page: int, block: Block) -> Table | None:
    rows = _rows(page, block)
    filled = [row for row in rows if row.cells]
    if (
        len(filled) < _MIN_ROWS
        or _lists_pages(filled, block)
        or not any(row.label for row in filled)
    ):
        return None
    caption, unit = _caption(block)
    boxes = [row.box for row in rows] + [line.box for line in block.heads]
    heads = heads_of(block.heads, block.columns, block.head_edge)
    return Table(page, caption, unit, heads, tuple(filled), united(boxes))


def _lists_pages(rows: Sequence[TableRow], block: Block) -> bool:
    """Tell whether rows only name pages, as contents do: one number each, none with a sign."""
    if len(block.columns) > 1:
        return False
    heads = " ".join(line.text for line in (*block.heads, *block.above[:_MAX_CAPTION_LINES]))
    amounts = [_AMOUNT.search(cell.text) is not None for row in rows for cell in row.cells]
    says_money = unit_in(heads) or any(
        _CURRENCY.search(cell.text) for row in rows for cell in row.cells
    )
    return not says_money and sum(amounts) < len(amounts) / 2


def _caption(block: Block) -> tuple[str, str]:
    """Return the lines that name a table, and the unit that they or the heads say."""
    lines: list[str] = []
    below = (block.heads or block.lines)[0]
    height = below.box.bottom - below.box.top
    for line in block.above[:_MAX_CAPTION_LINES]:
        near = below.box.top - line.box.bottom <= _MAX_CAPTION_GAP * height
        if not near or len(line.text) > _MAX_CAPTION_CHARACTERS or is_row(line):
            break
        if line.text[0].islower():
            break
        lines.insert(0, line.text)
        below = line
    inside = [one.text for line in block.heads for one in line.fragments]
    unit = next(filter(None, map(unit_in, [*inside, *reversed(lines), " ".join(lines)])), "")
    edge = block.head_edge
    lines += [
        one.text
        for line in block.heads
        for one in line.fragments
        if one.box.left < edge and not one.is_year
    ]
    return " ".join(one for one in lines if _names(one)), unit


def _names(line: str) -> bool:
    return not is_note_of_units(line) and line.casefold() != _BACK_LINK


def _rows(page: int, block: Block) -> list[TableRow]:
    rows: list[TableRow] = []
    under = RowSection()
    for entry in entries_of(block.lines, block.columns[0].left):
        if entry.row is None:
            under = RowSection(entry.label, entry.left)
            continue
        under = under.at(entry.label, entry.left)
        cells = _cells(entry.row, block.columns)
        boxes = [*entry.boxes, *(cell.box for cell in cells)]
        rows.append(TableRow(entry.label, cells, under.name, page, united(boxes)))
    return rows


def _cells(line: Sequence[Fragment], columns: Sequence[TableColumn]) -> tuple[Cell, ...]:
    """Return the cells of a row; what stands above one column is one cell."""
    parts: dict[int, list[Fragment]] = {}
    for fragment in line:
        number = column_under(fragment.core, columns)
        if number is not None:
            parts.setdefault(number, []).append(fragment)
    return tuple(
        Cell(
            number,
            " ".join(one.text for one in parts[number]),
            united(one.box for one in parts[number]),
        )
        for number in sorted(parts)
    )
