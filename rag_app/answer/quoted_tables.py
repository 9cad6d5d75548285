"""The table that the quotes of a citation stand in, from its file as that is now."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipelines.errors import ReadError
from pipelines.file_names import printable
from pipelines.tables.of_file import tables_of_file
from pipelines.tables.quoted import table_quoted

if TYPE_CHECKING:
    from pipelines.tables.table import Table
    from rag_app.answer.shown_pages import PageSource

_SHA256 = re.compile("[0-9a-f]{64}")


def table_of(source: PageSource, password: str | None = None) -> Table | None:
    """Return the table of amounts that the quotes of a source stand in; None: in none.

    Args:
        source: a citation, or a passage that is close.
        password: of an encrypted file.

    Raises:
        ReadError: the file is gone, has changed since it was read, or cannot be read.
    """
    pages = {page for quote in source.quotes for page in quote.pages}
    if not pages or source.read_by == "ocr":
        return None
    if not source.path:
        raise ReadError(f"{printable(source.file)} is a text without a file: it has no tables")
    known = _SHA256.fullmatch(source.content_hash) is not None
    tables = tables_of_file(
        source.path,
        sorted({page + step for page in pages for step in (-1, 0, 1)}),
        password=password,
        content=source.content_hash if known else None,
    )
    return table_quoted([quote.text for quote in source.quotes], tables)
