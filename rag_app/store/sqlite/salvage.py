"""Copying the undamaged contents of an index into a new database that replaces it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipelines.errors import RagError
from rag_app.store.engine.array_files import read_info
from rag_app.store.protocol import Lost, Prepared, Store, Writer
from rag_app.store.sqlite.build import build_derived, drop_files
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.connect import open_reader, open_writer, translated
from rag_app.store.sqlite.derived import all_files
from rag_app.store.sqlite.exporting import export_content, export_text
from rag_app.store.sqlite.folders import clear_drafts, new_merge_draft, remove_derived
from rag_app.store.sqlite.node_reader import NodeReader
from rag_app.store.sqlite.row_cache import RowCache
from rag_app.store.sqlite.schema import DERIVED, LOCK
from rag_app.store.sqlite.sealing import name_checksum
from rag_app.store.sqlite.state import read_state, write_state
from rag_app.store.sqlite.verify import faults_of_files
from rag_app.store.sqlite.writer_lock import writer_lock


@dataclass
class Salvage:
    """A new index with all that is whole of a damaged one.

    Attributes:
        store: the new index; what is added to it will be in the repaired one.
        stripped: first names of contents whose text is whole and the rest of which is to be
            made from it again.
        lost: contents that are not in it.
    """

    store: Store
    stripped: list[str] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)


@contextlib.contextmanager
def salvaged(folder: Path, create: Callable[[Path], Store]) -> Iterator[Salvage]:
    """Yield what is whole of an index; leaving puts it in the place of the damaged database.

    Nobody else writes meanwhile. After an error, or a kill, the index is as it was before.
    Readers see the one or the other.

    Args:
        folder: the index's.
        create: makes an empty index of the same configuration in a folder.
    """
    with writer_lock(folder / LOCK, timeout=30.0) as lock:
        clear_drafts(folder, lock.drafts())
        draft = folder / new_merge_draft()
        lock.record(draft.name)
        try:
            store = create(draft)
            try:
                found = Salvage(store)
                with store.writer() as writer:
                    _copy(folder, writer, found)
                yield found
            finally:
                store.close()
            _put_in_place(draft, folder)
        finally:
            clear_drafts(folder, [draft.name])
            lock.record()


def repair_files(folder: Path) -> tuple[str, ...]:
    """Build the derived files that are damaged anew from the database; return their names."""
    with writer_lock(folder / LOCK, timeout=30.0), translated(folder):
        sql = open_writer(folder)
        try:
            gone = dict.fromkeys(file for file, _ in faults_of_files(sql, folder))
            drop_files(sql, folder, list(gone))
            _remove_later(sql, folder)
            build_derived(sql, folder)
            sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            sql.close()
    return tuple(gone)


def _copy(folder: Path, writer: Writer, found: Salvage) -> None:
    connection = open_reader(folder)
    try:
        with translated(folder):
            sql = connection.sql
            sql.execute("BEGIN")
            sums = Checksums.at(sql)
            reader = NodeReader(sql, sums, RowCache())
            for content in _contents(sql):
                _copy_one(sql, sums, reader, content, writer, found)
    finally:
        connection.close()


def _copy_one(
    sql: sqlite3.Connection,
    sums: Checksums,
    reader: NodeReader,
    content: int,
    writer: Writer,
    found: Salvage,
) -> None:
    try:
        writer.put(export_content(sql, sums, content, reader))
        return
    except Exception as error:  # damaged values may raise anything
        reason = error.message if isinstance(error, RagError) else repr(error)
    try:
        prepared = export_text(sql, sums, content, reader)
        if _is_made_of_text(prepared):
            writer.put(prepared)
            found.stripped.append(prepared.names[0])
            return
    except Exception as error:
        reason = error.message if isinstance(error, RagError) else repr(error)
    found.lost.append(Lost(_names(sql, sums, content), _hash(sql, content), reason))


def _is_made_of_text(prepared: Prepared) -> bool:
    """Tell whether everything can be made from the text: a language model's pieces cannot."""
    kinds = {node.metadata.get("kind") for node in prepared.nodes}
    return bool(prepared.names) and ("piece" not in kinds or "passage" in kinds)


def _contents(sql: sqlite3.Connection) -> list[int]:
    """Return the numbers of all contents that can be read."""
    found: set[int] = set()
    for table in ("contents", "names"):
        with contextlib.suppress(sqlite3.DatabaseError):
            for (content,) in sql.execute(f"SELECT content FROM {table}"):  # noqa: S608
                found.add(int(content))
    return sorted(found)


def _names(sql: sqlite3.Connection, sums: Checksums, content: int) -> tuple[str, ...]:
    names: dict[str, None] = {}
    with contextlib.suppress(sqlite3.DatabaseError):
        for *values, checksum in sql.execute(
            "SELECT content, name, origin, file_name, file_path, checksum FROM names"
            " NOT INDEXED WHERE content = ? ORDER BY name_row",
            (content,),
        ):
            if checksum == name_checksum(sums, *values):
                names[values[1]] = None
    return tuple(names)


def _hash(sql: sqlite3.Connection, content: int) -> str:
    with contextlib.suppress(sqlite3.DatabaseError):
        row = sql.execute(
            "SELECT content_hash FROM contents WHERE content = ?", (content,)
        ).fetchone()
        return str(row[0]) if row else ""
    return ""


def _put_in_place(draft: Path, folder: Path) -> None:
    """Write the new database over the damaged one, in one transaction of SQLite."""
    with translated(folder):
        source, target = open_writer(draft), open_writer(folder)
        try:
            old = read_state(target, folder)
            new = read_state(source, draft)
            old_files = _files_of(target)
            drop_files(source, draft, [listed.file for listed in all_files(source)])
            # Caches of earlier generations must not match this one.
            later = replace(new, generation=old.generation + new.generation + 1)
            write_state(source, draft, replace(later, epoch=read_state(source, draft).epoch))
            files = [(file,) for file in old_files]
            source.executemany("INSERT OR IGNORE INTO unused_files (file) VALUES (?)", files)
            source.backup(target)
            build_derived(target, folder)
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            source.close()
            target.close()


def _files_of(sql: sqlite3.Connection) -> list[str]:
    """Return the derived files that a damaged database lists, in use or not."""
    found: list[str] = []
    for table in ("derived", "unused_files"):
        with contextlib.suppress(sqlite3.DatabaseError):
            found += [str(file) for (file,) in sql.execute(f"SELECT file FROM {table}")]  # noqa: S608
    return found


def _remove_later(sql: sqlite3.Connection, folder: Path) -> None:
    """Remove derived files of this index that were made of a generation that it lost."""
    state = read_state(sql, folder)
    for path in (folder / DERIVED).glob("*.arrays"):
        with contextlib.suppress(OSError, ValueError):
            info = read_info(path)
            if info.get("identity") == state.identity and info["generation"] > state.generation:
                remove_derived(folder, [f"{DERIVED}/{path.name}"])
