"""Derived files: built once per run, never quadratic, never trusted."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from rag_app.store import derived
from rag_app.store.sqlite import SqliteStore, create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared, vector


def files(path: Path) -> list[str]:
    return sorted(file.name for file in (path / "derived").iterdir())


def written(path: Path) -> dict[str, tuple[int, int]]:
    """Return which file each name is, and when it was written."""
    found = {name: (path / "derived" / name).stat() for name in files(path)}
    return {name: (state.st_ino, state.st_mtime_ns) for name, state in found.items()}


def fill(store: SqliteStore, numbers: range) -> None:
    with store.writer() as writer:
        for n in numbers:
            writer.put(prepared(f"/{n}.pdf", [f"Text number n{n}. Another one n{n}."]))


def everything(store: SqliteStore) -> list[object]:
    with store.snapshot() as snapshot:
        return [
            snapshot.search_vectors("child-128", vector("text number"), 100),
            snapshot.search_words("parent", ["text", "n3.", "number"], 100),
        ]


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return create_store(tmp_path / "index", CONFIG)


def test_a_run_leaves_one_file_per_kind(store: SqliteStore) -> None:
    fill(store, range(10))
    assert [name.split("-")[0] for name in files(store.path)] == ["vectors", "words"]


def test_adding_files_one_by_one_rewrites_each_part_only_logarithmically(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    real = derived.write_vectors

    def counting(path, segments, live, *rest):
        written.append(len(live))
        return real(path, segments, live, *rest)

    monkeypatch.setattr(derived, "write_vectors", counting)
    for n in range(64):
        fill(store, range(n, n + 1))
    assert sum(written) <= 64 * 7  # log2(64) = 6, and its first writing
    assert len([name for name in files(store.path) if name.startswith("vectors")]) <= 7
    assert store.verify() == []


def test_a_file_with_many_removed_rows_is_written_again(store: SqliteStore) -> None:
    fill(store, range(10))
    before = files(store.path)
    with store.writer() as writer:
        writer.remove([f"/{n}.pdf" for n in range(5)])
    assert not set(files(store.path)) & set(before)
    with store.writer() as writer:
        writer.remove([f"/{n}.pdf" for n in range(10)])
    assert files(store.path) == []
    assert everything(store) == [[], []]


def test_a_run_that_changes_nothing_writes_nothing(store: SqliteStore) -> None:
    fill(store, range(3))
    before = written(store.path)
    with store.writer():
        pass
    assert written(store.path) == before


@pytest.mark.parametrize("harm", ["gone", "cut", "flipped", "folder gone"])
def test_a_damaged_file_changes_no_answer_and_is_built_again(
    store: SqliteStore, harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    fill(store, range(5))
    wanted = everything(store)
    for name in files(store.path):
        file = store.path / "derived" / name
        data = file.read_bytes()
        file.unlink()
        if harm == "cut":
            file.write_bytes(data[: len(data) // 2])
        elif harm == "flipped":
            file.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    if harm == "folder gone":
        (store.path / "derived").rmdir()
    with caplog.at_level(logging.WARNING), open_store(store.path) as reader:
        assert everything(reader) == wanted
        assert reader.verify()
        with reader.writer():
            pass
        assert everything(reader) == wanted
        assert reader.verify() == []


def test_drafts_of_a_killed_run_are_swept_away(store: SqliteStore) -> None:
    fill(store, range(2))
    before = files(store.path)
    (store.path / "derived" / "vectors-1.arrays.99.new").write_bytes(b"half")
    (store.path / "derived" / "old.arrays").write_bytes(b"old")
    with store.writer():
        pass
    assert files(store.path) == before


def test_a_reader_keeps_files_that_were_replaced(store: SqliteStore) -> None:
    fill(store, range(3))
    with open_store(store.path) as reader:
        wanted = everything(reader)
        with reader.snapshot() as old:
            fill(store, range(3, 40))
            assert old.search_words("parent", ["text", "n3.", "number"], 100) == wanted[1]
            # Its files are gone by now, and it had not opened this one yet.
            assert len(old.search_vectors("child-128", vector("text number"), 100)) == 3
        assert len(everything(reader)[0]) == 40


def test_a_build_that_fails_leaves_the_index_right(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(derived, "write_vectors", full)
    monkeypatch.setattr(derived, "write_words", full)
    with caplog.at_level(logging.WARNING):
        fill(store, range(3))
    assert "were not built" in caplog.text
    assert len(everything(store)[0]) == 3
    monkeypatch.undo()
    with store.writer():
        pass
    assert len(files(store.path)) == 2


def test_an_interrupted_run_builds_nothing_and_loses_nothing(store: SqliteStore) -> None:
    def run() -> None:
        with store.writer() as writer:
            writer.put(prepared("/a.pdf", ["Cats sit."]))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert not (store.path / "derived").exists()
    with store.snapshot() as snapshot:
        assert len(snapshot.search_words("parent", ["cats"], 5)) == 1


def test_a_run_that_fails_builds_what_it_wrote(store: SqliteStore) -> None:
    def run() -> None:
        with store.writer() as writer:
            writer.put(prepared("/a.pdf", ["Cats sit."]))
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        run()
    assert len(files(store.path)) == 2
