"""One writer at a time: a lock file beside the database.

SQLite has a lock of its own, but waiting on it is blind: nothing tells who
writes, and it is held only inside a transaction. This one is held for a whole
run, and names its holder.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from pipelines.errors import IndexLockedError
from rag_app.file_lock import MAX_READ_BYTES, LockFile

_log = logging.getLogger(__name__)

_WIDTH = 20  # characters of the holder's process number in the lock file
# What a lock file of ours holds, or the beginning of it, which a kill or a power cut leaves.
_OURS = re.compile(rb"\0*|(?=[\d ]{1,20}\Z)\d+ *|(?=[\d ]{20}\n)\d+ *\n([a-z0-9.-]+\n)*[a-z0-9.-]*")


class HeldLock:
    """The lock file of an index while it is held: who writes, and the drafts of that run.

    A draft is recorded here before it is made, so that the next run knows what a
    killed one has left, and removes nothing else.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def drafts(self) -> tuple[str, ...]:
        """Return the names that are recorded."""
        return _drafts(os.pread(self._handle, MAX_READ_BYTES, 0))

    def record(self, *names: str) -> None:
        """Record these drafts and no others; they are on disk when this returns."""
        lines = "".join(f"{name}\n" for name in names).encode("ascii")
        os.ftruncate(self._handle, _WIDTH + 1)
        os.pwrite(self._handle, lines, _WIDTH + 1)
        os.fsync(self._handle)


def recorded_drafts(path: Path) -> tuple[str, ...]:
    """Return the drafts that the lock file ``path`` names, without taking the lock."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ()
    try:
        return _drafts(os.pread(handle, MAX_READ_BYTES, 0))
    except OSError:
        return ()  # a folder, a pipe
    finally:
        os.close(handle)


def _drafts(content: bytes) -> tuple[str, ...]:
    if not _is_ours(content):
        return ()
    lines, _, _torn = content[_WIDTH + 1 :].rpartition(b"\n")
    return tuple(lines.decode("ascii").split())


@contextlib.contextmanager
def writer_lock(
    path: Path, *, timeout: float, on_wait: Callable[[str], None] | None = None
) -> Iterator[HeldLock]:
    """Hold the lock file ``path``, waiting up to ``timeout`` seconds for another holder.

    Args:
        path: the lock file; made when it is not there. Whoever holds it may remove it.
        timeout: seconds; 0 tries once.
        on_wait: told once, in words, that and for whom this process waits.

    Raises:
        IndexLockedError: the other one still holds it.
        IndexReadOnlyError: the lock file cannot be opened for writing.
        IndexUnsafeError: it is a link, or a file of another program.
    """

    def error(handle: int) -> IndexLockedError:
        return IndexLockedError(
            f"{path.parent} is being written by {_holder(handle)}; waited {timeout:g} s",
            hint="wait until it has finished, or give a longer time limit",
        )

    def tell(handle: int) -> None:
        message = f"waiting for {_holder(handle)}, which writes to {path.parent}"
        _log.warning(message)
        if on_wait is not None:
            on_wait(message)

    file = LockFile(path, error, is_ours=_is_ours, mode=0o666)
    with file.hold(timeout=timeout, on_wait=tell) as handle:
        # Of fixed length: cutting the file first would leave a moment without a name,
        # which some file systems make long.
        os.pwrite(handle, f"{os.getpid():<{_WIDTH}}\n".encode(), 0)
        yield HeldLock(handle)


def _is_ours(content: bytes) -> bool:
    return _OURS.fullmatch(content) is not None


def _holder(handle: int) -> str:
    text = os.pread(handle, _WIDTH, 0).decode("ascii", errors="replace").strip()
    return f"process {text}" if text.isdigit() else "another process"
