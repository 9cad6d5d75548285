"""The process that finds the tables of a file: its task comes on stdin, its answer is JSON.

The first line of the task is JSON (``pages``, ``password``, ``seconds``, ``memory_mb``), the
bytes of the file follow. The process ends with its answer, and sets its own limits.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from pipelines.tables.found import tables_of
from pipelines.tables.over_pages import over_pages
from pipelines.tables.pdfium_words import placed_words

_MB = 1 << 20
_FILE_COPIES = 4  # what a file itself may take, and the libraries that read it


def tables_in(data: bytes, pages: Sequence[int] | None, password: str | None) -> dict[str, Any]:
    """Return the tables of a PDF as JSON has them, or ``error`` with what PDFium says.

    Args:
        data: bytes of the file.
        pages: numbers of the pages to look at, from 1; None: all.
        password: opens it, where it needs one.
    """
    import pypdfium2

    try:
        with closing(pypdfium2.PdfDocument(data, password=password)) as pdf:
            wanted = range(1, len(pdf) + 1) if pages is None else pages
            found = [
                table
                for number in sorted(set(wanted))
                if 1 <= number <= len(pdf)
                for table in _tables(pdf, number)
            ]
    except pypdfium2.PdfiumError as error:
        return {"error": str(error)}
    return {"tables": [table.to_dict() for table in over_pages(found)]}


def _tables(pdf: Any, number: int) -> Any:
    with closing(pdf[number - 1]) as page:
        return tables_of(number, *placed_words(page))


def main() -> None:
    """Read a task, set the limits that it names, and answer it."""
    task = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    size = task["memory_mb"] * _MB + _FILE_COPIES * len(data)
    for what, most in ((resource.RLIMIT_AS, size), (resource.RLIMIT_CPU, task["seconds"])):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(json.dumps(tables_in(data, task["pages"], task["password"])))  # noqa: T201
