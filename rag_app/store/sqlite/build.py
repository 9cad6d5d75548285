"""Building derived files: once per run, at a cost that depends on what is new.

Each file covers some blobs. A run writes its new blobs into a new file and
merges smaller neighbours into it, so that there are at most about log2(n) files
and a blob is rewritten at most that often. The list of files is itself in the
database: one transaction switches from the old ones to the new one.

One base file with one delta file would be simpler, and write more: at 10,000 passages,
ten at a time, each row 33, 54 and 95 times where the delta is merged above .1, .25 and .5
of the base, 5 times by tiers, which are then 5 files on average and 9 at most
(rows are counted). A query over 20,000 passages takes 2.8 ms in one file, 1.10 times that in
two, 1.18 in three and 1.35 in five of falling sizes; opening with a first query 18 ms, and 1.08,
1.32 and 1.82 times that (``python -m benchmarks.store_tiers``). So two files in place of five
would save about 1 ms of a query and 12 ms of the first one, and write 6 to 19 times as much.
"""

from __future__ import annotations

import logging
import re
import secrets
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rag_app.store.array_types import Vector
from rag_app.store.config import load_config
from rag_app.store.engine.array_files import FileIdentity
from rag_app.store.engine.segments import Segment, WordSegment
from rag_app.store.protocol import How
from rag_app.store.sqlite import blobs, derived
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.derived import Arrays, DerivedFile
from rag_app.store.sqlite.folders import refuse_links, remove_derived
from rag_app.store.sqlite.schema import DERIVED
from rag_app.store.sqlite.state import read_state, write_state

_log = logging.getLogger(__name__)
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_-]")
_MIN_SIZE_RATIO = 2  # of a file to the new rows: with less it is merged with them
_MAX_REMOVED_SHARE = 0.2  # of the rows of a file; above it the file is written again


@dataclass(frozen=True)
class SegmentFiles:
    """How files of vectors, or of words, are read, and written from files and new blobs."""

    how: How
    read: Callable[[Arrays], Segment]
    write: Callable[
        [
            sqlite3.Connection,
            Path,
            Sequence[Segment],
            Sequence[int],
            Collection[int],
            Mapping[str, object],
        ],
        FileIdentity,
    ]


def _write_vectors(
    sql: sqlite3.Connection,
    path: Path,
    files: Sequence[Segment],
    fresh: Sequence[int],
    wanted: Collection[int],
    info: Mapping[str, object],
) -> FileIdentity:
    sums = Checksums.at(sql)
    rows = [blobs.read_rows(sql, blob) for blob in fresh]
    (config,) = sql.execute("SELECT config FROM state").fetchone()
    dimension = load_config(config).dimension

    def fetch(blob: int) -> Vector:
        return blobs.read_matrix(sql, sums, blob)

    return derived.write_vectors(path, [*files, *rows], wanted, fetch, dimension, info)


def _write_words(
    sql: sqlite3.Connection,
    path: Path,
    files: Sequence[Segment],
    fresh: Sequence[int],
    wanted: Collection[int],
    info: Mapping[str, object],
) -> FileIdentity:
    sums = Checksums.at(sql)
    known = [file for file in files if isinstance(file, WordSegment)]
    read = [blobs.read_words(sql, sums, blob) for blob in fresh]
    return derived.write_words(path, [*known, *read], wanted, info)


VECTORS = SegmentFiles("vectors", derived.vector_segment, _write_vectors)
WORDS = SegmentFiles("words", derived.word_segment, _write_words)


def build_derived(sql: sqlite3.Connection, folder: Path) -> None:
    """Bring the derived files up to the database; the caller holds the writer's lock.

    A failure (a full disk) is logged and leaves readers to read the database.
    """
    try:
        (folder / DERIVED).mkdir(exist_ok=True)
        refuse_links(folder)
        for (kind,) in sql.execute("SELECT kind FROM kinds ORDER BY kind").fetchall():
            _build(sql, folder, kind, VECTORS)
            _build(sql, folder, kind, WORDS)
        sweep(sql, folder)
    except (OSError, sqlite3.OperationalError) as error:
        _log.warning("derived files of %s were not built: %s", folder, error)


def drop_files(sql: sqlite3.Connection, folder: Path, files: Sequence[str]) -> None:
    """Remove files from the list of derived files: they are built anew from the database."""
    if files:
        _switch(sql, folder, files, None, 0)


def sweep(sql: sqlite3.Connection, folder: Path) -> None:
    """Remove the files that the database records as replaced, or as drafts of a killed run.

    Readers that have mapped them keep them.
    """
    files = [file for (file,) in sql.execute("SELECT file FROM unused_files")]
    if files:
        remove_derived(folder, files)
        sql.execute("DELETE FROM unused_files")


def _build(sql: sqlite3.Connection, folder: Path, kind: int, sort: SegmentFiles) -> None:
    live = blobs.live_blobs(sql, sort.how, kind)
    files, unusable = _open_all(sql, folder, kind, sort)
    covered = {blob for segment in files.values() for blob in segment.blobs.tolist()}
    new = sum(rows for blob, rows in live.items() if blob not in covered)
    merged = files_to_merge(files, live, new)
    gone = [*unusable, *merged]
    kept = {blob for name in files.keys() - set(merged) for blob in files[name].blobs.tolist()}
    wanted = {blob for blob in live if blob not in kept}
    if not wanted and not gone:
        return
    made = None
    if wanted:
        fresh = sorted(wanted - covered)
        made = _write(sql, folder, kind, sort, [files[old] for old in merged], fresh, wanted)
    _switch(sql, folder, gone, made, sum(live[blob] for blob in wanted))


def _write(
    sql: sqlite3.Connection,
    folder: Path,
    kind: int,
    sort: SegmentFiles,
    files: Sequence[Segment],
    fresh: Sequence[int],
    wanted: Collection[int],
) -> DerivedFile:
    name = _name(sql, sort.how, kind)
    identity, generation = sql.execute("SELECT identity, generation FROM state").fetchone()
    sql.execute("INSERT INTO unused_files (file) VALUES (?)", (name,))  # until it is complete
    info = derived.about(identity, sort.how, kind, generation)
    return DerivedFile(name, sort.write(sql, folder / name, files, fresh, wanted, info), info)


def _open_all(
    sql: sqlite3.Connection, folder: Path, kind: int, sort: SegmentFiles
) -> tuple[dict[str, Segment], list[str]]:
    """Return the files that can be used, by name, and the names of those that cannot."""
    files: dict[str, Segment] = {}
    unusable: list[str] = []
    for listed in derived.files_of(sql, sort.how, kind):
        segment = derived.try_open(sort.read, folder, listed)
        if segment is None:
            unusable.append(listed.file)
        else:
            files[listed.file] = segment
    return files, unusable


def files_to_merge(files: dict[str, Segment], live: dict[int, int], new: int) -> list[str]:
    """Return the files that are merged with the ``new`` rows."""
    alive = {
        name: sum(live.get(blob, 0) for blob in segment.blobs.tolist())
        for name, segment in files.items()
    }
    merged = [name for name in files if alive[name] < (1 - _MAX_REMOVED_SHARE) * files[name].rows]
    total = new + sum(alive[name] for name in merged)
    for name in sorted(files.keys() - set(merged), key=lambda name: (alive[name], name)):
        if alive[name] < _MIN_SIZE_RATIO * total:
            merged.append(name)
            total += alive[name]
    return merged


def _name(sql: sqlite3.Connection, how: How, kind: int) -> str:
    generation, epoch = sql.execute("SELECT generation, epoch FROM state").fetchone()
    (kind_name,) = sql.execute("SELECT name FROM kinds WHERE kind = ?", (kind,)).fetchone()
    plain = _NOT_PLAIN.sub("_", kind_name)
    # Random, so that no existing file has this name.
    unique = secrets.token_hex(4)
    return f"{DERIVED}/{how}-{kind}-{plain}-{generation:010d}-{epoch:06d}-{unique}.arrays"


def _switch(
    sql: sqlite3.Connection, folder: Path, gone: Sequence[str], made: DerivedFile | None, rows: int
) -> None:
    sql.execute("BEGIN IMMEDIATE")
    try:
        state = read_state(sql, folder)
        old = [(file,) for file in gone]
        sql.executemany("DELETE FROM derived WHERE file = ?", old)
        sql.executemany("INSERT OR IGNORE INTO unused_files (file) VALUES (?)", old)
        if made is not None:
            sql.execute("DELETE FROM unused_files WHERE file = ?", (made.file,))
            about, written = made.info, made.written
            sql.execute(
                "INSERT INTO derived (file, how, kind, generation, rows, size, checksum)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(made.file, about["how"], about["kind"], about["generation"]),
                    *(rows, written.size, written.checksum),
                ),
            )
        write_state(sql, folder, replace(state, epoch=state.epoch + 1))
        sql.execute("COMMIT")
    except BaseException:
        if sql.in_transaction:
            sql.execute("ROLLBACK")
        raise
