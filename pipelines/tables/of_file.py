"""The tables of a file as it is now, found by another process within limits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.errors import CrashError, DamagedError, ReadError, TooSlowError
from pipelines.file_names import printable
from pipelines.interpreter import isolated_command, isolated_environment
from pipelines.layout import Box
from pipelines.reading import content_hash
from pipelines.regular_files import open_regular
from pipelines.tables.table import Cell, Table, TableRow

_LIBRARIES = ("pypdfium2", "pypdfium2_raw")
_SECONDS = 60  # of processor time; of the clock, twice as many
_MEMORY_MB = 4096  # of address space, besides what the file takes


def tables_of_file(
    path: str | Path,
    pages: Sequence[int] | None = None,
    *,
    password: str | None = None,
    content: str | None = None,
) -> tuple[Table, ...]:
    """Return the tables of amounts of a PDF; one that goes on over a page break is one.

    Args:
        path: of the file.
        pages: numbers of the pages to look at, from 1; None: all.
        password: opens it, where it needs one; it goes through a pipe.
        content: the hash of what the file must be, as an index has it; None: it may be any.

    Raises:
        ReadError: the file is gone, or is another one now, or cannot be read.
    """
    named = printable(str(path))
    try:
        with open_regular(Path(path)) as file:
            data = file.read()
    except OSError as error:
        raise ReadError(
            f"{named}: {error.strerror or error}", hint="its tables are read from the file itself"
        ) from error
    if content is not None and content_hash(data) != content:
        raise ReadError(f"{named}: the file has changed since it was read", hint="ingest it again")
    return _answered(named, data, pages, password)


def _answered(
    named: str, data: bytes, pages: Sequence[int] | None, password: str | None
) -> tuple[Table, ...]:
    task = {
        "pages": None if pages is None else list(pages),
        "password": password,
        "seconds": _SECONDS,
        "memory_mb": _MEMORY_MB,
    }
    try:
        done = subprocess.run(  # noqa: S603  # our own module in an isolated interpreter
            isolated_command("pipelines.tables.child", _LIBRARIES),
            input=json.dumps(task).encode() + b"\n" + data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=isolated_environment(),
            timeout=2 * _SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TooSlowError(
            f"{named}: finding its tables took over {2 * _SECONDS} s", hint="ask for some pages"
        ) from error
    try:
        answer = json.loads(done.stdout)
    except ValueError as error:
        raise CrashError(
            f"{named}: the process that finds its tables ended with {done.returncode}",
            hint="it may be made to fail programs",
        ) from error
    if "error" in answer:
        raise DamagedError(
            f"{named}: PDFium cannot read it: {answer['error']}", hint="save it again"
        )
    return tuple(map(table_from, answer["tables"]))


def table_from(said: dict[str, Any]) -> Table:
    """Return a table out of its JSON; see ``Table.to_dict``."""
    rows = tuple(
        TableRow(
            row["label"],
            tuple(Cell(one["column"], one["text"], Box(**one["box"])) for one in row["cells"]),
            row["section"],
            row["page"],
            Box(**row["box"]),
        )
        for row in said["rows"]
    )
    box = Box(**said["box"])
    return Table(said["page"], said["caption"], said["unit"], tuple(said["heads"]), rows, box)
