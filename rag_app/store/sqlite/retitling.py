"""Changing the title of a content with its first name, and the counted words with it.

The title stands in front of every passage when its words are counted: a file that is
renamed is found by its new name, not by its old one, as if it were read anew.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from pipelines.analysers import FURTHER, analyser_of
from rag_app.store.sqlite import blobs
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.codec import unpack_id
from rag_app.store.sqlite.node_reader import NodeReader
from rag_app.store.sqlite.row_cache import RowCache

_KINDS_WITH_TITLE = ("parent", *FURTHER)  # kinds whose words are counted with the title in front


def retitle(sql: sqlite3.Connection, content: int) -> bool:
    """Give a content the title of its first name; tell whether it changed.

    Runs in the writer's transaction; words that are counted with the title in front are
    to be counted again. A user's own Document keeps its title.
    """
    from pipelines.documents import retitled

    title, reader, metadata, name = sql.execute(
        "SELECT title, reader, metadata, name FROM contents JOIN names USING (content)"
        " WHERE content = ? ORDER BY name_row LIMIT 1",
        (content,),
    ).fetchone()
    new = retitled({"title": title, "reader": reader, **json.loads(metadata)}, name)
    sql.execute("UPDATE contents SET title = ? WHERE content = ?", (new, content))
    return bool(new != title)


def recount(sql: sqlite3.Connection, sums: Checksums, content: int) -> None:
    """Count the words again that are counted with the title in front; the caller seals it.

    Raises:
        IndexDamagedError: what is read for it is not as it was written.
    """
    marks = ", ".join("?" * len(_KINDS_WITH_TITLE))
    held = sql.execute(
        f"SELECT part, kind, name FROM words JOIN kinds USING (kind)"  # noqa: S608
        f" WHERE content = ? AND name IN ({marks}) ORDER BY part",
        (content, *_KINDS_WITH_TITLE),
    ).fetchall()
    reader = NodeReader(sql, sums, RowCache())
    for blob, number, name in held:
        _recount_blob(sql, sums, content, blob, (number, name), reader)
    blobs.forget_unused_terms(sql)


def _recount_blob(
    sql: sqlite3.Connection,
    sums: Checksums,
    content: int,
    blob: int,
    kind: blobs.Kind,
    reader: NodeReader,
) -> None:
    from pipelines.searched import counted_terms

    segment = blobs.read_words(sql, sums, blob)
    rows = list(zip(segment.nodes.tolist(), segment.passages.tolist(), strict=True))
    ids = _ids(sql, [node for node, _ in rows])
    nodes = reader.nodes(ids)
    counts = [counted_terms(nodes[node_id], analyser_of(kind[1])) for node_id in ids]
    blobs.delete_words(sql, blob)
    blobs.write_words(sql, sums, content, kind, rows, counts)


def _ids(sql: sqlite3.Connection, rows: Sequence[int]) -> list[str]:
    found = sql.execute(
        "SELECT node, node_id FROM nodes WHERE node IN (SELECT value FROM json_each(?))",
        (json.dumps(rows),),
    )
    ids = {row: unpack_id(stored) for row, stored in found.fetchall()}
    return [ids[row] for row in rows]
