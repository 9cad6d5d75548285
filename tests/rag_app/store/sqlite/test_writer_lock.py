"""One writer at a time, who says who writes and which drafts there are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipelines.errors import IndexLockedError, IndexReadOnlyError, IndexUnsafeError
from rag_app.store.protocol import Store
from rag_app.store.sqlite.writer_lock import recorded_drafts, writer_lock


def test_a_second_writer_is_told_who_writes_and_gives_up_in_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, told = [0.0], list[str]()
    monkeypatch.setattr("rag_app.file_lock.time.monotonic", lambda: now[0])
    monkeypatch.setattr("rag_app.file_lock.time.sleep", lambda s: now.append(now.pop() + s))
    with (
        store.writer(),
        pytest.raises(IndexLockedError, match=rf"process {os.getpid()}; waited 0.05 s") as error,
        store.writer(timeout=0.05, on_wait=told.append),
    ):
        pass
    assert error.value.retryable
    assert told == [f"waiting for process {os.getpid()}, which writes to {store.path}"]
    with store.writer(timeout=0):
        pass


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
