"""One writer at a time: an operating system's lock beside the database.

SQLite has a lock of its own, but waiting on it is blind: nothing tells who
writes, and it is held only inside a transaction. This one is held for a whole
run, names its holder, and goes with the process, however it dies.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pipelines.errors import IndexLockedError, IndexReadOnlyError, IndexUnsafeError

_log = logging.getLogger(__name__)

# File systems whose locks or shared memory SQLite's write-ahead log cannot trust.
NETWORK_FILE_SYSTEMS = frozenset(
    {
        "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afs", "coda", "9p",
        "ceph", "glusterfs", "lustre", "beegfs", "gpfs", "davfs", "davfs2", "ocfs2",
        "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.ceph-fuse",
        "fuse.davfs2", "fuse.gcsfuse", "fuse.goofys", "fuse.smbnetfs", "fuse.curlftpfs",
    }
)  # fmt: skip
MOUNTS = Path("/proc/mounts")
_PAUSE = 0.05  # seconds between two tries
_WIDTH = 20  # characters of the holder's process number in the lock file
_LIMIT = 4096  # bytes of a lock file that are read
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
        return _drafts(os.pread(self._handle, _LIMIT, 0))

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
        return _drafts(os.pread(handle, _LIMIT, 0))
    except OSError:
        return ()  # a folder, a pipe
    finally:
        os.close(handle)


def _drafts(content: bytes) -> tuple[str, ...]:
    if not _OURS.fullmatch(content):
        return ()
    lines, _, _torn = content[_WIDTH + 1 :].rpartition(b"\n")
    return tuple(lines.decode("ascii").split())


def file_system(path: Path, mounts: Path | None = None) -> str:
    """Return the type of the file system that holds ``path`` (``""``: not known here)."""
    try:
        lines = (mounts or MOUNTS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""  # not Linux: there is no such list to read
    best, kind = -1, ""
    target = path.absolute().resolve()
    for line in lines:
        fields = line.split()
        if len(fields) < 3:
            continue
        place = Path(fields[1].replace("\\040", " "))
        # A later line covers an earlier one at the same place.
        if target.is_relative_to(place) and len(place.parts) >= best:
            best, kind = len(place.parts), fields[2]
    return kind


def refuse_network_drive(path: Path, mounts: Path | None = None) -> None:
    """Accept only a file system on which several processes may share a database.

    Raises:
        IndexReadOnlyError: a network file system, with its type.
    """
    kind = file_system(path, mounts)
    if kind in NETWORK_FILE_SYSTEMS:
        raise IndexReadOnlyError(
            f"{path} lies on a network drive ({kind}), where a database can be damaged by "
            "writing: its locks and shared memory do not work between machines",
            hint="keep the index on a local disk; reading a copy from the drive is fine",
        )


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
    handle = _acquired(path, timeout, on_wait)
    try:
        # Of fixed length: cutting the file first would leave a moment without a name,
        # which some file systems make long.
        os.pwrite(handle, f"{os.getpid():<{_WIDTH}}\n".encode(), 0)
        yield HeldLock(handle)
    finally:
        # A forked child may share the handle: closing is not enough.
        fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def _acquired(path: Path, timeout: float, on_wait: Callable[[str], None] | None) -> int:
    """Return a handle that holds the lock of the file that is at ``path`` now."""
    deadline = time.monotonic() + timeout
    while True:
        handle = _open(path)
        try:
            _acquire(handle, path, timeout, deadline, on_wait)
            if _is_at(path, handle):
                return handle
        except BaseException:
            os.close(handle)
            raise
        # Whoever held it has removed the index meanwhile, or somebody else did.
        os.close(handle)


def _open(path: Path) -> int:
    """Open the lock file; nothing is written through a link, or into a file of another program."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise _foreign(path) from error
        raise IndexReadOnlyError(
            f"{path.parent} cannot be written: {error.strerror}",
            hint="ask for write permission on the folder, or copy the index elsewhere",
        ) from error
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
            raise _foreign(path)
        if not _OURS.fullmatch(os.pread(handle, _LIMIT, 0)):
            raise _foreign(path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _is_at(path: Path, handle: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(path.lstat(), os.fstat(handle))
    return False


def _foreign(path: Path) -> IndexUnsafeError:
    return IndexUnsafeError(
        f"{path} is not the lock file of an index: a link, or of another program",
        hint="look at it, and take it away",
    )


def _acquire(
    handle: int,
    path: Path,
    timeout: float,
    deadline: float,
    on_wait: Callable[[str], None] | None,
) -> None:
    told = False
    while not _try_lock(handle):
        holder = _holder(handle)
        if time.monotonic() >= deadline:
            raise IndexLockedError(
                f"{path.parent} is being written by {holder}; waited {timeout:g} s",
                hint="wait until it has finished, or give a longer time limit",
            )
        if not told:
            message = f"waiting for {holder}, which writes to {path.parent}"
            _log.warning(message)
            if on_wait is not None:
                on_wait(message)
            told = True
        time.sleep(min(_PAUSE, max(0.0, deadline - time.monotonic())))


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(handle: int) -> str:
    text = os.pread(handle, _WIDTH, 0).decode("ascii", errors="replace").strip()
    return f"process {text}" if text.isdigit() else "another process"
