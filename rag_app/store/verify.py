"""Every link of an index, checked; what is wrong is said, nothing is changed."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from rag_app.store import derived, parts
from rag_app.store.codec import unpack_id, unpack_text
from rag_app.store.config import load_config
from rag_app.store.protocol import Finding, IndexConfig
from rag_app.store.segments import Segment, VectorSegment, WordSegment, pieces_of
from rag_app.store.sentences import count_sentences, has_sentences, read_sentences

_MOST = 20  # findings of one check that are listed; the rest is counted
_UNIT = 1e-3

# Each query returns what is wrong: a text per finding.
_LINKS = {
    "name→content": "SELECT name FROM names WHERE content NOT IN (SELECT content FROM contents)",
    "content→name": "SELECT content_hash FROM contents"
    " WHERE content NOT IN (SELECT content FROM names)",
    "page→document": "SELECT 'page ' || position || ' of content ' || content FROM pages"
    " WHERE content NOT IN (SELECT content FROM contents)",
    "page→text": "SELECT 'page ' || position || ' of ' || content_hash FROM pages"
    " JOIN contents USING (content) WHERE start > stop OR start < 0 OR stop > length",
    "node→document": "SELECT node_id FROM nodes"
    " WHERE content NOT IN (SELECT content FROM contents)",
    "node→kind": "SELECT node_id FROM nodes WHERE kind NOT IN (SELECT kind FROM kinds)",
    "child→parent": "SELECT n.node_id FROM nodes n LEFT JOIN nodes p ON p.node = n.passage"
    " WHERE p.node IS NULL OR p.passage <> p.node OR p.content <> n.content",
    "span→text": "SELECT node_id FROM nodes JOIN contents USING (content)"
    " WHERE (start IS NULL) <> (stop IS NULL) OR (start IS NULL AND text IS NULL)"
    " OR start < 0 OR start > stop OR stop > length",
    "vector→content": "SELECT 'part ' || part FROM vectors"
    " WHERE content NOT IN (SELECT content FROM contents)",
    "words→content": "SELECT 'part ' || part FROM words"
    " WHERE content NOT IN (SELECT content FROM contents)",
}


def verify_index(sql: sqlite3.Connection, folder: Path) -> list[Finding]:
    """Return what is wrong with the index that the transaction on ``sql`` sees."""
    (config,) = sql.execute("SELECT config FROM state").fetchone()
    checks: dict[str, Callable[[], Iterator[str]]] = {
        "database": lambda: _integrity(sql),
        **{name: _query(sql, statement) for name, statement in _LINKS.items()},
        "document→text": lambda: _blocks(sql),
        "sentence→text": lambda: _sentences(sql),
        "page→raw text": lambda: _raw(sql),
        "content→nodes": lambda: _counts(sql),
        "vector→node": lambda: _vectors(sql, load_config(config).dimension),
        "words→node": lambda: _words(sql),
        "words→term": lambda: _terms(sql),
        "node→vector": lambda: _complete(sql, load_config(config)),
        "derived file→generation": lambda: _derived(sql, folder),
    }
    return [finding for name, check in checks.items() for finding in _listed(name, check())]


def _listed(name: str, messages: Iterator[str]) -> list[Finding]:
    found: list[str] = []
    try:
        found.extend(messages)
    except (ValueError, IndexError, TypeError) as error:  # numbers that fit together nowhere
        found.append(f"could not be checked to the end: {error}")
    listed = [Finding(name, message) for message in found[:_MOST]]
    if len(found) > _MOST:
        listed.append(Finding(name, f"and {len(found) - _MOST} more"))
    return listed


def _query(sql: sqlite3.Connection, statement: str) -> Callable[[], Iterator[str]]:
    def run() -> Iterator[str]:
        for (value,) in sql.execute(statement):
            yield unpack_id(value)

    return run


def _integrity(sql: sqlite3.Connection) -> Iterator[str]:
    for (message,) in sql.execute(f"PRAGMA integrity_check({_MOST})"):
        if message != "ok":
            yield message


def _blocks(sql: sqlite3.Connection) -> Iterator[str]:
    """Slices of a document's text follow one another without gap, to its length."""
    for content, name, length in sql.execute(
        "SELECT content, content_hash, length FROM contents"
    ).fetchall():
        at = 0
        for start, stop, text in sql.execute(
            "SELECT start, stop, text FROM blocks WHERE content = ? ORDER BY start", (content,)
        ):
            if start != at or stop - start != len(text):
                yield f"{name}: the text is not whole at character {at}"
            at = stop
        if at != length:
            yield f"{name}: {at} of {length} characters are there"


def _sentences(sql: sqlite3.Connection) -> Iterator[str]:
    """Sentences that are noted begin one after the other, within the text of a content."""
    if not has_sentences(sql):
        return
    for (content,) in sql.execute("SELECT DISTINCT content FROM noted_sentences").fetchall():
        row = sql.execute("SELECT length FROM contents WHERE content = ?", (content,)).fetchone()
        if row is None:
            yield f"content {content} is not here, its sentences are"
            continue
        try:
            noted = read_sentences(sql, content, 0, row[0])
        except ValueError as error:
            yield f"the sentences of content {content} do not read: {error}"
            continue
        starts = [] if noted is None else noted.starts.tolist()
        if starts != sorted(set(starts)) or count_sentences(sql, content) != len(starts):
            yield f"the sentences of content {content} do not follow one another in its text"


def _raw(sql: sqlite3.Connection) -> Iterator[str]:
    for content, position, blob in sql.execute(
        "SELECT content, position, raw FROM pages WHERE raw IS NOT NULL"
    ):
        try:
            unpack_text(blob)
        except (zlib.error, ValueError, TypeError) as error:
            yield f"page {position} of content {content} does not read: {error}"


def _counts(sql: sqlite3.Connection) -> Iterator[str]:
    for content, name, counts in sql.execute(
        "SELECT content, content_hash, counts FROM contents"
    ).fetchall():
        rows = sql.execute(
            "SELECT name, count(*) FROM nodes JOIN kinds USING (kind) WHERE content = ?"
            " GROUP BY kind",
            (content,),
        )
        found = dict(rows.fetchall())
        if found != json.loads(counts):
            yield f"{name}: {json.loads(counts)} nodes are noted, {found} are there"


def _vectors(sql: sqlite3.Connection, dimension: int) -> Iterator[str]:
    for (part,) in sql.execute("SELECT part FROM vectors").fetchall():
        try:
            segment = parts.read_vectors(sql, part)
        except ValueError as error:
            yield f"part {part} does not read: {error}"
            continue
        yield from _nodes_of(sql, "vectors", part, segment)
        if segment.matrix.shape != (segment.rows, dimension):
            yield f"part {part}: shape {segment.matrix.shape}, not {dimension} numbers a vector"
        elif not np.all(np.abs(np.linalg.norm(segment.matrix, axis=1) - 1.0) < _UNIT):
            yield f"part {part} has a vector that is not of unit length, or not finite"


def _words(sql: sqlite3.Connection) -> Iterator[str]:
    for (part,) in sql.execute("SELECT part FROM words").fetchall():
        try:
            segment = parts.read_words(sql, part)
        except ValueError as error:
            yield f"part {part} does not read: {error}"
            continue
        yield from _nodes_of(sql, "words", part, segment)
        lengths = np.bincount(segment.entries, weights=segment.counts, minlength=segment.rows)
        if len(lengths) != segment.rows or not np.array_equal(lengths, segment.lengths):
            yield f"part {part}: the counts do not add up to the lengths"


def _nodes_of(sql: sqlite3.Connection, table: str, part: int, segment: Segment) -> Iterator[str]:
    """The nodes of a part are there, of its content, and lead where the part says."""
    (content,) = sql.execute(
        f"SELECT content FROM {table} WHERE part = ?",  # noqa: S608
        (part,),
    ).fetchone()
    rows = sql.execute("SELECT node, passage FROM nodes WHERE content = ?", (content,))
    known = dict(rows.fetchall())
    for node, passage in zip(segment.nodes.tolist(), segment.passages.tolist(), strict=True):
        if node not in known:
            yield f"part {part} names node {node}, which its content does not hold"
        elif known[node] != passage:
            yield f"part {part} leads node {node} to {passage}, the node itself to {known[node]}"


def _terms(sql: sqlite3.Connection) -> Iterator[str]:
    """Each term is there, and used by as many parts as is noted."""
    uses: dict[int, int] = {}
    for (part,) in sql.execute("SELECT part FROM words").fetchall():
        for term in parts.read_words(sql, part).terms.tolist():
            uses[term] = uses.get(term, 0) + 1
    noted = dict(sql.execute("SELECT term_id, uses FROM terms").fetchall())
    for term in uses.keys() | noted.keys():
        if uses.get(term) != noted.get(term):
            yield f"term {term} is used {uses.get(term, 0)} times, noted {noted.get(term, 0)}"


def _complete(sql: sqlite3.Connection, config: IndexConfig) -> Iterator[str]:
    """Every node that must have a vector has one (its script is known to the model)."""
    known = None if "*" in config.scripts else {*config.scripts, "none", ""}
    for kind in config.vector_kinds:
        searched = ("parent", "passage") if kind == "parent" else (kind, kind)
        have: set[int] = set()
        for (part,) in sql.execute(
            "SELECT part FROM vectors JOIN kinds USING (kind) WHERE name = ?", (kind,)
        ).fetchall():
            have.update(parts.read_rows(sql, part).nodes.tolist())
        for node, node_id, script, built in sql.execute(
            "SELECT node, node_id, script, built FROM nodes JOIN kinds USING (kind)"
            " JOIN contents USING (content) WHERE name IN (?, ?)",
            searched,
        ):
            due = f"{kind}:vectors" in json.loads(built) and (known is None or script in known)
            if due and node not in have:
                yield f"node {unpack_id(node_id)} of kind {kind} has no vector"


def _derived(sql: sqlite3.Connection, folder: Path) -> Iterator[str]:
    """Each file reads whole, and holds for its live parts what the database holds."""
    for file, how in sql.execute("SELECT file, how FROM derived").fetchall():
        opener = derived.open_vectors if how == "vectors" else derived.open_words
        try:
            segment = opener(folder / file, check=True)
        except (OSError, ValueError) as error:
            yield f"{error} (it is not used; the next ingest builds it again)"
            continue
        rows = sql.execute(f"SELECT part FROM {how}")  # noqa: S608
        for piece in pieces_of([segment], {part for (part,) in rows.fetchall()}):
            if not _same(sql, segment, piece.part):
                yield f"{file}: part {piece.part} is not as in the database"


def _same(sql: sqlite3.Connection, segment: Segment, part: int) -> bool:
    from rag_app.store.segments import join_vectors, join_words

    if isinstance(segment, VectorSegment):
        ours, truth = join_vectors([segment], {part}), parts.read_vectors(sql, part)
        return np.array_equal(ours.nodes, truth.nodes) and np.array_equal(ours.matrix, truth.matrix)
    if isinstance(segment, WordSegment):
        theirs, words = join_words([segment], {part}), parts.read_words(sql, part)
        return all(
            np.array_equal(getattr(theirs, name), getattr(words, name))
            for name in ("nodes", "lengths", "terms", "starts", "entries", "counts")
        )
    return False
