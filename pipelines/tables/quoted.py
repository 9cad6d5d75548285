"""Which table a quote stands in."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import normalize

from pipelines.tables.table import Table, TableRow


def table_quoted(quotes: Iterable[str], tables: Iterable[Table]) -> Table | None:
    """Return the table that most of the quoted rows are of; None: no quote has a row of one.

    A row is quoted where its label and all its amounts stand in the quote, in their order.

    Args:
        quotes: texts of the pages that the tables are of.
        tables: of these pages.
    """
    texts = [_letters(quote) for quote in quotes]
    best: Table | None = None
    most = 0
    for table in tables:
        count = sum(any(_is_in(row, text) for text in texts) for row in table.rows)
        if count > most:
            best, most = table, count
    return best


def _is_in(row: TableRow, text: str) -> bool:
    label = _letters(row.label)
    at = text.find(label) if label else -1
    if at < 0:
        return False
    at += len(label)
    for cell in row.cells:
        amount = _letters(cell.text)
        at = text.find(amount, at)
        if at < 0:
            return False
        at += len(amount)
    return True


def _letters(text: str) -> str:
    """Return the letters and digits of a text, in one width and case."""
    return "".join(filter(str.isalnum, normalize("NFKC", text).casefold()))
