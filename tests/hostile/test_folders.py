"""Files of the user: none is removed, written over, written through or made part of an index."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import (
    FolderNotEmptyError,
    IndexDamagedError,
    IndexReadOnlyError,
    IndexUnsafeError,
    RagError,
    StoreError,
)
from rag_app.cached.folders import IndexCache
from rag_app.models.embedding.convert import _prune
from rag_app.store.merging import merge
from rag_app.store.sqlite import connect
from rag_app.store.sqlite.schema import DATABASE, DERIVED, LOCK
from rag_app.store.sqlite.store import create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared

# What a user may have in a folder; some names are those that earlier versions used.
MINE = {
    "derived/thesis.txt": "x",
    "merging-1/thesis.txt": "x",
    "index.sqlite-notes": "x",
    "index.sqlite-wal": "x",
    "index.sqlite.new": "x",
    "write.lock": "another program",
    "rag-write.lock": "another program",
    "rag-derived/thesis.txt": "x",
    "rag-merging-x/thesis.txt": "x",
    "thesis.txt": "x",
}


def put(folder: Path, name: str, text: str = "x") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def tree(folder: Path) -> dict[str, str]:
    """Return each path below a folder with what it is or holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            what = f"-> {path.readlink()}"
        else:
            what = path.read_text(errors="replace") if path.is_file() else "folder"
        found[str(path.relative_to(folder))] = what
    return found


def filled(path: Path) -> Path:
    with create_store(path, CONFIG) as store, store.writer() as writer:
        writer.put(prepared("/a.pdf", ["Cats sit on mats. Dogs run."]))
    return path


def make(path: Path) -> None:
    create_store(path, CONFIG).close()


def merge_into(path: Path) -> None:
    if not (source := path.parent / "source").exists():
        filled(source)
    merge({"source": source}, path)


MAKERS = pytest.mark.parametrize("maker", [make, merge_into])


@MAKERS
@pytest.mark.parametrize("name", MINE)
def test_a_folder_that_holds_something_is_left_as_it_is_and_what_is_there_is_named(
    tmp_path: Path, maker: Callable[[Path], None], name: str
) -> None:
    place = tmp_path / "proj"
    put(place, name, MINE[name])
    before = tree(place)
    with pytest.raises((FolderNotEmptyError, IndexUnsafeError)) as caught:
        maker(place)
    assert name.split("/")[0] in caught.value.message
    assert caught.value.hint
    assert tree(place) == before


@MAKERS
def test_a_new_folder_below_it_is_made_an_index_as_the_hint_says(
    tmp_path: Path, maker: Callable[[Path], None]
) -> None:
    put(tmp_path / "proj", "thesis.txt")
    with pytest.raises(FolderNotEmptyError) as caught:
        maker(tmp_path / "proj")
    below = tmp_path / "proj" / "index"
    assert str(below) in caught.value.hint
    maker(below)
    with open_store(below) as store:
        assert store.verify() == []
    assert (tmp_path / "proj" / "thesis.txt").read_text() == "x"


@MAKERS
@pytest.mark.parametrize("beside", [[], [".DS_Store"], ["lost+found/", ".gitignore"]])
def test_an_empty_folder_and_one_with_what_systems_leave_there_is_made_an_index(
    tmp_path: Path, maker: Callable[[Path], None], beside: list[str]
) -> None:
    place = tmp_path / "new"
    place.mkdir()
    for name in beside:
        (place / name).mkdir() if name.endswith("/") else put(place, name)
    maker(place)
    assert {name.rstrip("/") for name in beside} <= {path.name for path in place.iterdir()}


def test_indexes_in_folders_below_do_not_stand_in_the_way(tmp_path: Path) -> None:
    filled(tmp_path / ".rag" / "demo")
    filled(tmp_path / ".rag" / "reports" / "2024")
    make(tmp_path / ".rag")
    with open_store(tmp_path / ".rag" / "demo") as store:
        assert store.verify() == []


@pytest.mark.parametrize("name", ["demo/thesis.txt", "a/b/c/thesis.txt", "empty/"])
def test_a_folder_below_that_holds_something_else_does(tmp_path: Path, name: str) -> None:
    filled(tmp_path / ".rag" / "index")
    place = tmp_path / ".rag" / name
    place.mkdir(parents=True) if name.endswith("/") else put(tmp_path / ".rag", name)
    with pytest.raises(FolderNotEmptyError, match=name.split("/")[0]):
        make(tmp_path / ".rag")


def test_folders_without_end_below_are_something_else(tmp_path: Path) -> None:
    place = tmp_path / "deep"
    place.mkdir()
    handle = os.open(place, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("a", dir_fd=handle)
        below = os.open("a", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    try:
        with pytest.raises(FolderNotEmptyError):
            make(place)
    finally:
        subprocess.run(["rm", "-rf", place], check=True)


@pytest.mark.parametrize("what", ["file", "dangling"])
def test_a_path_that_is_no_folder_is_named_and_left(tmp_path: Path, what: str) -> None:
    path = tmp_path / "path"
    path.write_text("x") if what == "file" else path.symlink_to(tmp_path / "nowhere")
    before = tree(tmp_path)
    with pytest.raises(IndexReadOnlyError, match=r"path (cannot be|is a file)"):
        make(path)
    assert tree(tmp_path) == before


def test_files_that_were_put_into_an_index_stay(tmp_path: Path) -> None:
    index = filled(tmp_path / "index")
    mine = [name for name in MINE if not name.startswith(("rag-write", "index.sqlite-wal"))]
    for name in mine:
        put(index, name, MINE[name])
    with open_store(index) as store, store.writer() as writer:
        writer.put(prepared("/b.pdf", ["Fish swim."]))
        writer.remove(["/a.pdf"])
    assert {name: tree(index)[name] for name in mine} == {name: MINE[name] for name in mine}


LINKS = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", LOCK, DERIVED)


@pytest.mark.parametrize("name", LINKS)
def test_a_link_in_an_index_is_refused_for_reading_and_writing_and_its_target_stays(
    tmp_path: Path, name: str
) -> None:
    index, target = filled(tmp_path / "index"), tmp_path / "target"
    if (index / name).exists():
        (index / name).rename(target)
    else:
        target.write_text("mine")
    (index / name).symlink_to(target)
    before = tree(tmp_path)
    with pytest.raises(IndexUnsafeError, match=f"{name} is a symbolic link"):
        open_store(index)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", LINKS)
def test_a_link_that_appears_in_an_open_index_is_not_written_through(
    tmp_path: Path, name: str
) -> None:
    index, target = filled(tmp_path / "index"), tmp_path / "target"
    with open_store(index) as store:
        if name == DERIVED:
            shutil.copytree(index / DERIVED, target)
            shutil.rmtree(index / DERIVED)
        else:
            target.write_bytes((index / name).read_bytes() if (index / name).exists() else b"")
            (index / name).unlink(missing_ok=True)
        (index / name).symlink_to(target)
        before = tree(target) if target.is_dir() else target.read_bytes()
        with pytest.raises(IndexUnsafeError), store.writer() as writer:
            writer.put(prepared("/b.pdf", ["Fish swim."]))
    assert (tree(target) if target.is_dir() else target.read_bytes()) == before


def test_a_derived_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    index = filled(tmp_path / "index")
    one = next((index / DERIVED).iterdir())
    one.rename(tmp_path / "target")
    one.symlink_to(tmp_path / "target")
    with pytest.raises(IndexUnsafeError, match=f"{one.name} is a symbolic link"):
        open_store(index)
    assert (tmp_path / "target").exists()


@MAKERS
@pytest.mark.parametrize("name", LINKS)
def test_no_index_is_made_where_a_link_stands(
    tmp_path: Path, maker: Callable[[Path], None], name: str
) -> None:
    place, target = tmp_path / "proj", tmp_path / "target"
    place.mkdir()
    put(target, "thesis.txt")
    (place / name).symlink_to(target if name == DERIVED else target / "thesis.txt")
    with pytest.raises(StoreError):
        maker(place)
    assert tree(target) == {"thesis.txt": "x"}
    assert [path.name for path in place.iterdir()] == [name]


def test_an_index_whose_folder_is_reached_by_a_link_is_used(tmp_path: Path) -> None:
    filled(tmp_path / "index")
    (tmp_path / "link").symlink_to(tmp_path / "index")
    with open_store(tmp_path / "link") as store, store.writer() as writer:
        writer.put(prepared("/b.pdf", ["Fish swim."]))
    with open_store(tmp_path / "index") as store, store.snapshot() as snapshot:
        assert len(snapshot.names()) == 2


@pytest.mark.parametrize("name", [DATABASE, LOCK])
def test_a_second_name_of_a_file_that_would_be_written_in_place_is_refused(
    tmp_path: Path, name: str
) -> None:
    """As a snapshot by `cp -l` has it: writing the index would change the snapshot."""
    index = filled(tmp_path / "index")
    os.link(index / name, tmp_path / "snapshot")
    before = (tmp_path / "snapshot").read_bytes()
    with (
        open_store(index) as store,
        pytest.raises(IndexUnsafeError, match="link"),
        store.writer(),
    ):
        pass
    assert (tmp_path / "snapshot").read_bytes() == before


@pytest.mark.parametrize("name", [DATABASE, LOCK])
def test_a_pipe_in_an_index_is_refused_and_nobody_waits(tmp_path: Path, name: str) -> None:
    index = filled(tmp_path / "index")
    (index / name).unlink()
    os.mkfifo(index / name)
    with pytest.raises(IndexUnsafeError, match="not a plain file"):
        open_store(index)


def test_another_programs_database_is_not_even_opened(tmp_path: Path) -> None:
    """SQLite would move its log into it, and remove the log."""
    place = tmp_path / "theirs"
    place.mkdir()
    sql = sqlite3.connect(place / DATABASE)
    sql.execute("PRAGMA journal_mode = WAL")
    sql.execute("CREATE TABLE mine (x)")
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    for attempt in (lambda: open_store(place), lambda: make(place)):
        with pytest.raises(RagError):
            attempt()
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before
    sql.close()


def rollback_journal(victim: Path) -> bytes:
    """Return a journal of SQLite that says: this was one of several files, see ``victim``."""
    magic = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    header = magic + struct.pack(">IIIII", 0, 1, 1, 512, 8192)
    name = os.fsencode(victim)
    trailer = struct.pack(">I", 8192 // 65536 + 131073)  # a page that is never a database's
    trailer += name + struct.pack(">II", len(name), sum(name)) + magic
    return header.ljust(512, b"\0") + trailer


def test_a_journal_that_makes_sqlite_remove_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    index, mine = filled(tmp_path / "index"), put(tmp_path, "thesis.txt")
    (index / f"{DATABASE}-journal").write_bytes(rollback_journal(mine))
    with pytest.raises(IndexUnsafeError, match="not of this program"):
        open_store(index)
    assert mine.read_text() == "x"


def test_a_draft_that_another_run_did_not_record_stays(tmp_path: Path) -> None:
    names = [f"{DATABASE}.{'0' * 16}.new", f"rag-merging-{'0' * 16}"]
    put(tmp_path / "C", names[0])
    put(tmp_path / "C", f"{names[1]}/thesis.txt")
    merge_into(tmp_path / "C")
    assert (tmp_path / "C" / names[0]).read_text() == "x"
    assert (tmp_path / "C" / names[1] / "thesis.txt").read_text() == "x"


@pytest.mark.parametrize("name", ["../thesis.txt", "thesis.txt", "..", ".", "rag-merging-0"])
def test_a_lock_file_that_names_anything_but_a_draft_removes_nothing(
    tmp_path: Path, name: str
) -> None:
    index = filled(tmp_path / "index")
    mine = [put(tmp_path, "thesis.txt"), put(index, "thesis.txt"), put(index, "rag-merging-0/x")]
    (index / LOCK).write_text(f"{1:<20}\n{name}\n")
    with open_store(index) as store:
        try:
            with store.writer():
                pass
        except IndexUnsafeError:
            assert "/" in name
    assert [path.read_text() for path in mine] == ["x", "x", "x"]


def test_a_merge_that_fails_leaves_what_was_put_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "source")

    def fail(*_: object) -> None:
        put(tmp_path / "C", "thesis.txt")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rag_app.store.sqlite.drafts._move", fail)
    with pytest.raises(OSError, match="No space"):
        merge({"source": tmp_path / "source"}, tmp_path / "C")
    assert tree(tmp_path / "C") == {"thesis.txt": "x"}


def test_a_merge_whose_log_could_not_be_moved_into_its_database_is_not_reported_as_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "source")
    monkeypatch.setattr("rag_app.store.sqlite.store._tidy", lambda sql: _PINNED.append(pin(sql)))
    try:
        with pytest.raises(StoreError, match="its log is still beside it"):
            merge({"source": tmp_path / "source"}, tmp_path / "C")
    finally:
        _PINNED.pop().close()
    assert not (tmp_path / "C").exists()


_PINNED: list[sqlite3.Connection] = []


def pin(sql: sqlite3.Connection) -> sqlite3.Connection:
    """Return a second connection, which keeps the first from tidying up when it closes."""
    (_, _, file) = sql.execute("PRAGMA database_list").fetchone()
    other = sqlite3.connect(file)
    other.execute("SELECT * FROM state").fetchall()
    return other


@pytest.mark.parametrize("name", ["thesis/x.txt", "package.lock", "0" * 40, "model.xml"])
def test_a_folder_of_the_user_that_is_named_as_the_cache_is_left_as_it_is(
    tmp_path: Path, name: str
) -> None:
    place = tmp_path / "theirs"
    mine = put(place, name)
    place.chmod(0o755)
    cache = IndexCache(place, limit_mb=0)
    with pytest.raises(StoreError, match="holds other things"):
        cache.prepare()
    assert (cache.entries(), cache.trim(), cache.clear()) == ([], [], ([], []))
    assert mine.read_text() == "x"
    assert place.stat().st_mode & 0o777 == 0o755


def test_what_is_put_into_the_cache_later_is_not_cleared(tmp_path: Path) -> None:
    cache = IndexCache(tmp_path / "cache", limit_mb=0)
    cache.prepare()
    mine = [put(cache.root, name) for name in ("thesis/x.txt", "package.lock", "notes.gone/x")]
    target = put(tmp_path, "target/x.txt").parent
    (cache.root / f"{'0' * 40}-{'0' * 12}").symlink_to(target)
    cache.prepare()
    assert (cache.trim(), cache.clear()) == ([], ([], []))
    assert [path.read_text() for path in mine] == ["x", "x", "x"]
    assert tree(target) == {"x.txt": "x"}


def test_a_cache_that_is_a_link_is_refused_and_its_target_stays(tmp_path: Path) -> None:
    target = put(tmp_path, "target/x.txt").parent
    target.chmod(0o755)
    (tmp_path / "cache").symlink_to(target)
    with pytest.raises(StoreError, match="symbolic link"):
        IndexCache(tmp_path / "cache", limit_mb=1).prepare()
    assert target.stat().st_mode & 0o777 == 0o755
    assert tree(target) == {"x.txt": "x"}


def test_a_lock_in_the_cache_is_not_made_through_a_link(tmp_path: Path) -> None:
    cache = IndexCache(tmp_path / "cache", limit_mb=1)
    cache.prepare()
    key = f"{'0' * 40}-{'0' * 12}"
    (cache.root / f"{key}.lock").symlink_to(tmp_path / "made")
    with pytest.raises(IndexUnsafeError, match="not the lock file"), cache.change(key, wait=0):
        pass
    assert not (tmp_path / "made").exists()


def test_a_file_that_a_lock_in_the_cache_links_to_keeps_its_times(tmp_path: Path) -> None:
    cache = IndexCache(tmp_path / "cache", limit_mb=1)
    cache.prepare()
    key, mine = f"{'0' * 40}-{'0' * 12}", put(tmp_path, "thesis.txt")
    (cache.root / f"{key}.lock").symlink_to(mine)
    before = mine.stat()
    cache.touch([key])
    assert mine.stat().st_mtime_ns == before.st_mtime_ns


def test_a_graph_that_was_not_made_here_is_not_pruned(tmp_path: Path) -> None:
    mine = put(tmp_path, "bert/model.xml")
    ours = put(tmp_path, f"{'0' * 32}/model.xml")
    (tmp_path / ("1" * 32)).symlink_to(mine.parent)
    _prune(tmp_path, 0, keep=tmp_path / "none")
    assert mine.exists()
    assert not ours.exists()


def test_a_database_of_ours_that_names_files_elsewhere_is_not_followed(tmp_path: Path) -> None:
    index, mine = filled(tmp_path / "index"), put(tmp_path, "thesis.txt")
    sql = sqlite3.connect(index / DATABASE)
    with sql:
        sql.execute("UPDATE derived SET file = '../thesis.txt' WHERE how = 'words'")
        sql.execute("INSERT INTO unused_files VALUES ('../thesis.txt'), ('rag-derived/../../x')")
    sql.close()
    with open_store(index) as store:
        with (
            pytest.raises(IndexDamagedError, match="names a derived file"),
            store.snapshot() as snapshot,
        ):
            snapshot.search_words("parent", ["cats"], 3)
        with pytest.raises(IndexDamagedError), store.writer() as writer:
            writer.put(prepared("/b.pdf", ["Fish swim."]))
    assert mine.read_text() == "x"


def test_a_link_that_is_put_there_while_the_database_is_opened_is_noticed_before_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, other = filled(tmp_path / "index"), filled(tmp_path / "other")
    before = (other / DATABASE).read_bytes()
    plain = connect._connect

    def swapped(database: Path, mode: str) -> sqlite3.Connection:
        monkeypatch.undo()
        database.unlink()
        database.symlink_to(other / DATABASE)
        return plain(database, mode)

    with open_store(index) as store:
        monkeypatch.setattr(connect, "_connect", swapped)
        with pytest.raises(IndexUnsafeError, match="symbolic link"), store.writer() as writer:
            writer.put(prepared("/b.pdf", ["Fish swim."]))
    assert (other / DATABASE).read_bytes() == before
