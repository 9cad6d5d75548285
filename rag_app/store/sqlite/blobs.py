"""Blobs: the vectors, or the counted words, of one content and one kind.

A blob is written once and removed whole. Its nodes are ordered by passage, so
that the nodes of one passage lie together.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from pipelines.errors import EmbeddingError
from rag_app.store.array_types import Ints, Vector
from rag_app.store.engine.segments import Segment, VectorSegment, WordSegment
from rag_app.store.protocol import How
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.codec import pack_ints, unpack_ints

Kind = tuple[int, str]  # number and name
MAX_BLOB_ROWS = 4096  # so that each stays small enough to be read whole
_MAX_LENGTH_ERROR = 1e-3  # how far from 1 the length of a vector may lie


def write_vectors(
    sql: sqlite3.Connection,
    sums: Checksums,
    content: int,
    kind: Kind,
    rows: Sequence[tuple[int, int]],
    matrix: Vector,
    dimension: int,
) -> None:
    """Write the vectors of nodes that have none yet.

    Args:
        sql: the writer's connection, in a transaction.
        sums: the index's.
        content: number of the content.
        kind: number and name of the kind.
        rows: (node row, passage row) of each vector.
        matrix: shape (len(rows), dimension), unit length.
        dimension: the index's.

    Raises:
        EmbeddingError: another shape, a number that is not finite, or not unit length.
    """
    _check(matrix, len(rows), dimension)
    nodes, passages = _columns(rows)
    here = _written(sql, "vectors", content, kind[0])
    order = _order(nodes, passages, here)
    for chosen in _cut(passages[order]):
        picked = order[chosen]
        blob = _next_blob(sql, "vectors")
        columns = (
            pack_ints(nodes[picked]),
            pack_ints(passages[picked]),
            np.ascontiguousarray(matrix[picked], dtype="<f4").tobytes(),
        )
        checksum = sums.blobs((blob, content, kind[1], len(picked)), *columns)
        sql.execute(
            "INSERT INTO vectors (part, content, kind, count, checksum, nodes, passages, matrix)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (blob, content, kind[0], len(picked), checksum, *columns),
        )


def read_vectors(sql: sqlite3.Connection, sums: Checksums, blob: int) -> VectorSegment:
    """Return one blob as a segment.

    Raises:
        IndexDamagedError: it is not as it was written.
    """
    nodes, passages, matrix = _checked_vectors(sql, sums, blob)
    return VectorSegment(
        blobs=np.array([blob], dtype=np.int64),
        ends=np.array([len(nodes)], dtype=np.int64),
        nodes=nodes,
        passages=passages,
        matrix=matrix,
    )


def read_rows(sql: sqlite3.Connection, blob: int) -> Segment:
    """Return one blob of vectors without its matrix; nothing of it is checked."""
    nodes, passages = sql.execute(
        "SELECT nodes, passages FROM vectors WHERE part = ?", (blob,)
    ).fetchone()
    rows = unpack_ints(nodes)
    return Segment(
        blobs=np.array([blob], dtype=np.int64),
        ends=np.array([len(rows)], dtype=np.int64),
        nodes=rows,
        passages=unpack_ints(passages),
    )


def read_matrix(sql: sqlite3.Connection, sums: Checksums, blob: int) -> Vector:
    """Return the vectors of one blob, shape (n, dimension).

    Raises:
        IndexDamagedError: the blob is not as it was written.
    """
    return _checked_vectors(sql, sums, blob)[2]


def _checked_vectors(
    sql: sqlite3.Connection, sums: Checksums, blob: int
) -> tuple[Ints, Ints, Vector]:
    content, kind, count, checksum, *columns = sql.execute(
        "SELECT content, (SELECT name FROM kinds k WHERE k.kind = v.kind), count, checksum,"
        " nodes, passages, matrix FROM vectors v WHERE part = ?",
        (blob,),
    ).fetchone()
    found = sums.blobs((blob, content, kind, count), *columns)
    sums.check(checksum, found, f"blob {blob} of the vectors of content {content}")
    nodes, passages, matrix = columns
    matrix = np.frombuffer(matrix, dtype="<f4").reshape(count, -1)
    return unpack_ints(nodes), unpack_ints(passages), matrix


def write_words(
    sql: sqlite3.Connection,
    sums: Checksums,
    content: int,
    kind: Kind,
    rows: Sequence[tuple[int, int]],
    counts: Sequence[Mapping[str, int]],
) -> None:
    """Write the counted terms of nodes that have none yet; ``counts`` goes with ``rows``."""
    nodes, passages = _columns(rows)
    order = _order(nodes, passages, _written(sql, "words", content, kind[0]))
    if not len(order):
        return
    chosen = [counts[index] for index in order]
    ids = _intern(sql, set().union(*chosen))
    sizes = [len(terms_of) for terms_of in chosen]
    table = np.empty((sum(sizes), 3), dtype=np.int64)
    table[:, 0] = np.fromiter(map(ids.__getitem__, chain.from_iterable(chosen)), np.int64)
    table[:, 1] = np.repeat(np.arange(len(chosen)), sizes)
    table[:, 2] = np.fromiter(chain.from_iterable(c.values() for c in chosen), np.int64)
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    terms, starts = np.unique(table[:, 0], return_index=True)
    columns = (
        pack_ints(nodes[order]),
        pack_ints(passages[order]),
        pack_ints([sum(terms_of.values()) for terms_of in chosen]),
        pack_ints(terms),
        pack_ints([*starts, len(table)]),
        table[:, 1].astype("<u4").tobytes(),
        table[:, 2].astype("<u4").tobytes(),
    )
    blob = _next_blob(sql, "words")
    vocabulary = sums.row(*sorted(ids, key=ids.__getitem__))
    checksum = sums.blobs((blob, content, kind[1], len(order), vocabulary), *columns)
    sql.execute(
        "INSERT INTO words (part, content, kind, count, vocabulary, checksum, nodes, passages,"
        " lengths, terms, starts, entries, counts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (blob, content, kind[0], len(order), vocabulary, checksum, *columns),
    )


def read_words(sql: sqlite3.Connection, sums: Checksums, blob: int) -> WordSegment:
    """Return one blob as a segment.

    Raises:
        IndexDamagedError: it is not as it was written.
    """
    content, kind, count, vocabulary, checksum, *columns = sql.execute(
        "SELECT content, (SELECT name FROM kinds k WHERE k.kind = w.kind), count, vocabulary,"
        " checksum, nodes, passages, lengths, terms, starts, entries, counts"
        " FROM words w WHERE part = ?",
        (blob,),
    ).fetchone()
    found = sums.blobs((blob, content, kind, count, vocabulary), *columns)
    sums.check(checksum, found, f"blob {blob} of the words of content {content}")
    nodes, passages, lengths, terms, starts, entries, counts = columns
    rows = unpack_ints(nodes)
    return WordSegment(
        blobs=np.array([blob], dtype=np.int64),
        ends=np.array([len(rows)], dtype=np.int64),
        nodes=rows,
        passages=unpack_ints(passages),
        lengths=unpack_ints(lengths),
        terms=unpack_ints(terms),
        starts=unpack_ints(starts),
        entries=np.frombuffer(entries, dtype="<u4"),
        counts=np.frombuffer(counts, dtype="<u4"),
    )


def read_vocabulary(sql: sqlite3.Connection, sums: Checksums, blob: int) -> dict[int, str]:
    """Return the terms that a blob of words holds, by number.

    Raises:
        IndexDamagedError: they are not the terms that were counted.
    """
    terms, stored = sql.execute(
        "SELECT terms, vocabulary FROM words WHERE part = ?", (blob,)
    ).fetchone()
    rows = sql.execute(
        "SELECT term_id, term FROM terms WHERE term_id IN (SELECT value FROM json_each(?))"
        " ORDER BY term_id",
        (json.dumps(unpack_ints(terms).tolist()),),
    )
    found = dict(rows.fetchall())
    sums.check(stored, sums.row(*found.values()), f"the list of terms of blob {blob}")
    return found


def live_blobs(sql: sqlite3.Connection, how: How, kind: int) -> dict[int, int]:
    """Return the blobs of a kind in this transaction, and how many rows each has."""
    rows = sql.execute(f"SELECT part, count FROM {how} WHERE kind = ?", (kind,))  # noqa: S608
    return dict(rows.fetchall())


def release_terms(sql: sqlite3.Connection, content: int) -> None:
    """Forget the terms that only this content used; its blobs go afterwards."""
    for (terms,) in sql.execute("SELECT terms FROM words WHERE content = ?", (content,)).fetchall():
        _release(sql, terms)
    forget_unused_terms(sql)


def delete_words(sql: sqlite3.Connection, blob: int) -> None:
    """Remove one blob of words; its terms stay until the unused ones are forgotten."""
    (terms,) = sql.execute("SELECT terms FROM words WHERE part = ?", (blob,)).fetchone()
    _release(sql, terms)
    sql.execute("DELETE FROM words WHERE part = ?", (blob,))


def forget_unused_terms(sql: sqlite3.Connection) -> None:
    """Remove the terms that no blob uses any more."""
    sql.execute("DELETE FROM terms WHERE uses <= 0")


def _release(sql: sqlite3.Connection, terms: bytes) -> None:
    sql.execute(
        "UPDATE terms SET uses = uses - 1 WHERE term_id IN (SELECT value FROM json_each(?))",
        (json.dumps(unpack_ints(terms).tolist()),),
    )


def find_terms(sql: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
    """Return the numbers of the terms that the index knows."""
    rows = sql.execute(
        "SELECT term, term_id FROM terms WHERE term IN (SELECT value FROM json_each(?))",
        (json.dumps(list(terms)),),
    )
    return dict(rows.fetchall())


def _intern(sql: sqlite3.Connection, terms: set[str]) -> dict[str, int]:
    ordered = sorted(terms)
    sql.executemany(
        "INSERT INTO terms (term, uses) VALUES (?, 1)"
        " ON CONFLICT (term) DO UPDATE SET uses = uses + 1",
        [(term,) for term in ordered],
    )
    return find_terms(sql, ordered)


def _next_blob(sql: sqlite3.Connection, table: str) -> int:
    """Return a number that no blob of this table ever had."""
    row = sql.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return int(row[0] if row else 0) + 1


def _columns(rows: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    table = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _written(sql: sqlite3.Connection, table: str, content: int, kind: int) -> Ints:
    stored = sql.execute(
        f"SELECT nodes FROM {table} WHERE content = ? AND kind = ?",  # noqa: S608
        (content, kind),
    ).fetchall()
    return np.concatenate([np.empty(0, np.int64), *(unpack_ints(nodes) for (nodes,) in stored)])


def _order(nodes: Ints, passages: Ints, here: Ints) -> Ints:
    """Return the positions of the rows to write, by passage and then by node."""
    order = np.lexsort((nodes, passages))
    return order[~np.isin(nodes[order], here)] if len(here) else order


def _cut(passages: Ints) -> list[slice]:
    """Cut into blobs of about ``MAX_BLOB_ROWS``, never inside a passage."""
    slices, start = [], 0
    while start < len(passages):
        stop = min(start + MAX_BLOB_ROWS, len(passages))
        if stop < len(passages):
            first = int(np.searchsorted(passages, passages[stop], side="left"))
            last = int(np.searchsorted(passages, passages[stop], side="right"))
            stop = first if first > start else last
        slices.append(slice(start, stop))
        start = stop
    return slices


def _check(matrix: npt.NDArray[np.float32], count: int, dimension: int) -> None:
    if matrix.shape != (count, dimension):
        raise EmbeddingError(
            f"vectors of shape {matrix.shape} were given for {count} nodes; "
            f"the index holds vectors of {dimension} numbers",
            hint="open the index with the embedding model it was made with",
        )
    norms = np.linalg.norm(matrix, axis=1)
    if not np.all(
        np.abs(norms - 1.0) < _MAX_LENGTH_ERROR
    ):  # also true of a number that is not finite
        raise EmbeddingError(
            "the embedding model gave a vector that is not of unit length, or not finite",
            hint="a vector of zeros or NaN often means a damaged model",
        )
