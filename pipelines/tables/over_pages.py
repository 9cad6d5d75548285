"""Tables that go on over a page break are one table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest

from pipelines.tables.table import Table

_MAX_MOVED = 15.0  # points between the right edges of a column on both pages


def over_pages(tables: Iterable[Table]) -> tuple[Table, ...]:
    """Return tables, those joined that go on at the beginning of the next page.

    A table goes on where the first of the next page has columns in the same places, and
    either no heads and no caption, or the same heads.

    Args:
        tables: of a document, in its order.
    """
    found: list[Table] = []
    for table in tables:
        is_first = not found or found[-1].rows[-1].page < table.page
        if found and is_first and _goes_on(found[-1], table):
            found[-1] = replace(found[-1], rows=found[-1].rows + table.rows)
        else:
            found.append(table)
    return tuple(found)


def _goes_on(table: Table, below: Table) -> bool:
    if below.page != table.rows[-1].page + 1 or len(table.heads) != len(below.heads):
        return False
    if any(below.heads) and below.heads != table.heads:
        return False
    if below.caption and not any(below.heads):
        return False
    edges = zip_longest(_edges(table), _edges(below), fillvalue=0.0)
    return all(abs(first - second) <= _MAX_MOVED for first, second in edges)


def _edges(table: Table) -> list[float]:
    """Return the right edge of each column, as its last amount has it."""
    edges = {cell.column: cell.box.right for row in table.rows for cell in row.cells}
    return [edges.get(column, 0.0) for column in range(len(table.heads))]
