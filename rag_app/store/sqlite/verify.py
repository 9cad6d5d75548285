"""Checks every link of an index and reports what is wrong; changes nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from pipelines.errors import IndexDamagedError
from rag_app.store.config import load_config
from rag_app.store.engine.array_files import read_info
from rag_app.store.engine.segments import Segment, VectorSegment, WordSegment, extents_of
from rag_app.store.protocol import Finding, IndexConfig
from rag_app.store.sqlite import blobs, derived
from rag_app.store.sqlite.checksums import Checksums, repair_command
from rag_app.store.sqlite.codec import unpack_id, unpack_text
from rag_app.store.sqlite.connect import of_sqlite
from rag_app.store.sqlite.schema import DERIVED, create_tables
from rag_app.store.sqlite.sealing import content_digest, rows_digest
from rag_app.store.sqlite.sentence_table import count_sentences, read_sentences
from rag_app.store.sqlite.state import State, read_sequences, read_state

_MAX_FINDINGS = 20  # of one check that are listed; the rest is counted
_MAX_LENGTH_ERROR = 1e-3

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
    "vector→content": "SELECT 'blob ' || part FROM vectors"
    " WHERE content NOT IN (SELECT content FROM contents)",
    "words→content": "SELECT 'blob ' || part FROM words"
    " WHERE content NOT IN (SELECT content FROM contents)",
}


Checks = Mapping[str, Callable[[], Iterator[str]]]


def verify_index(
    sql: sqlite3.Connection, folder: Path, newest: Callable[[], tuple[int, set[str]]]
) -> list[Finding]:
    """Return what is wrong with the index that the transaction on ``sql`` sees.

    Args:
        sql: a connection, in a transaction.
        folder: the index's.
        newest: returns the generation, and the derived files that are listed, by now: a
            writer may have gone on, and have replaced files that this transaction lists.
    """
    checks = {"derived file→generation": lambda: _derived(sql, folder, newest)}
    return [*verify_tables(sql, folder), *_run(checks, folder)]


def verify_tables(sql: sqlite3.Connection, folder: Path) -> list[Finding]:
    """Return what is wrong with the database alone."""
    found = _run({"state": lambda: _state(sql, folder)}, folder)
    if found:  # without its identity nothing can be compared
        return [*found, *_run({"database": lambda: _integrity(sql)}, folder)]
    state = read_state(sql, folder)
    sums, config = Checksums.of(state.identity, folder), load_config(state.config)
    names = _ContentNames(sql)
    return _run(
        {
            "database": lambda: _integrity(sql),
            "tables": lambda: _tables(sql),
            "state→contents": lambda: _held(sql, state),
            **{name: _query(sql, statement) for name, statement in _LINKS.items()},
            "content→checksum": lambda: _contents(sql, sums, names),
            "name→checksum": lambda: _names(sql, sums),
            "page→checksum": lambda: _pages(sql, sums, names),
            "node→checksum": lambda: _nodes(sql, sums, names),
            "document→text": lambda: _blocks(sql, sums, names),
            "sentence→text": lambda: _sentences(sql, sums, names),
            "content→nodes": lambda: _counts(sql),
            "vector→node": lambda: _vectors(sql, sums, config.dimension),
            "words→node": lambda: _words(sql, sums),
            "words→term": lambda: _terms(sql, sums),
            "node→vector": lambda: _complete(sql, config),
        },
        folder,
    )


class _ContentNames:
    """The first name of each content, for messages."""

    def __init__(self, sql: sqlite3.Connection) -> None:
        self._sql = sql
        self._names: dict[int, str] | None = None

    def __getitem__(self, content: int) -> str:
        if self._names is None:
            try:
                rows = self._sql.execute("SELECT content, name FROM names ORDER BY name_row DESC")
                self._names = dict(rows.fetchall())
            except sqlite3.DatabaseError:  # which a check of its own finds
                self._names = {}
        return self._names.get(content, f"content {content}")


def _run(checks: Checks, folder: Path) -> list[Finding]:
    hint = f"repair it with `{repair_command(folder)}`"
    return [finding for name, check in checks.items() for finding in _listed(name, check(), hint)]


def _listed(name: str, messages: Iterator[str], hint: str) -> list[Finding]:
    found: list[str] = []
    try:
        found.extend(messages)
    except sqlite3.Error as error:
        if not isinstance(of_sqlite(error, Path()), IndexDamagedError):
            raise
        found.append(f"could not be checked to the end: {error}")
    except IndexDamagedError as error:
        found.append(error.message)
    except Exception as error:  # whatever values raise that fit together nowhere
        found.append(f"could not be checked to the end: {error!r}")
    listed = [Finding(name, message, hint) for message in found[:_MAX_FINDINGS]]
    if len(found) > _MAX_FINDINGS:
        listed.append(Finding(name, f"and {len(found) - _MAX_FINDINGS} more", hint))
    return listed


def _query(sql: sqlite3.Connection, statement: str) -> Callable[[], Iterator[str]]:
    def run() -> Iterator[str]:
        for (value,) in sql.execute(statement):
            yield unpack_id(value)

    return run


def _integrity(sql: sqlite3.Connection) -> Iterator[str]:
    for (message,) in sql.execute(f"PRAGMA integrity_check({_MAX_FINDINGS})"):
        if message != "ok":
            yield message


def _state(sql: sqlite3.Connection, folder: Path) -> Iterator[str]:
    """The state is as it was written, and its configuration reads."""
    load_config(read_state(sql, folder).config)
    yield from ()


def _tables(sql: sqlite3.Connection) -> Iterator[str]:
    """Tables and indexes are those that this program makes."""
    statement = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        create_tables(fresh, "")
        expected = dict(fresh.execute(statement).fetchall())
    finally:
        fresh.close()
    found = dict(sql.execute(statement).fetchall())
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            yield f"the definition of {name} is not that of this program"


def _held(sql: sqlite3.Connection, state: State) -> Iterator[str]:
    """All contents are there, and no other ones; no number is given a second time."""
    held = 0
    for (digest,) in sql.execute("SELECT checksum FROM contents"):
        held ^= digest
    if held != state.held:
        yield "a content is missing, or is there that does not belong to this generation"
    if read_sequences(sql) != state.sequences:
        yield "the last row numbers given are not those of this generation"


def _contents(sql: sqlite3.Connection, sums: Checksums, names: _ContentNames) -> Iterator[str]:
    """Title, metadata and names of each content are as written, and no row of it is missing."""
    rows = sql.execute("SELECT content, checksum, rows_digest FROM contents").fetchall()
    for content, checksum, digest in rows:
        if checksum != content_digest(sql, sums, content):
            yield f"the record of {names[content]} (title, names, numbers) was changed"
        if digest != rows_digest(sql, content):
            yield f"rows of {names[content]} are missing, or do not belong to it"


def _names(sql: sqlite3.Connection, sums: Checksums) -> Iterator[str]:
    for *values, checksum in sql.execute(
        "SELECT content, name, origin, file_name, file_path, checksum FROM names"
    ):
        if checksum != sums.row(*values):
            yield f"the name {values[1]} of content {values[0]} was changed"


def _pages(sql: sqlite3.Connection, sums: Checksums, names: _ContentNames) -> Iterator[str]:
    """Number, label and place of each page, and its raw text, are as written."""
    for content, position, *place, checksum, raw in sql.execute(
        "SELECT content, position, number, label, start, stop, raw_checksum, checksum, raw"
        " FROM pages"
    ):
        if checksum != sums.row(content, position, *place):
            yield f"page {place[0]} of {names[content]} was changed"
        raw_checksum = place[-1]
        found = None if raw is None else sums.blobs((content, position), raw)
        if found != raw_checksum:
            yield f"the raw text of page {place[0]} of {names[content]} was changed"
        elif raw is not None:
            unpack_text(raw)


def _nodes(sql: sqlite3.Connection, sums: Checksums, names: _ContentNames) -> Iterator[str]:
    for *values, checksum in sql.execute(
        "SELECT node_id, content, name, passage, node, start, stop, script, heading,"
        " window_start, window_end, text, extra, checksum FROM nodes JOIN kinds USING (kind)"
    ):
        if checksum != sums.row(*values):
            yield f"node {values[4]} of {names[values[1]]} was changed"


def _blocks(sql: sqlite3.Connection, sums: Checksums, names: _ContentNames) -> Iterator[str]:
    """Slices of a document's text are as written, and follow one another to its length."""
    for content, length in sql.execute("SELECT content, length FROM contents").fetchall():
        name, at = names[content], 0
        for start, stop, text, checksum in sql.execute(
            "SELECT start, stop, text, checksum FROM blocks WHERE content = ? ORDER BY start",
            (content,),
        ):
            if start != at or stop - start != len(text):
                yield f"the text of {name} is not whole at character {at}"
            if checksum != sums.text(content, start, stop, text):
                yield f"the text of {name} was changed between characters {start} and {stop}"
            at = stop
        if at != length:
            yield f"{at} of {length} characters of {name} are there"


def _sentences(sql: sqlite3.Connection, sums: Checksums, names: _ContentNames) -> Iterator[str]:
    """Sentences of the table begin one after the other, within the text of a content."""
    for (content,) in sql.execute("SELECT DISTINCT content FROM noted_sentences").fetchall():
        row = sql.execute("SELECT length FROM contents WHERE content = ?", (content,)).fetchone()
        if row is None:
            yield f"content {content} is not here, its sentences are"
            continue
        try:
            table = read_sentences(sql, sums, content, 0, row[0])
        except (ValueError, IndexDamagedError) as error:
            yield f"the sentences of {names[content]} do not read: {_message(error)}"
            continue
        starts = [] if table is None else table.starts.tolist()
        if starts != sorted(set(starts)) or count_sentences(sql, content) != len(starts):
            yield f"the sentences of {names[content]} do not follow one another in its text"


def _message(error: Exception) -> str:
    return error.message if isinstance(error, IndexDamagedError) else str(error)


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
            yield f"{name}: {json.loads(counts)} nodes are recorded, {found} are there"


def _vectors(sql: sqlite3.Connection, sums: Checksums, dimension: int) -> Iterator[str]:
    for (blob,) in sql.execute("SELECT part FROM vectors").fetchall():
        try:
            segment = blobs.read_vectors(sql, sums, blob)
        except (ValueError, IndexDamagedError) as error:
            yield f"blob {blob} does not read: {_message(error)}"
            continue
        yield from _nodes_of(sql, "vectors", blob, segment)
        if segment.matrix.shape != (segment.rows, dimension):
            yield f"blob {blob}: shape {segment.matrix.shape}, not {dimension} numbers a vector"
        elif not np.all(np.abs(np.linalg.norm(segment.matrix, axis=1) - 1.0) < _MAX_LENGTH_ERROR):
            yield f"blob {blob} has a vector that is not of unit length, or not finite"


def _words(sql: sqlite3.Connection, sums: Checksums) -> Iterator[str]:
    for (blob,) in sql.execute("SELECT part FROM words").fetchall():
        try:
            segment = blobs.read_words(sql, sums, blob)
        except (ValueError, IndexDamagedError) as error:
            yield f"blob {blob} does not read: {_message(error)}"
            continue
        yield from _nodes_of(sql, "words", blob, segment)
        lengths = np.bincount(segment.entries, weights=segment.counts, minlength=segment.rows)
        if len(lengths) != segment.rows or not np.array_equal(lengths, segment.lengths):
            yield f"blob {blob}: the counts do not add up to the lengths"


def _nodes_of(sql: sqlite3.Connection, table: str, blob: int, segment: Segment) -> Iterator[str]:
    """The nodes of a blob are there, of its content, and lead where the blob says."""
    (content,) = sql.execute(
        f"SELECT content FROM {table} WHERE part = ?",  # noqa: S608
        (blob,),
    ).fetchone()
    rows = sql.execute("SELECT node, passage FROM nodes WHERE content = ?", (content,))
    known = dict(rows.fetchall())
    for node, passage in zip(segment.nodes.tolist(), segment.passages.tolist(), strict=True):
        if node not in known:
            yield f"blob {blob} names node {node}, which its content does not hold"
        elif known[node] != passage:
            yield f"blob {blob} leads node {node} to {passage}, the node itself to {known[node]}"


def _terms(sql: sqlite3.Connection, sums: Checksums) -> Iterator[str]:
    """Each term is there, as it was counted, and used by as many blobs as its row says."""
    uses: dict[int, int] = {}
    for (blob,) in sql.execute("SELECT part FROM words").fetchall():
        try:
            terms = blobs.read_words(sql, sums, blob).terms
        except (ValueError, IndexDamagedError):  # found above
            continue
        for term in terms.tolist():
            uses[term] = uses.get(term, 0) + 1
        try:
            blobs.read_vocabulary(sql, sums, blob)
        except IndexDamagedError as error:
            yield error.message
    recorded = dict(sql.execute("SELECT term_id, uses FROM terms").fetchall())
    for term in uses.keys() | recorded.keys():
        if uses.get(term) != recorded.get(term):
            yield f"term {term} is used {uses.get(term, 0)} times, recorded {recorded.get(term, 0)}"


def _complete(sql: sqlite3.Connection, config: IndexConfig) -> Iterator[str]:
    """Every node that must have a vector has one (its script is known to the model)."""
    known = None if "*" in config.scripts else {*config.scripts, "none", ""}
    for kind in config.vector_kinds:
        searched = ("parent", "passage") if kind == "parent" else (kind, kind)
        have: set[int] = set()
        for (blob,) in sql.execute(
            "SELECT part FROM vectors JOIN kinds USING (kind) WHERE name = ?", (kind,)
        ).fetchall():
            have.update(blobs.read_rows(sql, blob).nodes.tolist())
        for node, node_id, script, built in sql.execute(
            "SELECT node, node_id, script, built FROM nodes JOIN kinds USING (kind)"
            " JOIN contents USING (content) WHERE name IN (?, ?)",
            searched,
        ):
            due = f"{kind}:vectors" in json.loads(built) and (known is None or script in known)
            if due and node not in have:
                yield f"node {unpack_id(node_id)} of kind {kind} has no vector"


def _derived(
    sql: sqlite3.Connection, folder: Path, newest: Callable[[], tuple[int, set[str]]]
) -> Iterator[str]:
    """Each file reads whole, and holds for its live blobs what the database holds."""
    for file, fault in faults_of_files(sql, folder):
        # A writer may have replaced it since this transaction began.
        if (folder / file).exists() or file in newest()[1]:
            yield fault
    yield from _ahead(folder, sql, newest)


def faults_of_files(sql: sqlite3.Connection, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the derived files that are not as they were written, each with what is wrong."""
    sums = Checksums.at(sql)
    for listed in derived.all_files(sql):
        vectors = listed.info["how"] == "vectors"
        read = derived.vector_segment if vectors else derived.word_segment
        try:
            segment = listed.open(read, folder, check=True)
        except FileNotFoundError:
            yield listed.file, f"{listed.file} is not there"
            continue
        except (OSError, ValueError, TypeError, KeyError) as error:
            yield listed.file, f"{error} (it is not used)"
            continue
        rows = sql.execute(f"SELECT part FROM {listed.info['how']}")  # noqa: S608
        for extent in extents_of([segment], {blob for (blob,) in rows.fetchall()}):
            if not _same(sql, sums, segment, extent.blob):
                yield listed.file, f"{listed.file}: blob {extent.blob} is not as in the database"


def _ahead(
    folder: Path, sql: sqlite3.Connection, newest: Callable[[], tuple[int, set[str]]]
) -> Iterator[str]:
    """No derived file is of a later generation than the database: that would be an older copy."""
    (identity,) = sql.execute("SELECT identity FROM state").fetchone()
    for path in (folder / DERIVED).glob("*.arrays"):
        try:
            info = read_info(path)
        except (OSError, ValueError):  # what is not listed is not read
            continue
        made = info.get("generation", 0)
        if info.get("identity") == identity and made > (now := newest()[0]):
            yield (
                f"{path.name} was made of generation {made}, the database is of generation "
                f"{now}: its last changes are lost, or it is an older copy"
            )


def _same(sql: sqlite3.Connection, sums: Checksums, segment: Segment, blob: int) -> bool:
    from rag_app.store.engine.segments import join_vectors, join_words

    if isinstance(segment, VectorSegment):
        ours, truth = join_vectors([segment], {blob}), blobs.read_vectors(sql, sums, blob)
        return all(
            np.array_equal(getattr(ours, name), getattr(truth, name))
            for name in ("nodes", "passages", "matrix")
        )
    if isinstance(segment, WordSegment):
        theirs, words = join_words([segment], {blob}), blobs.read_words(sql, sums, blob)
        return all(
            np.array_equal(getattr(theirs, name), getattr(words, name))
            for name in ("nodes", "passages", "lengths", "terms", "starts", "entries", "counts")
        )
    return False
