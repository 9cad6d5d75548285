"""Locks between processes and threads: held, waited for, left behind by the killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipelines.errors import IndexLockedError, IndexReadOnlyError, IndexUnsafeError
from rag_app.file_lock import RETRY_SECONDS, LockFile
from tests.support.hanging import MAX_HANG_S


@pytest.fixture
def lock(tmp_path: Path) -> LockFile:
    return LockFile(tmp_path / "lock", lambda _: IndexLockedError("in use"))


@contextmanager
def holding(lock: LockFile, *, shared: bool = False) -> Iterator[tuple[int, Callable[[], None]]]:
    """Hold a lock in a child until it is told to let go: give its number and what tells it."""
    held, hold = os.pipe()
    stop, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        with lock.hold(shared=shared, timeout=0):
            os.write(hold, b"x")
            os.read(stop, 1)
        os._exit(0)
    os.close(stop)
    assert os.read(held, 1) == b"x"
    try:
        yield child, lambda: os.close(go)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def is_free(lock: LockFile, *, shared: bool) -> bool:
    try:
        with lock.hold(shared=shared, timeout=0):
            return True
    except IndexLockedError:
        return False


def test_alone_is_alone_and_shared_is_together(lock: LockFile) -> None:
    with lock.hold(timeout=0):
        assert (is_free(lock, shared=True), is_free(lock, shared=False)) == (False, False)
    with lock.hold(shared=True, timeout=0):
        assert (is_free(lock, shared=True), is_free(lock, shared=False)) == (True, False)
    assert (is_free(lock, shared=True), is_free(lock, shared=False)) == (True, True)


@pytest.mark.parametrize("timeout", [None, MAX_HANG_S])
def test_who_waits_is_told_and_goes_on_when_the_other_lets_go(
    lock: LockFile, timeout: float | None
) -> None:
    told: list[int] = []
    with holding(lock) as (_, let_go):

        def tell(handle: int) -> None:
            told.append(handle)
            let_go()

        with lock.hold(timeout=timeout, on_wait=tell) as handle:
            assert told == [handle]


class Clock:
    """Time that passes in sleep alone."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("rag_app.file_lock.time", clock)
    return clock


def test_who_waits_in_vain_is_told_once(lock: LockFile, clock: Clock) -> None:
    told: list[int] = []
    impatient = lock.hold(timeout=5 * RETRY_SECONDS, on_wait=told.append)
    with lock.hold(timeout=0), pytest.raises(IndexLockedError, match="in use"), impatient:
        pass
    assert len(told) == 1
    assert clock.now == pytest.approx(5 * RETRY_SECONDS)


def test_a_wait_that_ends_before_it_is_told_is_not_told(lock: LockFile) -> None:
    told: list[int] = []
    patient = lock.hold(timeout=0.01, tell_after=MAX_HANG_S, on_wait=told.append)
    with lock.hold(timeout=0), pytest.raises(IndexLockedError, match="in use"), patient:
        pass
    assert told == []


def test_who_is_killed_leaves_no_lock(lock: LockFile) -> None:
    with holding(lock) as (child, _):
        assert not is_free(lock, shared=True)
        os.kill(child, signal.SIGKILL)
        with lock.hold(timeout=MAX_HANG_S):
            pass


def test_a_fork_of_the_holder_does_not_keep_the_lock(lock: LockFile) -> None:
    stop, go = os.pipe()
    with lock.hold(timeout=0):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(stop, 1)
            os._exit(0)
    with lock.hold(timeout=0):
        pass
    os.close(go)
    os.waitpid(child, 0)


def test_a_file_that_was_removed_while_somebody_waited_is_not_held_by_two(lock: LockFile) -> None:
    told = threading.Event()

    def wait() -> bool:
        with lock.hold(timeout=MAX_HANG_S, on_wait=lambda _: told.set()):
            return lock.path.exists() and not is_free(lock, shared=True)

    with ThreadPoolExecutor(1) as pool:
        with lock.hold(timeout=0):
            waiting = pool.submit(wait)
            assert told.wait(MAX_HANG_S)
            lock.path.unlink()
        assert waiting.result(MAX_HANG_S)


def _link(path: Path) -> None:
    path.symlink_to(path.with_name("made"))


def _hard_link(path: Path) -> None:
    path.with_name("mine").touch()
    path.hardlink_to(path.with_name("mine"))


def _of_another(path: Path) -> None:
    path.write_text("mine")


@pytest.mark.parametrize("put", [_link, _hard_link, _of_another, Path.mkdir, os.mkfifo])
def test_what_is_no_lock_file_of_ours_is_not_locked_and_stays(
    lock: LockFile, put: Callable[[Path], None]
) -> None:
    put(lock.path)
    before = lock.path.lstat()
    with pytest.raises(IndexUnsafeError, match="is not the lock file"), lock.hold(timeout=0):
        pass
    assert lock.path.lstat() == before
    assert not lock.path.with_name("made").exists()


def test_a_lock_that_cannot_be_made_says_which_folder_cannot_be_written(tmp_path: Path) -> None:
    lock = LockFile(tmp_path / "missing" / "lock", lambda _: IndexLockedError("in use"))
    with pytest.raises(IndexReadOnlyError, match="missing cannot be written"), lock.hold(timeout=0):
        pass


def test_a_lock_file_is_for_its_owner_alone_unless_it_is_said(lock: LockFile) -> None:
    with lock.hold(timeout=0) as handle:
        assert os.fstat(handle).st_mode & 0o777 == 0o600
