"""Derived files: built once per run, never quadratic, never trusted."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

import pytest

from pipelines.errors import IndexDamagedError
from rag_app.store.sqlite import derived
from rag_app.store.sqlite.schema import DATABASE, DERIVED
from rag_app.store.sqlite.store import SqliteStore, create_store, open_store
from rag_app.store.sqlite.writer import SqliteWriter
from tests.rag_app.store.make import CONFIG, prepared, vector


def files(path: Path) -> list[str]:
    return sorted(file.name for file in (path / DERIVED).iterdir())


def written(path: Path) -> dict[str, tuple[int, int]]:
    """Return which file each name is, and when it was written."""
    found = {name: (path / DERIVED / name).stat() for name in files(path)}
    return {name: (state.st_ino, state.st_mtime_ns) for name, state in found.items()}


def fill(store: SqliteStore, numbers: range) -> None:
    with store.writer() as writer:
        for n in numbers:
            writer.put(prepared(f"/{n}.pdf", [f"Text number n{n}. Another one n{n}."]))


def record_unused(writer: SqliteWriter, name: str) -> None:
    """Do as a run that is killed after it recorded a file and before it used it."""
    writer._sql.execute("INSERT INTO unused_files VALUES (?)", (f"{DERIVED}/{name}",))


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
        file = store.path / DERIVED / name
        data = file.read_bytes()
        file.unlink()
        if harm == "cut":
            file.write_bytes(data[: len(data) // 2])
        elif harm == "flipped":
            file.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    if harm == "folder gone":
        (store.path / DERIVED).rmdir()
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
    name = before[0].replace(before[0][-15:-7], "0" * 8)
    (store.path / DERIVED / f"{name}.new").write_bytes(b"half")
    with store.writer() as writer:
        record_unused(writer, name)
    assert files(store.path) == before


def test_a_file_that_is_not_recorded_is_never_swept_away(store: SqliteStore) -> None:
    fill(store, range(2))
    before = files(store.path)
    kept = ["thesis.txt", "old.arrays", before[0].replace(before[0][-15:-7], "0" * 8)]
    for name in kept:
        (store.path / DERIVED / name).write_bytes(b"mine")
    fill(store, range(5))
    with store.writer() as writer:
        writer.remove([f"/{n}.pdf" for n in range(5)])
    assert files(store.path) == sorted(kept)
    assert {(store.path / DERIVED / name).read_bytes() for name in kept} == {b"mine"}


@pytest.mark.parametrize("name", ["../outside", "rag-derived/../../outside", "/outside", "outside"])
def test_a_recorded_name_that_leads_elsewhere_removes_nothing(
    store: SqliteStore, tmp_path: Path, name: str
) -> None:
    mine = [tmp_path / "outside", store.path / "outside"]
    for path in mine:
        path.write_text("mine")
    with store.writer() as writer:
        writer._sql.execute("INSERT INTO unused_files VALUES (?)", (name,))
    assert [path.read_text() for path in mine] == ["mine", "mine"]


def test_a_listed_file_that_lies_elsewhere_is_not_read(store: SqliteStore) -> None:
    fill(store, range(2))
    sql = sqlite3.connect(store.path / DATABASE)
    with sql:
        sql.execute("UPDATE derived SET file = '../' || file")
    sql.close()
    with (
        pytest.raises(IndexDamagedError, match=r"names a derived file '\.\./"),
        open_store(store.path) as other,
    ):
        everything(other)


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
    assert not (store.path / DERIVED).exists()
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
