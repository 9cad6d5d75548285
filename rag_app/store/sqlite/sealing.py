"""The checksum of a whole content, which also notices a missing row."""

from __future__ import annotations

import sqlite3
from hashlib import blake2b

from rag_app.store.sqlite.checksums import Checksums

_COLUMNS = (
    "content_hash, document_id, title, reader, fingerprint, bytes, length, pages, blank_pages,"
    " counts, built, origin, metadata"
)
# The rows of a content, each table in the order of its key.
_ROWS = {
    "pages": "position",
    "blocks": "start",
    "nodes": "node",
    "noted_sentences": "reach",
    "vectors": "part",
    "words": "part",
}


def rows_digest(sql: sqlite3.Connection, content: int) -> int:
    """Return the digest of the checksums of all rows of a content, but its names."""
    found = blake2b(digest_size=7)
    for table, key in _ROWS.items():
        sums = sql.execute(
            f"SELECT checksum FROM {table} WHERE content = ? ORDER BY {key}",  # noqa: S608
            (content,),
        ).fetchall()
        found.update(f"{table} {len(sums)} {sums}".encode())
    return int.from_bytes(found.digest(), "little")


def content_digest(sql: sqlite3.Connection, sums: Checksums, content: int) -> int:
    """Return the digest of a content: its own columns, its names, and that of its rows."""
    row = sql.execute(
        f"SELECT content, {_COLUMNS}, rows_digest FROM contents WHERE content = ?",  # noqa: S608
        (content,),
    ).fetchone()
    if row is None:
        raise sums.damaged(f"content {content} is not there")
    names = sql.execute(
        "SELECT name, origin, file_name, file_path FROM names WHERE content = ? ORDER BY name_row",
        (content,),
    ).fetchall()
    return sums.digest(*row, *(value for name in names for value in name))


def name_checksum(
    sums: Checksums, content: int, name: str, origin: str, file_name: str, file_path: str
) -> int:
    """Return the checksum of a row of names."""
    return sums.row(content, name, origin, file_name, file_path)


def check_content(sql: sqlite3.Connection, sums: Checksums, content: int) -> int:
    """Return the digest of a content after comparing it; its rows are not compared.

    Raises:
        IndexDamagedError: a column or a name of it is not as it was written.
    """
    found = content_digest(sql, sums, content)
    (stored,) = sql.execute(
        "SELECT checksum FROM contents WHERE content = ?", (content,)
    ).fetchone()
    sums.check(stored, found, f"the record of content {content}")
    return found


def check_rows(sql: sqlite3.Connection, sums: Checksums, content: int) -> None:
    """Compare the list of rows of a content; each row has a checksum of its own.

    Raises:
        IndexDamagedError: one is missing, or is not of this content.
    """
    (stored,) = sql.execute(
        "SELECT rows_digest FROM contents WHERE content = ?", (content,)
    ).fetchone()
    sums.check(stored, rows_digest(sql, content), f"the list of rows of content {content}")


def seal(sql: sqlite3.Connection, sums: Checksums, content: int, *, rows: bool) -> int:
    """Write the digest of a content that was changed; return the change (XOR).

    Args:
        sql: the writer's connection, in a transaction.
        sums: the index's.
        content: its number.
        rows: whether rows of it were written or removed, and not its names alone.
    """
    if rows:
        sql.execute(
            "UPDATE contents SET rows_digest = ? WHERE content = ?",
            (rows_digest(sql, content), content),
        )
    (before,) = sql.execute(
        "SELECT checksum FROM contents WHERE content = ?", (content,)
    ).fetchone()
    now = content_digest(sql, sums, content)
    sql.execute("UPDATE contents SET checksum = ? WHERE content = ?", (now, content))
    return int(before) ^ now
