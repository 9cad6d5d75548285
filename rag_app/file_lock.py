"""Locks between processes and threads: the operating system's, on a small file.

They go with the process, however it dies. A lock file may be removed by whoever holds
it: who waited for it then makes it anew. Nothing is written through a link, and a file
of another program is not locked.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipelines.errors import IndexLockedError, IndexReadOnlyError, IndexUnsafeError

RETRY_SECONDS = 0.02
MAX_READ_BYTES = 4096  # of a lock file, to tell whose it is
_NO_FILE = (errno.ELOOP, errno.EISDIR, errno.ENXIO)  # a link, a folder, a pipe or socket


@dataclass(frozen=True)
class LockFile:
    """A file whose lock is held by several who share it, or by one alone.

    Attributes:
        path: made when it is not there.
        error: makes the error for who has waited long enough, from the open file.
        is_ours: tells from its first bytes whether a file is a lock file of ours.
        mode: permissions that it is made with.
    """

    path: Path
    error: Callable[[int], IndexLockedError]
    is_ours: Callable[[bytes], bool] = lambda content: not content
    mode: int = 0o600

    @contextlib.contextmanager
    def hold(
        self,
        *,
        shared: bool = False,
        timeout: float | None = None,
        on_wait: Callable[[int], None] | None = None,
        tell_after: float = 0.0,
    ) -> Iterator[int]:
        """Hold the lock; give the open file.

        Args:
            shared: together with others who share it.
            timeout: seconds to wait for others; 0 tries once, None waits as long as it takes.
            on_wait: told once that this waits, with the open file.
            tell_after: seconds; a shorter wait is not told.

        Raises:
            IndexLockedError: another one still holds it after ``timeout`` seconds.
            IndexReadOnlyError: the file cannot be opened for writing.
            IndexUnsafeError: it is a link, or a file of another program.
        """
        how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        handle = self._acquired(how, _Patience(timeout, tell_after, on_wait))
        try:
            yield handle
        finally:
            # A forked child may share the handle: closing is not enough.
            fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)

    def _acquired(self, how: int, patience: _Patience) -> int:
        """Return a handle that holds the lock of the file that is at the path now."""
        while True:
            handle = self._opened()
            try:
                if not patience.wait_for(handle, how):
                    raise self.error(handle)
                if _is_at(self.path, handle):
                    return handle
            except BaseException:
                os.close(handle)
                raise
            # Whoever held it has removed it meanwhile, or somebody else did.
            os.close(handle)

    def _opened(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            handle = os.open(self.path, flags, self.mode)
        except OSError as error:
            if error.errno in _NO_FILE:
                raise self._foreign() from error
            raise IndexReadOnlyError(
                f"{self.path.parent} cannot be written: {error.strerror}",
                hint="ask for write permission on the folder, or copy the index elsewhere",
            ) from error
        try:
            state = os.fstat(handle)
            alone = stat.S_ISREG(state.st_mode) and state.st_nlink <= 1
            if not alone or not self.is_ours(os.pread(handle, MAX_READ_BYTES, 0)):
                raise self._foreign()
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _foreign(self) -> IndexUnsafeError:
        return IndexUnsafeError(
            f"{self.path} is not the lock file of an index: a link, or of another program",
            hint="look at it, and take it away",
        )


class _Patience:
    """The time that one :meth:`LockFile.hold` may wait, and whether it has told of it."""

    def __init__(
        self, timeout: float | None, tell_after: float, on_wait: Callable[[int], None] | None
    ) -> None:
        began = time.monotonic()
        self._deadline = None if timeout is None else began + timeout
        self._tell_at = began + tell_after
        self._on_wait = on_wait

    def wait_for(self, handle: int, how: int) -> bool:
        """Lock an open file; tell whether that went before the deadline."""
        while not _try(handle, how):
            now = time.monotonic()
            if self._deadline is not None and now >= self._deadline:
                return False
            if now >= self._tell_at:
                self._tell(handle)
                if self._deadline is None:
                    fcntl.flock(handle, how)
                    return True
            self._sleep(now)
        return True

    def _tell(self, handle: int) -> None:
        told, self._on_wait = self._on_wait, None
        if told is not None:
            told(handle)

    def _sleep(self, now: float) -> None:
        left = RETRY_SECONDS if self._deadline is None else self._deadline - now
        time.sleep(min(RETRY_SECONDS, left))


def _try(handle: int, how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, handle: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(path.lstat(), os.fstat(handle))
    return False
