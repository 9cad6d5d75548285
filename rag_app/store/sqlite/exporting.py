"""Reading a whole content back as it was written, to write it into another index."""

from __future__ import annotations

import sqlite3
from collections import defaultdict

import numpy as np

from pipelines.analysers import FURTHER
from rag_app.store.array_types import Vector
from rag_app.store.protocol import Prepared
from rag_app.store.sqlite import blobs
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.node_reader import NodeReader
from rag_app.store.sqlite.row_cache import unpacked
from rag_app.store.sqlite.sealing import check_content, check_rows
from rag_app.store.sqlite.source_rows import read_sources

_Terms = dict[str, dict[str, int]]  # node id → term → how often


def export_content(
    sql: sqlite3.Connection, sums: Checksums, content: int, reader: NodeReader
) -> Prepared:
    """Return document, nodes, vectors and terms of one content, with its names.

    Raises:
        IndexDamagedError: something of it is not as it was written.
    """
    check_content(sql, sums, content)
    check_rows(sql, sums, content)
    (source,) = read_sources(sql, content)
    ids = unpacked(
        sql.execute("SELECT node, node_id FROM nodes WHERE content = ?", (content,)).fetchall()
    )
    origins = sql.execute(
        "SELECT name, origin FROM names WHERE content = ? ORDER BY name_row", (content,)
    )
    terms, lists = _terms(sql, sums, content, ids)
    return Prepared(
        names=source.names,
        document=reader.document(content),
        nodes=reader.of_content(content),
        vectors=_vectors(sql, sums, content, ids),
        terms=terms,
        lists=lists,
        sentences=reader.sentences(content, 0, source.length),
        fingerprint=source.fingerprint,
        built=source.built,
        bytes=source.bytes,
        origin=source.origin,
        origins=dict(origins.fetchall()),
    )


def export_text(
    sql: sqlite3.Connection, sums: Checksums, content: int, reader: NodeReader
) -> Prepared:
    """Return one content without what is searched, which is made from its text again.

    Raises:
        IndexDamagedError: its text, pages, nodes or names are not as they were written.
    """
    check_content(sql, sums, content)
    (source,) = read_sources(sql, content)
    origins = sql.execute(
        "SELECT name, origin FROM names WHERE content = ? ORDER BY name_row", (content,)
    )
    nodes = reader.of_content(content)
    if len(nodes) != sum(source.nodes.values()):
        raise sums.damaged(f"{len(nodes)} of {sum(source.nodes.values())} nodes are there")
    return Prepared(
        names=source.names,
        document=reader.document(content),
        nodes=nodes,
        vectors={},
        terms={},
        fingerprint=source.fingerprint,
        built=frozenset(one for one in source.built if ":" not in one),
        bytes=source.bytes,
        origin=source.origin,
        origins=dict(origins.fetchall()),
    )


def _vectors(
    sql: sqlite3.Connection, sums: Checksums, content: int, ids: dict[int, str]
) -> dict[str, tuple[list[str], Vector]]:
    found: dict[str, list[tuple[list[str], Vector]]] = defaultdict(list)
    for blob, kind in _blobs(sql, "vectors", content):
        segment = blobs.read_vectors(sql, sums, blob)
        found[kind].append(([ids[row] for row in segment.nodes.tolist()], segment.matrix))
    return {
        kind: (
            [node_id for node_ids, _ in pieces for node_id in node_ids],
            np.concatenate([matrix for _, matrix in pieces]),
        )
        for kind, pieces in found.items()
    }


def _terms(
    sql: sqlite3.Connection, sums: Checksums, content: int, ids: dict[int, str]
) -> tuple[_Terms, dict[str, _Terms]]:
    """Return the terms of the nodes, and those of each further list."""
    terms: _Terms = {}
    lists: dict[str, _Terms] = {}
    for blob, kind in _blobs(sql, "words", content):
        found = lists.setdefault(kind, {}) if kind in FURTHER else terms
        segment = blobs.read_words(sql, sums, blob)
        words = blobs.read_vocabulary(sql, sums, blob)
        nodes = [ids[row] for row in segment.nodes.tolist()]
        found.update((node_id, {}) for node_id in nodes)
        for term in segment.terms.tolist():
            entries, counts = segment.postings(term) or ((), ())
            for entry, count in zip(entries, counts, strict=True):
                found[nodes[entry]][words[term]] = int(count)
    return terms, lists


def _blobs(sql: sqlite3.Connection, table: str, content: int) -> list[tuple[int, str]]:
    rows = sql.execute(
        f"SELECT part, name FROM {table} JOIN kinds USING (kind)"  # noqa: S608
        " WHERE content = ? ORDER BY part",
        (content,),
    )
    return rows.fetchall()
