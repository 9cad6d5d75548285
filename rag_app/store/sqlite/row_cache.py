"""A cache of what never changes in an index: ids of nodes and pages of contents, by row.

A row number is never used twice, so that no entry can become wrong; those of removed
rows are merely not used any more.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence

from pipelines.page_map import Page
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.codec import unpack_id

_MARKS = 128  # in a statement: as many rows as one arm finds, passages and nodes
_IDS_BY_MARKS = f"SELECT node, node_id FROM nodes WHERE node IN ({','.join('?' * _MARKS)})"  # noqa: S608
_IDS_BY_LIST = "SELECT node, node_id FROM nodes WHERE node IN (SELECT value FROM json_each(?))"
_MAX_CACHED_IDS = 50_000  # some 10 MB
_MAX_CACHED_PAGES = 20_000  # some 5 MB


class RowCache:
    """The ids of the nodes of one index, by row, and the pages of its contents."""

    def __init__(self) -> None:
        # Emptied by replacing it: another thread may be reading it.
        self._ids: dict[int, str] = {}
        self._pages: dict[int, Sequence[Page]] = {}
        self._page_count = 0

    def ids(self, sql: sqlite3.Connection, rows: Collection[int]) -> dict[int, str]:
        """Return the id of each row; rows that are not here are left out."""
        known = self._ids
        found = {row: known[row] for row in rows if row in known}
        missing = [row for row in rows if row not in found]
        if missing:
            new = unpacked(_read_ids(sql, sorted(set(missing))))
            if len(known) + len(new) > _MAX_CACHED_IDS:
                known = self._ids = {}
            known.update(new)
            found |= new
        return found

    def pages(self, sql: sqlite3.Connection, sums: Checksums, content: int) -> Sequence[Page]:
        """Return the pages of a content in order, without their raw text.

        Raises:
            IndexDamagedError: a page is missing, or not as it was written.
        """
        known = self._pages
        if content not in known:
            new = _read_pages(sql, sums, content)
            if self._page_count + len(new) > _MAX_CACHED_PAGES:
                known = self._pages = {}
                self._page_count = 0
            known[content] = new
            self._page_count += len(new)
            return new
        return known[content]


def _read_pages(sql: sqlite3.Connection, sums: Checksums, content: int) -> list[Page]:
    rows = sql.execute(
        "SELECT position, number, label, start, stop, raw_checksum, checksum FROM pages"
        " WHERE content = ? ORDER BY start, position",
        (content,),
    ).fetchall()
    for position, *place, checksum in rows:
        check_page(sums, content, position, place, checksum)
    (count,) = sql.execute("SELECT pages FROM contents WHERE content = ?", (content,)).fetchone()
    if count != len(rows):
        raise sums.damaged(f"content {content} has {len(rows)} of {count} pages")
    return [Page(number, label, start, stop, "") for _, number, label, start, stop, _, _ in rows]


def check_page(
    sums: Checksums, content: int, position: int, place: Sequence[int | str | None], checksum: int
) -> None:
    """Compare the checksum of a page; ``place``: number, label, start, stop, that of its raw text.

    Raises:
        IndexDamagedError: it is not as it was written.
    """
    sums.check(checksum, sums.row(content, position, *place), f"a page of content {content}")


def unpacked(rows: Iterable[tuple[int, bytes | str]]) -> dict[int, str]:
    """Return node ids by row."""
    return {row: unpack_id(stored) for row, stored in rows}


def _read_ids(sql: sqlite3.Connection, rows: list[int]) -> list[tuple[int, bytes | str]]:
    if len(rows) > _MARKS:
        return sql.execute(_IDS_BY_LIST, (json.dumps(rows),)).fetchall()
    # One statement for any number of rows, so that it is compiled once.
    return sql.execute(_IDS_BY_MARKS, rows + [-1] * (_MARKS - len(rows))).fetchall()
