"""Cached indexes that are stale, torn or in use: never half, never in the way."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_app.cached.folders import IndexCache
from rag_app.cli.output import Output
from rag_app.cli.pdfs import cached_pdfs as open_pdfs
from rag_app.index import Index
from rag_app.store.sqlite import drafts
from tests.rag_app.cli.cached_pdfs import (
    ANSWER,
    CRANE_QUESTION,
    VALVE_QUESTION,
    cache,
    cited,
    databases,
    here,
    merged_path,
)
from tests.rag_app.cli.conftest import CRANE
from tests.support.hanging import MAX_HANG_S
from tests.support.pdfs import make_pdf
from tests.support.resealing import reseal


def in_a_child(work: Callable[[], None]) -> int:
    """Return the exit status of a forked process, which may kill itself."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]


def test_a_file_that_changes_while_it_is_read_is_not_kept_under_its_old_hash(rag, two, monkeypatch):
    plain = Index.ingest

    def change_first(index, *inputs, **options):
        make_pdf(two[0], [CRANE])
        return plain(index, *inputs, **options)

    monkeypatch.setattr(Index, "ingest", change_first)
    done = rag("ask", VALVE_QUESTION, two[0])
    assert done.code == 1
    assert "pdfs/valve.pdf changed while it was read (ask again)" in done.err
    assert cache().entries() == []


def older_schema(database: Path) -> None:
    sql = sqlite3.connect(database)
    sql.execute("PRAGMA user_version = 1")
    sql.close()


def other_weights(database: Path) -> None:
    sql = sqlite3.connect(database)
    (config,) = sql.execute("SELECT config FROM state").fetchone()
    config = json.dumps(json.loads(config) | {"embed_fingerprint": "other"})
    sql.execute("UPDATE state SET config = ?", (config,))
    reseal(sql, database.parent)
    sql.commit()
    sql.close()


def other_reader(database: Path) -> None:
    sql = sqlite3.connect(database)
    sql.execute("UPDATE contents SET fingerprint = 'pypdfium2/1.0/1'")
    reseal(sql, database.parent)
    sql.commit()
    sql.close()


def damaged(database: Path) -> None:
    database.write_bytes(b"this is no database" * 1000)


def gone(database: Path) -> None:
    database.unlink()


@pytest.mark.parametrize("spoil", [older_schema, other_weights, other_reader, damaged, gone])
@pytest.mark.parametrize("number", [1, 2])
def test_what_is_stale_is_made_anew(rag, two, model, spoil, number):
    files = two[:number]
    rag("ask", VALVE_QUESTION, *files)
    assert len(databases()) == 2 * number - 1
    for database in databases():
        spoil(database)
    done = rag("ask", VALVE_QUESTION, *files, "--json")
    assert (done.code, cited(done)[0]) == (0, "valve.pdf")
    assert done.err.count("reading") == number
    assert rag("ask", VALVE_QUESTION, *files).err == ""
    for database in databases():
        with Index.open(database.parent, embed_model=model) as index:
            assert index.info(verify=True).findings == ()


def test_a_stale_merged_index_is_made_of_its_parts(rag, two, model):
    rag("ask", VALVE_QUESTION, *two)
    older_schema(merged_path() / "index.sqlite")
    embedded = model.embedded
    assert rag("ask", VALVE_QUESTION, *two).err == ""
    assert model.embedded - embedded <= ANSWER


def test_a_merge_that_is_killed_is_never_used(rag, two, model):
    for file in two:
        rag("ask", VALVE_QUESTION, file)

    def killed() -> None:
        drafts.sync_folder = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        with open_pdfs(two, here()):
            pass

    assert os.WIFSIGNALED(in_a_child(killed))
    embedded = model.embedded
    done = rag("ask", CRANE_QUESTION, *two, "--json")
    assert (done.code, done.err, cited(done)[0]) == (0, "", "crane.pdf")
    assert model.embedded - embedded <= ANSWER
    with Index.open(merged_path(), embed_model=model) as index:
        assert index.info(verify=True).findings == ()
        assert not list(index.path.glob("rag-merging-*"))


def test_ctrl_c_in_a_merge_leaves_nothing_half(rag, two, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(drafts, "_move", interrupt)
        assert rag("ask", VALVE_QUESTION, *two).code == 130
    assert rag("ask", VALVE_QUESTION, *two).err == ""


def test_ctrl_c_while_a_file_is_read_leaves_nothing_that_is_used(rag, two, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Index, "ingest", interrupt)
        assert rag("ask", VALVE_QUESTION, *two).code == 130
    assert "(not finished)" in rag("cache", "info").out
    assert rag("ask", VALVE_QUESTION, *two).code == 0
    assert "(not finished)" not in rag("cache", "info").out


def test_two_processes_at_once_make_each_index_once(rag, two, model):
    """Each child reports how many texts it embedded."""
    read, write = os.pipe()

    def ask() -> None:
        with open_pdfs(two, here()) as source:
            assert len(source.index.info(verify=True).sources) == 2
            assert source.index.info(verify=True).findings == ()
        os.write(write, f"{model.embedded}\n".encode())
        os._exit(0)

    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                ask()
            finally:
                os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    os.close(write)
    with os.fdopen(read) as stream:
        embedded = sum(map(int, stream))
    assert len(databases()) == 3
    rag("cache", "clear")
    before = model.embedded
    with open_pdfs(two, here()):
        pass
    assert embedded == model.embedded - before


def test_a_second_process_waits_and_says_so_while_the_first_reads(rag, two, monkeypatch):
    reading, told = threading.Event(), threading.Event()
    plain_ingest, plain_note = Index.ingest, Output.note

    def read_on_when_told(index, *inputs, **options):
        reading.set()
        assert told.wait(MAX_HANG_S)
        return plain_ingest(index, *inputs, **options)

    def note(output, text):
        plain_note(output, text)
        if text.startswith("waiting"):
            told.set()

    monkeypatch.setattr(Index, "ingest", read_on_when_told)
    monkeypatch.setattr(Output, "note", note)

    def first() -> None:
        with open_pdfs(two[:1], here()):
            pass

    other = threading.Thread(target=first)
    other.start()
    assert reading.wait(MAX_HANG_S)
    done = rag("ask", VALVE_QUESTION, two[0])
    told.set()
    other.join()
    assert done.code == 0
    assert done.err == "waiting for another process that reads the same files\n"


@pytest.mark.parametrize("number", [1, 2])
def test_who_uses_an_index_keeps_his_names_while_others_ask_under_their_own(
    rag, two, place, model, number
):
    files = two[:number]
    copies = []
    for file in files:
        copies.append(place / f"copy-{file.name}")
        copies[-1].write_bytes(file.read_bytes())
    with open_pdfs(files, here()) as source:
        embedded = model.embedded
        done = rag("ask", VALVE_QUESTION, *copies, "--json")
        assert (done.code, cited(done)[0]) == (0, "copy-valve.pdf")
        assert model.embedded - embedded <= ANSWER
        names = {name for one in source.index.info().sources for name in one.names}
        assert names == set(map(str, files))
    before = set(databases())
    assert cited(rag("ask", VALVE_QUESTION, *copies, "--json"))[0] == "copy-valve.pdf"
    assert set(databases()) == before


def test_a_stale_index_that_is_in_use_is_an_error_that_says_to_wait(rag, two):
    with open_pdfs(two[:1], here()):
        (database,) = databases()
        older_schema(database)
        done = rag("ask", VALVE_QUESTION, two[0])
    assert done.code == 1
    assert "out of date, and another process uses it (ask again when it has" in done.err
    assert rag("ask", VALVE_QUESTION, two[0]).code == 0


def test_the_limit_takes_the_merged_index_before_its_parts_and_never_what_is_in_use(
    rag, two, pdfs, monkeypatch
):
    rag("ask", VALVE_QUESTION, *two)
    entries = {entry.files: entry for entry in cache().entries()}
    total = sum(entry.bytes for entry in entries.values())
    merged = entries[str(two[0]), str(two[1])]
    assert all(merged.used <= entry.used for entry in entries.values())
    small = IndexCache(cache().root, limit_mb=1)
    small.limit = total - 1
    with open_pdfs(two, here()):
        (removed,) = small.trim()
        assert len(removed.files) == 1
        assert rag("cache", "clear").out.endswith("1 are in use and stay\n")
    assert rag("ask", VALVE_QUESTION, *two).err == ""
    small.limit = 0
    assert len(small.trim()) == 1
    assert databases() == []
