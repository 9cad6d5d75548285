"""Connections to the database of one index, and its errors as errors of ours."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from pipelines.errors import (
    IndexLockedError,
    IndexNotFoundError,
    IndexReadOnlyError,
    RagError,
    StoreError,
)
from rag_app.store.sqlite.checksums import damaged
from rag_app.store.sqlite.folders import is_our_database, refuse_links
from rag_app.store.sqlite.schema import DATABASE, check_schema, not_ours

_BUSY_SECONDS = 10.0
_CACHE_KB = 16_384  # a large index's inner pages stay in memory from one query to the next
_MAX_IDLE_CONNECTIONS = 16  # kept open for the next query
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
# After a fork the parent's connections are kept here, untouched: closing one
# in the child could tidy up files that the parent still uses.
_abandoned: list[object] = []


@contextlib.contextmanager
def translated(folder: Path) -> Iterator[None]:
    """Turn an error of SQLite into one of ours that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise of_sqlite(error, folder) from error


def of_sqlite(error: sqlite3.Error, folder: Path) -> RagError:
    """Return our error for an error of SQLite, with a hint."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    # A missing table or column, or text that is not UTF-8.
    lacks = str(error).startswith(("no such", "Could not decode"))
    if code in _DAMAGED or lacks:
        return damaged(folder, str(error).partition(" with text ")[0])
    if code in _LOCKED:
        return IndexLockedError(
            f"another process holds the database of {folder}: {error}", hint="try again"
        )
    if code in _READ_ONLY:
        return IndexReadOnlyError(
            f"{folder} cannot be written: {error}",
            hint="ask for write permission on the folder, or copy the index elsewhere",
        )
    if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return StoreError(
            f"writing or reading {folder} failed: {error}",
            hint="free space on the disk and run it again; what was finished is kept",
        )
    return StoreError(f"the database of {folder} failed: {error}")


class Connections:
    """The open connections of one index in one process; never two threads on one.

    A query borrows a connection for its time. Idle ones are kept, so that the
    next query does not open the file again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._guard = threading.Lock()
        self._idle: list[Connection] = []
        self._pid = os.getpid()
        self._closed = False

    @contextlib.contextmanager
    def borrow(self) -> Iterator[Connection]:
        """Lend a connection for reading."""
        connection = self._take()
        try:
            yield connection
        except BaseException:
            connection.close()  # its state is unknown
            raise
        self._give(connection)

    def close(self) -> None:
        """Close all idle connections; borrowed ones close when they come back."""
        self._after_fork()
        with self._guard:
            idle, self._idle, self._closed = self._idle, [], True
        for connection in idle:
            connection.close()

    def _take(self) -> Connection:
        self._after_fork()
        with self._guard:
            if self._closed:
                raise StoreError(f"the index {self.folder} was closed", hint="open it again")
            while self._idle:
                connection = self._idle.pop()
                if connection.is_current():
                    return connection
                connection.close()
        return open_reader(self.folder)

    def _give(self, connection: Connection) -> None:
        with self._guard:
            if not self._closed and len(self._idle) < _MAX_IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()

    def _after_fork(self) -> None:
        if self._pid != os.getpid():
            _abandoned.append(self._idle)
            self._idle, self._pid, self._guard = [], os.getpid(), threading.Lock()


class Connection:
    """One connection to the file that was there when it was opened.

    ``stamp`` identifies the state of a file that is read as immutable.
    """

    def __init__(
        self, folder: Path, sql: sqlite3.Connection, stamp: tuple[object, ...] | None
    ) -> None:
        self.sql = sql
        self._folder = folder
        self._stamp = stamp
        self._inode = (folder / DATABASE).stat().st_ino

    @property
    def immutable(self) -> bool:
        """Whether it reads without locks."""
        return self._stamp is not None

    def is_current(self) -> bool:
        """Tell whether the file is still the one that was opened.

        A connection to a file that is read as immutable has no locks and sees
        no changes, so another user's writing must be noticed from outside.
        """
        try:
            same = self._inode == (self._folder / DATABASE).stat().st_ino
            return same and (self._stamp is None or self._stamp == _stamp(self._folder))
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Close it; the last one of all processes removes the write-ahead log."""
        self.sql.close()


def open_reader(folder: Path) -> Connection:
    """Open the database for reading.

    Raises:
        IndexNotFoundError: there is no index in this folder.
        IndexDamagedError, IndexNewerError: it cannot be read, or not by this version.
        IndexUnsafeError: a link or a foreign file stands where a file of the index should.
        IndexReadOnlyError: the folder may not be written and another user's
            writing is not finished, so that reading is not safe.
    """
    database = _database(folder, writing=False)
    stamp = None
    with translated(folder):
        if is_writable(folder):
            sql = _connect(database, "mode=rw")
            sql.execute("PRAGMA query_only = ON")
        else:
            stamp = _stamp(folder)  # before opening: a change from then on is noticed
            sql, immutable = _open_unwritable(database)
            stamp = stamp if immutable else None
        try:
            check_schema(sql, str(folder))
        except BaseException:
            sql.close()
            raise
    return Connection(folder, sql, stamp)


def open_writer(folder: Path, *, durable: bool = True) -> sqlite3.Connection:
    """Open the database for writing; the caller holds the writer's lock.

    Args:
        folder: of the index.
        durable: a commit is on disk when it returns; without this, from the next
            checkpoint on. A kill loses nothing either way.
    """
    database = _database(folder, writing=True)
    with translated(folder):
        sql = _connect(database, "mode=rw")
        try:
            check_schema(sql, str(folder))
            refuse_links(folder, writing=True)  # put there between the check and the opening
            # Each file is reported when its transaction is committed, and must be on disk
            # then. NORMAL would wait for the next checkpoint, which a reader can hold up.
            sql.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        except BaseException:
            sql.close()
            raise
    return sql


def is_writable(folder: Path) -> bool:
    """Tell whether this user may write the folder and the database in it."""
    database = folder / DATABASE
    log = Path(f"{database}-wal")
    places = [folder, database, *([log] if log.exists() else [])]
    return all(os.access(place, os.W_OK) for place in places)


def _open_unwritable(database: Path) -> tuple[sqlite3.Connection, bool]:
    log = Path(f"{database}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return _connect(database, "mode=ro&immutable=1"), True
    try:
        # While a writer lives its shared memory can be read beside it.
        sql = _connect(database, "mode=ro")
        sql.execute("SELECT generation FROM state").fetchone()
    except sqlite3.OperationalError as error:
        raise IndexReadOnlyError(
            f"{database.parent} may not be written by this user, and its last writer has not "
            f"finished ({log.name} holds changes): reading it could give wrong answers",
            hint="let a user who may write the folder open it once, or wait for the writer",
        ) from error
    return sql, False


def _connect(database: Path, mode: str) -> sqlite3.Connection:
    sql = sqlite3.connect(
        f"file:{quote(os.fsencode(database.absolute()))}?{mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,  # transactions are begun and ended explicitly
        check_same_thread=False,  # the pool hands a connection to one thread at a time
    )
    sql.execute("PRAGMA temp_store = MEMORY")
    sql.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
    return sql


def _database(folder: Path, *, writing: bool) -> Path:
    """Return the path of the database after checking that it is ours."""
    refuse_links(folder, writing=writing)
    database = folder / DATABASE
    try:
        ours = is_our_database(database)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise not_found(folder) from error
    except PermissionError as error:
        raise IndexReadOnlyError(
            f"{database} may not be read by this user",
            hint="ask for read permission on the folder and its files",
        ) from error
    if not ours:
        raise not_ours(str(folder))
    return database


def _stamp(folder: Path) -> tuple[object, ...]:
    database = folder / DATABASE
    log = Path(f"{database}-wal")
    state = database.stat()
    return (
        state.st_ino,
        state.st_size,
        state.st_mtime_ns,
        log.exists() and log.stat().st_size > 0,
    )


def not_found(folder: Path) -> IndexNotFoundError:
    """Return the error for a folder without an index."""
    if folder.exists() and not folder.is_dir():
        return IndexNotFoundError(
            f"{folder} is a file, and an index is a folder",
            hint="give the folder that `rag ingest … --index FOLDER` made",
        )
    return IndexNotFoundError(
        f"there is no index in {folder}",
        hint="make one with `rag ingest PATH… --index FOLDER`, or give another folder",
    )
