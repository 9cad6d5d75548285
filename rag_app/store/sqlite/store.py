"""The store on SQLite: a folder with one database, which is the truth, and derived files."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import IndexExistsError, IndexReadOnlyError
from rag_app.store.config import dump_config
from rag_app.store.engine.array_files import sync_folder
from rag_app.store.local_folders import remove_folders
from rag_app.store.network_drives import refuse_network_drive
from rag_app.store.protocol import Finding, IndexConfig
from rag_app.store.sqlite.connect import (
    Connections,
    is_writable,
    not_found,
    open_writer,
    translated,
)
from rag_app.store.sqlite.derived import all_files
from rag_app.store.sqlite.folders import (
    check_free,
    clear_drafts,
    make_folders,
    new_database_draft,
    remove_file,
)
from rag_app.store.sqlite.schema import DATABASE, DERIVED, LOCK, create_tables
from rag_app.store.sqlite.segment_cache import SegmentCache
from rag_app.store.sqlite.snapshot import SqliteSnapshot
from rag_app.store.sqlite.writer_lock import HeldLock, recorded_drafts, writer_lock

if TYPE_CHECKING:
    from rag_app.store.sqlite.salvage import Salvage
    from rag_app.store.sqlite.writer import SqliteWriter

_MAX_WAIT_MS = 200  # of tidying up for readers
# Folders of an index that hold no files of its user.
OWN_FOLDERS = frozenset({DERIVED})
_MAX_FREE_SHARE = 0.25  # of pages; above it the database is made smaller


class SqliteStore:
    """An index in a folder; safe for many threads and many processes."""

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        """Open an index.

        Args:
            path: its folder.
            durable: whether what a writer does is on disk when each call returns; else
                when the writer has closed, if no reader is there.
        """
        self._path = path
        self._durable = durable
        self._connections = Connections(path)
        self._cache = SegmentCache(path)
        with self.snapshot() as snapshot:
            self._config = snapshot.config

    @property
    def path(self) -> Path:
        """The folder."""
        return self._path

    @property
    def config(self) -> IndexConfig:
        """The configuration as last seen by this process."""
        return self._config

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[SqliteSnapshot]:
        """Open a view of the newest generation for one query."""
        with self._connections.borrow() as connection, translated(self._path):
            sql = connection.sql
            sql.execute("BEGIN")
            try:
                snapshot = SqliteSnapshot(sql, self._cache)
                self._config = snapshot.config
                yield snapshot
                if connection.immutable:
                    self._unchanged(connection.is_current())
            finally:
                if sql.in_transaction:
                    sql.execute("ROLLBACK")

    @contextlib.contextmanager
    def writer(
        self,
        *,
        timeout: float = 30.0,
        on_wait: Callable[[str], None] | None = None,
    ) -> Iterator[SqliteWriter]:
        """Become the writer, waiting ``timeout`` seconds for another one."""
        from rag_app.store.sqlite.writer import SqliteWriter

        if not is_index(self._path):
            raise not_found(self._path)
        refuse_network_drive(self._path)
        if not is_writable(self._path):
            raise IndexReadOnlyError(
                f"{self._path} may not be written by this user",
                hint="ask for write permission on the folder, or copy the index elsewhere",
            )
        with writer_lock(self._path / LOCK, timeout=timeout, on_wait=on_wait) as lock:
            sql = open_writer(self._path, durable=self._durable)
            _clear(self._path, lock)
            try:
                with _building(sql, self._path):
                    yield SqliteWriter(self._path, sql)
            finally:
                _tidy(sql)
                sql.close()

    def verify(self) -> list[Finding]:
        """Check every link of the index and return what is wrong (nothing: ``[]``).

        Raises:
            IndexDamagedError: it is so damaged that it cannot be checked.
        """
        from rag_app.store.sqlite.verify import verify_index

        with self._connections.borrow() as connection, translated(self._path):
            connection.sql.execute("BEGIN")
            try:
                findings = verify_index(connection.sql, self._path, self._newest)
                if connection.immutable:
                    self._unchanged(connection.is_current())
                return findings
            finally:
                if connection.sql.in_transaction:
                    connection.sql.execute("ROLLBACK")

    def _newest(self) -> tuple[int, set[str]]:
        """Return the current generation and list of derived files."""
        with self._connections.borrow() as connection:
            (generation,) = connection.sql.execute("SELECT generation FROM state").fetchone()
            return generation, {listed.file for listed in all_files(connection.sql)}

    def repair_files(self) -> tuple[str, ...]:
        """Build damaged derived files anew from the database; return which."""
        from rag_app.store.sqlite.salvage import repair_files

        return repair_files(self._path)

    def salvaged(self) -> AbstractContextManager[Salvage]:
        """Yield a new index with all that is whole of this one; leaving puts it in its place."""
        from rag_app.store.sqlite.salvage import salvaged

        return salvaged(self._path, lambda folder: create_store(folder, self._config))

    def close(self) -> None:
        """Close all connections; the last one of all processes leaves no write-ahead log."""
        self._cache.clear()
        self._connections.close()

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _unchanged(self, current: bool) -> None:
        if not current:
            raise IndexReadOnlyError(
                f"{self._path} was changed by another user while it was read without locks",
                hint="ask again",
            )


def create_store(
    path: Path, config: IndexConfig, *, private: bool = False, durable: bool = True
) -> SqliteStore:
    """Make an empty index in a folder, which may exist but must hold no index.

    Args:
        path: the folder; made with its parents. If it is there, it holds nothing else.
        config: recorded in the index.
        private: nobody but this user may enter the folder (mode 0700).
        durable: see :class:`SqliteStore`.

    Raises:
        IndexExistsError: there is an index already.
        IndexReadOnlyError: the folder cannot be written, or lies on a network drive.
        FolderNotEmptyError: the folder holds other things; names them.
        IndexUnsafeError: a link stands where a file of the index would be.
    """
    with claimed(path, private=private) as lock:
        _make(path, config, lock)
    return SqliteStore(path, durable=durable)


@contextlib.contextmanager
def claimed(path: Path, *, private: bool = False) -> Iterator[HeldLock]:
    """Hold the lock of a folder in which an index is going to be made.

    After an error the folder is as it was before.

    Raises:
        IndexExistsError, IndexReadOnlyError, FolderNotEmptyError, IndexUnsafeError:
            see :func:`create_store`.
    """
    check_new(path)
    made = make_folders(path, private=private)
    try:
        refuse_network_drive(path)
        with writer_lock(path / LOCK, timeout=30.0) as lock:
            try:
                _refuse_index(path)
                _clear(path, lock)
                check_free(path)
                yield lock
            except BaseException:
                if not (path / DATABASE).exists():
                    (path / LOCK).unlink(missing_ok=True)
                raise
    except BaseException:
        remove_folders(made)
        raise


def is_index(path: Path) -> bool:
    """Tell whether there is an index in a folder, or what looks like one."""
    return (path / DATABASE).is_file()


def check_new(path: Path) -> None:
    """Accept a folder in which an index may be made; nothing is written.

    Raises:
        IndexExistsError: there is one.
        FolderNotEmptyError: the folder holds other things; names them.
        IndexUnsafeError: a link stands where a file of the index would be.
    """
    _refuse_index(path)
    check_free(path, recorded_drafts(path / LOCK))


def _refuse_index(path: Path) -> None:
    if is_index(path):
        raise IndexExistsError(
            f"there is an index in {path} already", hint="open it, or give another folder"
        )


def _clear(path: Path, lock: HeldLock) -> None:
    """Remove the drafts of a killed run."""
    if drafts := lock.drafts():
        clear_drafts(path, drafts)
        lock.record()


def remove_if_empty(path: Path) -> bool:
    """Remove the index in a folder if nothing was ingested into it; tell whether it was removed.

    Other files in the folder stay; the folder itself does as well.

    Raises:
        IndexLockedError: somebody writes to it.
    """
    from rag_app.store.sqlite.build import build_derived

    with writer_lock(path / LOCK, timeout=0):
        sql = open_writer(path)
        try:
            with translated(path):
                (held,) = sql.execute("SELECT EXISTS (SELECT 1 FROM contents)").fetchone()
                if held:
                    return False
                build_derived(sql, path)
                _tidy(sql)
        finally:
            sql.close()
        remove_folders([path / DERIVED])
        for end in ("-wal", "-shm", ""):  # the database last: a log alone is in the way
            remove_file(path / f"{DATABASE}{end}")
        remove_file(path / LOCK)
    return True


def open_store(path: Path) -> SqliteStore:
    """Open an index.

    Raises:
        IndexNotFoundError, IndexDamagedError, IndexNewerError, IndexReadOnlyError:
            see :func:`rag_app.store.sqlite.connect.open_reader`.
    """
    return SqliteStore(path)


def _make(path: Path, config: IndexConfig, lock: HeldLock) -> None:
    """Make the database under another name first: a kill leaves none, or a whole one."""
    draft = path / new_database_draft()
    lock.record(draft.name)
    try:
        with translated(path):
            sql = sqlite3.connect(draft, isolation_level=None)
            try:
                create_tables(sql, dump_config(config))
            finally:
                sql.close()
        draft.rename(path / DATABASE)
    except BaseException:
        clear_drafts(path, [draft.name])
        raise
    sync_folder(path)
    lock.record()


@contextlib.contextmanager
def _building(sql: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Build the derived files at the end, also after an error, but not when interrupted."""
    from rag_app.store.sqlite.build import build_derived

    try:
        yield
    except Exception:
        build_derived(sql, path)
        raise
    build_derived(sql, path)


def _tidy(sql: sqlite3.Connection) -> None:
    """Release free pages and move the write-ahead log into the database, if readers allow."""
    with contextlib.suppress(sqlite3.Error):
        sql.execute(f"PRAGMA busy_timeout = {_MAX_WAIT_MS}")
        (free,) = sql.execute("PRAGMA freelist_count").fetchone()
        (pages,) = sql.execute("PRAGMA page_count").fetchone()
        if free > _MAX_FREE_SHARE * pages:
            sql.execute("PRAGMA incremental_vacuum").fetchall()
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
