"""One content in the tables: written whole, extended by further kinds, removed whole."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipelines.errors import StoreError
from pipelines.file_names import base_name, printable
from rag_app.store.protocol import IndexConfig, Prepared
from rag_app.store.sqlite import blobs
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.codec import (
    DOCUMENT_KEYS,
    blank_pages,
    page_rows,
    split_blocks,
    unpack_id,
)
from rag_app.store.sqlite.node_rows import NodeRow, insert_nodes, kind_number
from rag_app.store.sqlite.sealing import name_checksum
from rag_app.store.sqlite.sentence_table import read_sentences, write_sentences

if TYPE_CHECKING:
    from llama_index.core.schema import Document

# What belongs to a content, and goes with it.
_TABLES = ("vectors", "words", "nodes", "noted_sentences", "blocks", "pages", "names", "contents")


def insert(
    sql: sqlite3.Connection,
    sums: Checksums,
    prepared: Prepared,
    config: IndexConfig,
    names: Mapping[str, str],
) -> int:
    """Write all of one content; ``names`` maps each of its names to its origin.

    Returns its number; the caller seals it.
    """
    document = prepared.document
    content = _insert_document(sql, sums, prepared, built=_built(prepared, config))
    for name, origin in names.items():
        insert_name(sql, sums, content, name, origin, document)
    _insert_sentences(sql, sums, content, prepared)
    node_rows = insert_nodes(sql, sums, content, prepared, {})
    _insert_blobs(sql, sums, content, prepared, node_rows, config)
    _count_nodes(sql, content)
    return content


def insert_name(
    sql: sqlite3.Connection,
    sums: Checksums,
    content: int,
    name: str,
    origin: str,
    document: Document | None = None,
) -> None:
    """Write one name: a path, or the id of a user's Document, which keeps its own file name."""
    file_name, file_path = base_name(name), name
    own = (printable(document.id_), document.metadata.get("file_path")) if document else ()
    if document is not None and name in own:
        file_name = str(document.metadata.get("file_name", ""))
        file_path = str(document.metadata.get("file_path", ""))
    sql.execute(
        "INSERT INTO names (name, origin, content, file_name, file_path, checksum)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            name,
            origin,
            content,
            file_name,
            file_path,
            name_checksum(sums, content, name, origin, file_name, file_path),
        ),
    )


def extend(
    sql: sqlite3.Connection,
    sums: Checksums,
    content: int,
    prepared: Prepared,
    config: IndexConfig,
) -> None:
    """Add what a content does not have yet; the caller seals it."""
    rows = sql.execute(
        "SELECT n.node_id, n.node, n.kind, n.passage, p.start, p.stop"
        " FROM nodes n JOIN nodes p ON p.node = n.passage WHERE n.content = ?",
        (content,),
    )
    here = {unpack_id(node_id): NodeRow(*place) for node_id, *place in rows.fetchall()}
    node_rows = here | insert_nodes(sql, sums, content, prepared, here)
    if read_sentences(sql, sums, content, 0, 1) is None:
        _insert_sentences(sql, sums, content, prepared)
    _insert_blobs(sql, sums, content, prepared, node_rows, config)
    (built,) = sql.execute("SELECT built FROM contents WHERE content = ?", (content,)).fetchone()
    sql.execute(
        "UPDATE contents SET built = ? WHERE content = ?",
        (_dump(sorted({*json.loads(built), *_built(prepared, config)})), content),
    )
    _count_nodes(sql, content)


def delete(sql: sqlite3.Connection, content: int) -> int:
    """Remove every trace of a content: nodes, vectors, words, pages, text, names.

    Returns the digest that it had.
    """
    (digest,) = sql.execute(
        "SELECT checksum FROM contents WHERE content = ?", (content,)
    ).fetchone()
    blobs.release_terms(sql, content)
    for table in _TABLES:
        sql.execute(f"DELETE FROM {table} WHERE content = ?", (content,))  # noqa: S608
    return int(digest)


def _insert_sentences(
    sql: sqlite3.Connection, sums: Checksums, content: int, prepared: Prepared
) -> None:
    if prepared.sentences is not None:
        write_sentences(sql, sums, content, len(prepared.document.text), prepared.sentences)


def _built(prepared: Prepared, config: IndexConfig) -> list[str]:
    if prepared.built is not None:
        return sorted(prepared.built)
    return sorted(
        [
            *config.kinds,
            *(f"{kind}:vectors" for kind in config.vector_kinds),
            *(f"{kind}:words" for kind in config.word_kinds),
        ]
    )


def _insert_document(
    sql: sqlite3.Connection, sums: Checksums, prepared: Prepared, built: Sequence[str]
) -> int:
    document, text = prepared.document, prepared.document.text
    page_map: Sequence[Mapping[str, Any]] = document.metadata.get("page_map") or []
    own = {key: value for key, value in document.metadata.items() if key not in DOCUMENT_KEYS}
    reader = str(document.metadata.get("reader", ""))
    cursor = sql.execute(
        "INSERT INTO contents (content_hash, document_id, title, reader, fingerprint, bytes,"
        " length, pages, blank_pages, counts, built, origin, metadata)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, ?, ?)",
        (
            prepared.content_hash,
            document.id_,
            str(document.metadata.get("title", "")),
            reader,
            prepared.fingerprint or reader,
            prepared.bytes,
            len(text),
            len(page_map),
            _dump(blank_pages(page_map)),
            _dump(built),
            prepared.origin,
            _dump(own),
        ),
    )
    content = cursor.lastrowid
    if content is None:
        raise StoreError("the database gave no row number for a content")
    sql.executemany(
        "INSERT INTO pages (content, position, number, label, start, stop, raw, raw_checksum,"
        " checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [_page(sums, content, *row) for row in page_rows(page_map, text)],
    )
    sql.executemany(
        "INSERT INTO blocks (content, start, stop, text, checksum) VALUES (?, ?, ?, ?, ?)",
        [(content, *block, sums.text(content, *block)) for block in split_blocks(text)],
    )
    return content


def _page(
    sums: Checksums,
    content: int,
    position: int,
    number: int | None,
    label: str,
    start: int,
    stop: int,
    raw: bytes | None,
) -> tuple[object, ...]:
    raw_checksum = None if raw is None else sums.blobs((content, position), raw)
    row = (content, position, number, label, start, stop)
    return (*row, raw, raw_checksum, sums.row(*row, raw_checksum))


def _insert_blobs(
    sql: sqlite3.Connection,
    sums: Checksums,
    content: int,
    prepared: Prepared,
    node_rows: Mapping[str, NodeRow],
    config: IndexConfig,
) -> None:
    for kind, (node_ids, matrix) in prepared.vectors.items():
        rows = [(row.row, row.passage) for row in _rows_of(node_ids, node_rows)]
        blobs.write_vectors(
            sql, sums, content, (kind_number(sql, kind), kind), rows, matrix, config.dimension
        )
    by_kind: dict[int, list[tuple[NodeRow, Mapping[str, int]]]] = {}
    for node_id, counts in prepared.terms.items():
        (row,) = _rows_of([node_id], node_rows)
        by_kind.setdefault(row.kind, []).append((row, counts))
    ready = kind_number(sql, "passage")
    if ready in by_kind:
        # A user's ready passage is searched as the parents are.
        parent = kind_number(sql, "parent")
        by_kind[parent] = by_kind.get(parent, []) + by_kind.pop(ready)
    for name, counted in prepared.lists.items():
        listed = _rows_of(counted, node_rows)
        by_kind[kind_number(sql, name)] = list(zip(listed, counted.values(), strict=True))
    kinds = dict(sql.execute("SELECT kind, name FROM kinds").fetchall())
    for number, entries in by_kind.items():
        rows = [(row.row, row.passage) for row, _ in entries]
        of_rows = [counts for _, counts in entries]
        blobs.write_words(sql, sums, content, (number, kinds[number]), rows, of_rows)


def _rows_of(node_ids: Iterable[str], node_rows: Mapping[str, NodeRow]) -> list[NodeRow]:
    try:
        return [node_rows[node_id] for node_id in node_ids]
    except KeyError as error:
        raise StoreError(
            f"a vector or terms are given for {error}, which is not a node of this content"
        ) from None


def _count_nodes(sql: sqlite3.Connection, content: int) -> None:
    rows = sql.execute(
        "SELECT name, count(*) FROM nodes JOIN kinds USING (kind) WHERE content = ? GROUP BY kind",
        (content,),
    )
    counts: Counter[str] = Counter(dict(rows.fetchall()))
    sql.execute(
        "UPDATE contents SET counts = ? WHERE content = ?",
        (_dump(dict(sorted(counts.items()))), content),
    )


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
