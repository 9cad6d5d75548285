"""Opening: absent, damaged, newer, unwritable; and what is left on disk."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipelines.errors import (
    FolderNotEmptyError,
    IndexDamagedError,
    IndexExistsError,
    IndexMismatchError,
    IndexNewerError,
    IndexNotFoundError,
    IndexReadOnlyError,
    StoreError,
)
from rag_app.store.sqlite.connect import open_writer
from rag_app.store.sqlite.schema import _TABLES, DATABASE, DERIVED, LOCK, SCHEMA_VERSION
from rag_app.store.sqlite.store import create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared

NOBODY = 65534


def as_nobody(work: Callable[[], None]) -> None:
    """Run in a child process without any rights: root may write everywhere."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if os.getuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An index that anybody may read and nobody else may write."""
    before = os.umask(0o022)
    for place in (tmp_path, *tmp_path.parents):
        if place.owner() == "root" and os.getuid() == 0 and str(place) not in ("/", "/tmp"):
            place.chmod(0o755)
    path = tmp_path / "index"
    with create_store(path, CONFIG) as store, store.writer() as writer:
        writer.put(prepared("/a.pdf", ["Cats sit."]))
    yield path
    os.umask(before)


def found(path: Path) -> list[str]:
    with open_store(path) as store, store.snapshot() as snapshot:
        assert snapshot.search_words("parent", ["sit."], 5)
        return snapshot.names()


def test_an_absent_index_is_not_found(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(IndexNotFoundError, match="no index in"):
            open_store(path)
    assert list(tmp_path.iterdir()) == []


def test_an_index_is_made_once(folder: Path) -> None:
    with pytest.raises(IndexExistsError):
        create_store(folder, CONFIG)
    assert found(folder) == ["/a.pdf"]


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: b"not a database at all, but long enough to be read" * 50,
        lambda data: b"",
        lambda data: data[:5000],
        lambda data: data[:100] + b"\xff" * 4000 + data[4100:],
    ],
)
def test_a_damaged_database_is_told_from_an_absent_one(
    folder: Path, harm: Callable[[bytes], bytes]
) -> None:
    database = folder / DATABASE
    database.write_bytes(harm(database.read_bytes()))
    with pytest.raises(IndexDamagedError) as error:
        found(folder)
    assert error.value.hint


def test_damage_in_the_middle_is_found_by_verify(folder: Path) -> None:
    database = folder / DATABASE
    data = bytearray(database.read_bytes())
    at = data.rfind(b"Cats sit.")
    page = at // 8192 * 8192
    data[page : page + 16] = b"\xff" * 16
    database.write_bytes(data)
    with open_store(folder) as store:
        try:
            findings = store.verify()
        except IndexDamagedError:
            return
    assert findings


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / DATABASE) as sql:
        sql.execute("CREATE TABLE x (y)")
    sql.close()
    with pytest.raises(IndexDamagedError, match="not a database of this program"):
        open_store(tmp_path)


def test_a_database_that_lacks_a_table_is_damaged(folder: Path) -> None:
    sql = sqlite3.connect(folder / DATABASE)
    sql.execute("DROP TABLE terms")
    sql.close()
    with pytest.raises(IndexDamagedError, match="no such table: terms"):
        found(folder)


def test_a_newer_schema_names_both_versions(folder: Path) -> None:
    sql = sqlite3.connect(folder / DATABASE)
    sql.execute("PRAGMA user_version = 99")
    sql.close()
    with pytest.raises(IndexNewerError, match=f"schema 99; this one reads schema {SCHEMA_VERSION}"):
        open_store(folder)


def test_an_index_with_earlier_tables_is_told_before_anything_is_read(folder: Path) -> None:
    sql = sqlite3.connect(folder / DATABASE)
    sql.execute("PRAGMA user_version = 1")
    sql.execute("ALTER TABLE contents DROP COLUMN length")
    sql.close()
    for attempt in (lambda: open_store(folder), lambda: open_writer(folder)):
        with pytest.raises(IndexMismatchError, match=r"made by an earlier version.* with schema 1"):
            attempt()


def test_the_schema_has_another_number_when_its_tables_change() -> None:
    """Raise SCHEMA_VERSION and write the digest of the new tables here."""
    digest = hashlib.sha256(_TABLES.encode()).hexdigest()[:16]
    assert (SCHEMA_VERSION, digest) == (3, "a031267f54d145ab")


def test_the_log_of_a_removed_database_does_not_get_into_a_new_one(folder: Path) -> None:
    child = os.fork()
    if child == 0:
        store = open_store(folder)
        with store.writer() as writer:
            writer.put(prepared("/b.pdf", ["Dogs run."]))
            os._exit(0)
    os.waitpid(child, 0)
    (folder / DATABASE).unlink()
    left = {path.name for path in folder.iterdir()}
    with pytest.raises(FolderNotEmptyError, match=f"{DATABASE}-shm', '{DATABASE}-wal', '{DERIVED}"):
        create_store(folder, CONFIG)
    assert {path.name for path in folder.iterdir()} == left


def test_the_last_writer_leaves_no_log(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == [DATABASE, DERIVED, LOCK]


def test_a_folder_that_may_not_be_written_is_read(folder: Path) -> None:
    def work() -> None:
        assert found(folder) == ["/a.pdf"]
        with open_store(folder) as store:
            assert store.verify() == []
            with pytest.raises(IndexReadOnlyError, match="may not be written"), store.writer():
                pass

    as_nobody(work)


def test_a_folder_that_may_not_be_entered_is_named_with_what_to_ask_for(folder: Path) -> None:
    folder.chmod(0o700)

    def work() -> None:
        with pytest.raises(StoreError, match="may not be read") as caught:
            open_store(folder)
        assert "permission" in str(caught.value.hint)

    if os.getuid() == 0:  # the owner may enter, whatever else is said
        as_nobody(work)


@pytest.mark.parametrize("below", ["", "index"])
def test_links_in_a_circle_are_no_index_and_said_to_be(tmp_path: Path, below: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StoreError, match="cannot be opened: Too many levels of symbolic links"):
        open_store(tmp_path / "loop" / below)


def test_a_reader_without_rights_sees_what_is_written_beside_it(folder: Path) -> None:
    """Its connection takes no locks, so it must notice by itself."""
    go, gone = os.pipe()
    done, told = os.pipe()

    def work() -> None:
        with open_store(folder) as store:
            with store.snapshot() as snapshot:
                assert snapshot.names() == ["/a.pdf"]
            os.write(told, b"x")
            os.read(go, 1)
            with store.snapshot() as snapshot:
                assert snapshot.names() == ["/a.pdf", "/b.pdf"]

    def write() -> None:
        os.read(done, 1)
        with open_store(folder) as store, store.writer() as writer:
            writer.put(prepared("/b.pdf", ["Dogs run."]))
        os.write(gone, b"x")

    thread = threading.Thread(target=write)
    thread.start()
    as_nobody(work)
    thread.join()


def test_a_reader_without_rights_reads_beside_a_living_writer(folder: Path) -> None:
    with open_store(folder) as store, store.writer() as writer:
        writer.put(prepared("/b.pdf", ["Dogs run. They sit."]))
        as_nobody(lambda: _names_are(folder, ["/a.pdf", "/b.pdf"]))


def _names_are(folder: Path, names: list[str]) -> None:
    assert found(folder) == names


def test_a_reader_without_rights_refuses_what_a_killed_writer_left(folder: Path) -> None:
    child = os.fork()
    if child == 0:
        store = open_store(folder)
        with store.writer() as writer:
            writer.put(prepared("/b.pdf", ["Dogs run."]))
            os._exit(0)  # no checkpoint, no tidying up
    os.waitpid(child, 0)
    (folder / f"{DATABASE}-shm").unlink()

    def work() -> None:
        with pytest.raises(IndexReadOnlyError, match="has not finished"):
            found(folder)

    as_nobody(work)
    assert found(folder) == ["/a.pdf", "/b.pdf"]  # who may write mends it by opening
    as_nobody(lambda: _names_are(folder, ["/a.pdf", "/b.pdf"]))


def test_a_folder_that_cannot_be_made_is_read_only(folder: Path) -> None:
    def work() -> None:
        with pytest.raises(IndexReadOnlyError):
            create_store(folder.parent / "other", CONFIG)

    as_nobody(work)


def test_a_private_index_may_not_be_entered_by_others(tmp_path: Path) -> None:
    create_store(tmp_path / "index", CONFIG, private=True).close()
    assert (tmp_path / "index").stat().st_mode & 0o777 == 0o700


def test_a_closed_store_says_so(folder: Path) -> None:
    store = open_store(folder)
    store.close()
    with pytest.raises(StoreError, match="was closed"), store.snapshot():
        pass


def test_a_long_lived_reader_notices_another_index_at_its_path(folder: Path) -> None:
    with open_store(folder) as reader:
        with reader.snapshot() as snapshot:
            assert snapshot.search_words("parent", ["sit."], 5)
        folder.rename(folder.with_name("old"))
        with pytest.raises(IndexNotFoundError), reader.snapshot():
            pass
        with create_store(folder, CONFIG) as other, other.writer() as writer:
            writer.put(prepared("/other.pdf", ["Dogs run."]))
        with reader.snapshot() as snapshot:
            assert snapshot.names() == ["/other.pdf"]
            assert snapshot.search_words("parent", ["sit."], 5) == []
            assert len(snapshot.search_words("parent", ["run."], 5)) == 1


def test_connections_are_used_again(folder: Path) -> None:
    with open_store(folder) as store:
        with store.snapshot() as first, store.snapshot() as second:
            assert first._sql is not second._sql
            kept = {id(first._sql), id(second._sql)}
        with store.snapshot() as third:
            assert id(third._sql) in kept


def test_a_store_works_in_a_forked_child(folder: Path) -> None:
    with open_store(folder) as store:
        with store.snapshot() as snapshot:
            assert snapshot.names() == ["/a.pdf"]
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with store.snapshot() as snapshot:
                    status = int(snapshot.names() != ["/a.pdf"])
                store.close()
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        with store.snapshot() as snapshot:
            assert snapshot.names() == ["/a.pdf"]


def test_many_threads_share_one_store(folder: Path) -> None:
    with open_store(folder) as store:
        wrong: list[object] = []

        def work() -> None:
            for _ in range(20):
                with store.snapshot() as snapshot:
                    hits = snapshot.search_words("parent", ["sit."], 5)
                    if len(hits) != 1 or len(snapshot.nodes([hits[0].node_id])) != 1:
                        wrong.append(hits)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
