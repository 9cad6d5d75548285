"""One writer at a time, and no writing on network drives."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipelines.errors import IndexLockedError, IndexReadOnlyError, IndexUnsafeError
from rag_app.store.protocol import Store
from rag_app.store.sqlite import lock
from rag_app.store.sqlite.lock import (
    file_system,
    recorded_drafts,
    refuse_network_drive,
    writer_lock,
)

MOUNTS = """\
/dev/vda / ext4 rw 0 0
server:/export /mnt/share nfs4 rw 0 0
user@host:/ /mnt/my\\040disk fuse.sshfs rw 0 0
/dev/vdb /mnt/share/local ext4 rw 0 0
tmpfs /mnt/covered tmpfs rw 0 0
//server/x /mnt/covered cifs rw 0 0
nonsense
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    path = tmp_path / "mounts"
    path.write_text(MOUNTS)
    return path


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/user", "ext4"),
        ("/mnt/share/index", "nfs4"),
        ("/mnt/shared", "ext4"),
        ("/mnt/share/local/index", "ext4"),
        ("/mnt/my disk/index", "fuse.sshfs"),
        ("/mnt/covered", "cifs"),
    ],
)
def test_the_nearest_and_newest_mount_decides(mounts: Path, path: str, kind: str) -> None:
    assert file_system(Path(path), mounts) == kind


def test_a_machine_without_a_list_of_mounts_is_not_refused(tmp_path: Path) -> None:
    assert file_system(tmp_path, tmp_path / "none") == ""
    refuse_network_drive(tmp_path, tmp_path / "none")


def test_a_network_drive_is_refused_with_its_kind(mounts: Path) -> None:
    with pytest.raises(IndexReadOnlyError, match=r"network drive \(nfs4\)"):
        refuse_network_drive(Path("/mnt/share/index"), mounts)


def test_writing_on_a_network_drive_is_refused_and_reading_is_not(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    listing = tmp_path / "mounts"
    listing.write_text(f"server:/x {tmp_path} nfs rw 0 0\n")
    monkeypatch.setattr(lock, "MOUNTS", listing)
    with pytest.raises(IndexReadOnlyError, match="network drive"), store.writer():
        pass
    with store.snapshot() as snapshot:
        assert snapshot.sources() == []


def test_a_second_writer_is_told_who_writes_and_gives_up_in_time(store: Store) -> None:
    told: list[str] = []
    with store.writer():
        began = time.monotonic()
        with (
            pytest.raises(IndexLockedError, match=rf"process {os.getpid()}; waited 0.2 s") as error,
            store.writer(timeout=0.2, on_wait=told.append),
        ):
            pass
        assert time.monotonic() - began >= 0.2
    assert error.value.retryable
    assert told == [f"waiting for process {os.getpid()}, which writes to {store.path}"]
    with store.writer(timeout=0):
        pass


def test_a_waiting_writer_goes_on_when_the_first_has_finished(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first, second = os.pipe()
    child = os.fork()
    if child == 0:
        with writer_lock(path, timeout=5):
            os.write(second, b"x")
            time.sleep(0.3)
        os._exit(0)
    os.read(first, 1)
    with writer_lock(path, timeout=5):
        pass
    os.waitpid(child, 0)


def test_a_killed_writer_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first, second = os.pipe()
    child = os.fork()
    if child == 0:
        with writer_lock(path, timeout=5):
            os.write(second, b"x")
            time.sleep(60)
    os.read(first, 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with writer_lock(path, timeout=0):
        pass


def test_a_fork_of_the_writer_does_not_keep_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with writer_lock(path, timeout=0):
        child = os.fork()
        if child == 0:
            time.sleep(60)
    try:
        with writer_lock(path, timeout=0):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_lock_that_cannot_be_made_is_read_only(tmp_path: Path) -> None:
    with (
        pytest.raises(IndexReadOnlyError, match="cannot be written"),
        writer_lock(tmp_path / "missing" / "lock", timeout=0),
    ):
        pass


WHOLE = f"{4711:<20}\nindex.sqlite.0123456789abcdef.new\nrag-derived\n".encode()


def test_any_beginning_of_a_lock_file_of_ours_is_taken_for_one(tmp_path: Path) -> None:
    """As a kill in the middle of its writing leaves it."""
    path = tmp_path / "lock"
    for size in range(len(WHOLE) + 1):
        path.write_bytes(WHOLE[:size])
        lines = WHOLE[:size].decode().split("\n")[1:-1]
        with writer_lock(path, timeout=0) as held:
            assert held.drafts() == tuple(lines)


@pytest.mark.parametrize(
    "content",
    [b"mine", b"4711 words of mine", b"4711\n", WHOLE + b"../x\n", b" ", b"\0x", b"1" * 21],
)
def test_a_file_of_another_program_is_not_taken_for_the_lock(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "lock"
    path.write_bytes(content)
    with pytest.raises(IndexUnsafeError, match="not the lock file"), writer_lock(path, timeout=0):
        pass
    assert path.read_bytes() == content


def test_what_is_recorded_is_read_by_the_next_holder_until_another_is(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with writer_lock(path, timeout=0) as held:
        held.record("rag-merging-0123456789abcdef", "rag-derived")
        assert recorded_drafts(path) == held.drafts()
    with writer_lock(path, timeout=0) as held:
        assert held.drafts() == ("rag-merging-0123456789abcdef", "rag-derived")
        held.record()
        assert recorded_drafts(path) == held.drafts() == ()


def test_a_lock_file_that_was_removed_while_somebody_waited_is_not_held_by_two(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lock"
    with ThreadPoolExecutor(1) as pool, writer_lock(path, timeout=0):
        told = threading.Event()

        def wait() -> bool:
            with writer_lock(path, timeout=10, on_wait=lambda _: told.set()):
                with pytest.raises(IndexLockedError), writer_lock(path, timeout=0):
                    pass
                return path.exists()

        waiting = pool.submit(wait)
        assert told.wait(10)
        path.unlink()
    assert waiting.result(10)
