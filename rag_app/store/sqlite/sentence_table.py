"""The sentence table of a content: written when it is cut, read when one of them is shown."""

from __future__ import annotations

import sqlite3

import numpy as np

from pipelines.sentence_table import SentenceTable
from rag_app.store.sqlite.checksums import Checksums

_ROW_CHARS = 4096  # of text whose sentences make one row: a passage needs one or two
_UINT32 = np.dtype("<u4")


def write_sentences(
    sql: sqlite3.Connection, sums: Checksums, content: int, length: int, table: SentenceTable
) -> None:
    """Write the sentences of a content: a row for each stretch of its text."""
    rows = []
    for reach in range(0, max(length, 1), _ROW_CHARS):
        some = table.within(reach, reach + _ROW_CHARS)
        sizes = np.diff(some.term_ends, prepend=0)
        columns = (some.starts, some.stops, some.tokens, sizes, some.terms)
        blobs = [column.astype(_UINT32).tobytes() for column in columns]
        rows.append((content, reach, sums.blobs((content, reach), *blobs), *blobs))
    sql.executemany(
        "INSERT INTO noted_sentences (content, reach, checksum, starts, stops, tokens, sizes,"
        " terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def read_sentences(
    sql: sqlite3.Connection, sums: Checksums, content: int, start: int, stop: int
) -> SentenceTable | None:
    """Return the sentences that begin in a span of a content's text; None: there is no table.

    Raises:
        IndexDamagedError: a row is not as it was written.
    """
    rows = sql.execute(
        "SELECT reach, checksum, starts, stops, tokens, sizes, terms FROM noted_sentences"
        " WHERE content = ? AND reach > ? AND reach < ? ORDER BY reach",
        (content, start - _ROW_CHARS, max(stop, start + 1)),
    ).fetchall()
    for reach, checksum, *blobs in rows:
        what = f"a row of sentences of content {content}, at character {reach}"
        sums.check(checksum, sums.blobs((content, reach), *blobs), what)
    if not rows:
        return None
    return _restored(*map(b"".join, list(zip(*rows, strict=True))[2:])).within(start, stop)


def count_sentences(sql: sqlite3.Connection, content: int) -> int:
    """Return how many sentences the table of a content holds."""
    (size,) = sql.execute(
        "SELECT coalesce(sum(length(starts)), 0) FROM noted_sentences WHERE content = ?", (content,)
    ).fetchone()
    return int(size) // _UINT32.itemsize


def _restored(*columns: bytes) -> SentenceTable:
    *places, sizes, terms = (np.frombuffer(blob, dtype=_UINT32) for blob in columns)
    if any(len(column) != len(sizes) for column in places) or sizes.sum() != len(terms):
        lengths = [*map(len, places), len(sizes)]
        raise ValueError(f"{lengths} places, {sizes.sum()} terms of them, {len(terms)} here")
    starts, stops, tokens = (column.astype(np.int64) for column in places)
    return SentenceTable(starts, stops, tokens, np.cumsum(sizes, dtype=np.int64), terms)
