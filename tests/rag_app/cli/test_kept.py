"""Kept indexes: found by content, merged for several files, never half, never in the way."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import ReadError
from rag_app.cli import keeper
from rag_app.cli.cache import IndexCache
from rag_app.cli.kept import pdfs as open_pdfs
from rag_app.cli.output import Output
from rag_app.cli.session import Session
from rag_app.index import Index
from rag_app.settings import load_settings
from rag_app.store import merge as merging
from tests.rag_app.cli.conftest import CRANE, VALVE
from tests.support.openai_server import Failure, Reply
from tests.support.pdfs import make_pdf

VALVE_QUESTION = "What is the lead time of the valve?"
CRANE_QUESTION = "Which class of licence must the operator of the crane hold?"
_ANSWER = 9  # texts of an answer that may be embedded: its sentences


@pytest.fixture
def two(pdfs) -> list[Path]:
    return [pdfs / "valve.pdf", pdfs / "crane.pdf"]


def cache() -> IndexCache:
    return IndexCache.of(load_settings())


def opened(monkeypatch) -> list[Path]:
    """Return a list that grows with each index that is opened."""
    paths: list[Path] = []
    plain = Index.open.__func__

    def spy(cls, path, **options):
        paths.append(Path(path))
        return plain(cls, path, **options)

    monkeypatch.setattr(Index, "open", classmethod(spy))
    return paths


def cited(done) -> list[str]:
    return [citation["file"] for citation in done.json["citations"]]


def here(**settings) -> Session:
    import sys

    out = Output(sys.stdout, sys.stderr, json=False, quiet=True)
    return Session(load_settings(None, **settings), out)


def databases() -> list[Path]:
    return sorted(cache().root.rglob("index.sqlite"))


def in_a_child(work: Callable[[], None]) -> int:
    """Return the exit status of a forked process, which may kill itself."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]


def test_the_second_question_opens_one_index_and_embeds_no_passage(rag, two, model, monkeypatch):
    first = rag("ask", CRANE_QUESTION, *two, "--json")
    assert "reading" in first.err
    embedded, paths = model.embedded, opened(monkeypatch)
    second = rag("ask", CRANE_QUESTION, *reversed(two), "--json")
    assert (second.code, second.err) == (0, "")
    assert second.json["sentences"] == first.json["sentences"]
    assert len(paths) == 1
    assert model.embedded - embedded <= _ANSWER
    assert len(cache().entries()) == 3


def test_merging_embeds_nothing_again(rag, two, model):
    for file in two:
        rag("ask", CRANE_QUESTION, file)
    embedded = model.embedded
    assert rag("ask", CRANE_QUESTION, *two).err == ""
    assert model.embedded - embedded <= _ANSWER


def test_several_files_answer_as_one_index_of_them_does(rag, two):
    rag("ingest", *two, "--index", "both", "--quiet")
    for question in (VALVE_QUESTION, CRANE_QUESTION):
        by_index = rag("ask", question, "--index", "both", "--json").json
        for _ in range(2):
            by_files = rag("ask", question, *two, "--json").json
            for answer in (by_index, by_files):
                answer.pop("timings_ms", None)
            assert by_files == by_index


@pytest.mark.parametrize("number", [1, 2])
def test_nothing_of_the_cache_is_shown(rag, two, number):
    files = two[:number]
    for _ in range(2):
        found = rag("ask", VALVE_QUESTION, *files, "--json")
        text = rag("ask", VALVE_QUESTION, *files)
        assert {citation["origin"] for citation in found.json["citations"]} == {""}
        shown = found.out + text.out + found.err + text.err
        assert "valve.pdf, page 2 (1)\n" in text.out
        for kept_index in cache().entries():
            assert kept_index.key not in shown
        assert str(cache().root) not in shown


def test_of_two_files_only_the_changed_one_is_read_again(rag, two, model):
    rag("ask", CRANE_QUESTION, *two)
    make_pdf(two[1], [CRANE.replace("class B", "class C")])
    embedded = model.embedded
    done = rag("ask", CRANE_QUESTION, *two, "--json")
    assert done.err == "reading pdfs/crane.pdf\n"
    assert "class C" in done.json["answer"]
    assert model.embedded - embedded <= _ANSWER + 2  # its children of 128 and 256 tokens


def test_moved_and_swapped_files_are_called_by_their_new_names_alone(rag, two, model, monkeypatch):
    rag("ask", CRANE_QUESTION, *two)
    swap = two[0].rename(two[0].with_name("swap.pdf"))
    two[1].rename(two[0])
    swap.rename(two[1])
    embedded, paths = model.embedded, opened(monkeypatch)
    done = rag("ask", CRANE_QUESTION, *two, "--json")
    assert cited(done)[0] == "valve.pdf"
    assert model.embedded - embedded <= _ANSWER
    assert len(set(paths)) == 1
    moved = [file.rename(file.with_name(f"new-{file.name}")) for file in two]
    assert cited(rag("ask", CRANE_QUESTION, *moved, "--json"))[0] == "new-valve.pdf"
    old = rag("ask", CRANE_QUESTION, *moved, "--file", "valve.pdf")
    assert old.code == 1
    assert "no file of the index is called 'valve.pdf'" in old.err
    for database in databases():
        with Index.open(database.parent, embed_model=model) as index:
            assert index.info(verify=True).findings == ()


def test_a_part_that_was_last_asked_under_another_name_is_merged_under_the_new_one(rag, two):
    rag("ask", CRANE_QUESTION, two[1])
    moved = two[1].rename(two[1].with_name("moved.pdf"))
    assert cited(rag("ask", CRANE_QUESTION, two[0], moved, "--json"))[0] == "moved.pdf"


def test_parts_that_have_one_name_from_different_times_are_both_there(rag, pdfs, place):
    """One path held one content, then another; both are asked, each under a name of its own."""
    path = place / "report.pdf"
    for text in (VALVE, CRANE):
        make_pdf(path, [text])
        rag("ask", VALVE_QUESTION, path)
    make_pdf(place / "old.pdf", [VALVE])
    both = rag("ask", VALVE_QUESTION, path, place / "old.pdf", "--json")
    assert cited(both)[0] == "old.pdf"
    assert cited(rag("ask", CRANE_QUESTION, path, place / "old.pdf", "--json"))[0] == "report.pdf"


def test_one_content_under_two_names_is_one_index_that_knows_both(rag, two, pdfs):
    copy = pdfs / "copy.pdf"
    copy.write_bytes(two[0].read_bytes())
    for _ in range(2):
        for name in ("copy.pdf", "valve.pdf"):
            done = rag("ask", VALVE_QUESTION, two[0], copy, "--file", name, "--json")
            assert (done.code, done.json["outcome"]) == (0, "answered")
    (entry,) = cache().entries()
    assert entry.files == (str(two[0]), str(copy))
    rag("ask", VALVE_QUESTION, two[0])
    assert rag("ask", VALVE_QUESTION, two[0], "--file", "copy.pdf").code == 1
    with_another = rag("ask", VALVE_QUESTION, two[0], copy, two[1], "--file", "copy.pdf", "--json")
    assert with_another.json["outcome"] == "answered"


def test_a_file_that_is_named_twice_is_one(rag, two):
    rag("ask", VALVE_QUESTION, two[0], "pdfs/valve.pdf")
    (entry,) = cache().entries()
    assert entry.files == (str(two[0]),)


def test_what_cannot_be_read_is_left_out_of_what_is_kept(rag, two, pdfs):
    for name, data in (("empty.pdf", b""), ("torn.pdf", b"%PDF-1.4 nothing")):
        (pdfs / name).write_bytes(data)
    bad = [pdfs / "empty.pdf", pdfs / "torn.pdf", pdfs / "missing.pdf"]
    for _ in range(2):
        done = rag("ask", CRANE_QUESTION, *bad, *two, "--json")
        assert (done.code, done.err.count("it was left out")) == (0, 3)
        assert {one["file"] for one in done.json["files_failed"]} == set(map(str, bad))
    assert {entry.files for entry in cache().entries()} == {
        (str(two[0]),),
        (str(two[1]),),
        (str(two[0]), str(two[1])),
    }
    assert rag("ask", CRANE_QUESTION, *two).err == ""


def test_when_none_can_be_read_it_is_an_error(rag, pdfs):
    for name in ("a.pdf", "b.pdf"):
        (pdfs / name).write_bytes(b"")
    done = rag("ask", CRANE_QUESTION, pdfs / "a.pdf", pdfs / "b.pdf", pdfs / "missing.pdf")
    assert done.code == 1
    assert "error: none of the 3 files could be read" in done.err
    assert cache().entries() == []


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
    sql.commit()
    sql.close()


def other_reader(database: Path) -> None:
    sql = sqlite3.connect(database)
    sql.execute("UPDATE contents SET fingerprint = 'pypdfium2/1.0/1'")
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
    (merged,) = [entry for entry in cache().entries() if len(entry.files) == 2]
    older_schema(cache().root / merged.key / "index" / "index.sqlite")
    embedded = model.embedded
    assert rag("ask", VALVE_QUESTION, *two).err == ""
    assert model.embedded - embedded <= _ANSWER


def test_a_merge_that_is_killed_is_never_used(rag, two, model):
    for file in two:
        rag("ask", VALVE_QUESTION, file)

    def killed() -> None:
        merging.sync_folder = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        with open_pdfs(two, here()):
            pass

    assert os.WIFSIGNALED(in_a_child(killed))
    embedded = model.embedded
    done = rag("ask", CRANE_QUESTION, *two, "--json")
    assert (done.code, done.err, cited(done)[0]) == (0, "", "crane.pdf")
    assert model.embedded - embedded <= _ANSWER
    (merged,) = [entry for entry in cache().entries() if len(entry.files) == 2]
    with Index.open(cache().root / merged.key / "index", embed_model=model) as index:
        assert index.info(verify=True).findings == ()
        assert not list(index.path.glob("merging-*"))


def test_ctrl_c_in_a_merge_leaves_nothing_half(rag, two, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(merging, "_move", interrupt)
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
    reading = threading.Event()
    plain = Index.ingest

    def slow(index, *inputs, **options):
        reading.set()
        time.sleep(1.0)
        return plain(index, *inputs, **options)

    monkeypatch.setattr(Index, "ingest", slow)
    monkeypatch.setattr(keeper, "_WAIT", 0.05)

    def first() -> None:
        with open_pdfs(two[:1], here()):
            pass

    other = threading.Thread(target=first)
    other.start()
    reading.wait(5)
    done = rag("ask", VALVE_QUESTION, two[0])
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
        assert model.embedded - embedded <= _ANSWER
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


def test_an_index_larger_than_the_limit_answers_and_is_not_kept_for_others(
    rag, two, place, monkeypatch
):
    monkeypatch.setenv("RAG_CACHE_LIMIT_MB", "1")
    monkeypatch.setattr("rag_app.store.sqlite.folder_bytes", lambda _: 2_000_000)
    assert rag("ask", VALVE_QUESTION, *two).code == 0
    (entry,) = cache().entries()
    assert entry.files == (str(two[0]), str(two[1]))


def test_a_cache_that_cannot_be_written_is_done_without(rag, two, place, monkeypatch):
    (place / "file").write_text("")
    monkeypatch.setenv("RAG_CACHE_DIR", str(place / "file"))
    done = rag("ask", CRANE_QUESTION, *two, "--json")
    assert (done.code, cited(done)[0]) == (0, "crane.pdf")
    assert "what is read is not kept" in done.err


def test_a_cache_on_a_network_drive_is_done_without(rag, two, monkeypatch):
    monkeypatch.setattr(
        "rag_app.store.lock.file_system",
        lambda path, mounts=None: "nfs" if path.is_relative_to(cache().root) else "ext4",
    )
    done = rag("ask", CRANE_QUESTION, *two)
    assert done.code == 0
    assert "what is read is not kept" in done.err
    assert "network drive (nfs)" in done.err


def test_the_table_of_the_cache_names_some_of_many_files(rag, pdfs):
    files = [make_pdf(pdfs / f"{n}.pdf", [f"Valve {n} opens at {n} bar."]) for n in range(5)]
    rag("ask", "At how many bar does valve 3 open?", *files)
    info = rag("cache", "info")
    assert "pdfs/0.pdf, pdfs/1.pdf, pdfs/2.pdf and 2 more" in info.out
    listed = rag("cache", "info", "--json").json["indexes"]
    assert sorted(map(str, files)) in [one["files"] for one in listed]


def test_words_alone_need_no_model_for_several_files(rag, two, monkeypatch):
    def refuse(settings):
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("rag_app.index.load_embedding", refuse)
    for _ in range(2):
        assert rag("ask", VALVE_QUESTION, *two, "--strategy", "bm25").code == 0


def test_another_strategy_has_an_index_of_its_own(rag, two):
    rag("ask", VALVE_QUESTION, *two)
    rag("ask", VALVE_QUESTION, *two, "--strategy", "bm25")
    assert len(databases()) == 6


def about_pieces(server) -> list[str]:
    """Return the prompts that asked a model for summaries and questions."""
    prompts = [chat.prompt for chat in server.chats]
    return [prompt for prompt in prompts if prompt.startswith(("You summarise", "You write q"))]


def test_pieces_are_written_once_and_merged(rag, two, serve):
    searched = ("--strategy", "multi_vector")

    def answer(request):
        if request.prompt.startswith("You write q"):
            return Reply("Which permit does one need to hoist?")
        return Reply("Hoisting needs a permit [1].")

    with serve(answer) as server:
        model = (*searched, "--llm", "like:test", "--base-url", server.url)
        assert rag("ask", VALVE_QUESTION, two[0], *model).code == 0
        of_one = len(about_pieces(server))
        assert rag("ask", CRANE_QUESTION, *two, *model).code == 0
        of_both = len(about_pieces(server))
        assert of_both > of_one > 0
        again = rag("ask", CRANE_QUESTION, *reversed(two), *model)
        assert (again.code, again.err) == (0, "")
        assert len(about_pieces(server)) == of_both
    # Nothing but a piece says this word; it leads to the crane's passage.
    (merged,) = [entry for entry in cache().entries() if len(entry.files) == 2]
    found = rag("search", "permit", "--index", cache().root / merged.key / "index", *searched)
    assert "piece" in found.out


def test_pieces_that_failed_are_written_by_the_next_question_and_merged(rag, two, serve):
    broken = True

    def answer(request):
        if broken and "crane" in request.prompt and request.prompt.startswith("You"):
            return Failure(400, "no")
        return Reply("The operator must hold a licence of class B [1].")

    with serve(answer) as server:
        model = ("--strategy", "multi_vector", "--llm", "like:test", "--base-url", server.url)
        rag("ask", CRANE_QUESTION, *two, *model)
        broken = False
        before = len(about_pieces(server))
        assert rag("ask", CRANE_QUESTION, *two, *model).code == 0
        written = about_pieces(server)[before:]
        assert written
        assert all("crane" in prompt for prompt in written)
        assert rag("ask", CRANE_QUESTION, *two, *model).err == ""
        assert about_pieces(server)[before:] == written
    (merged,) = [entry for entry in cache().entries() if len(entry.files) == 2]
    with Index.open(cache().root / merged.key / "index") as index:
        assert all(source.nodes["piece"] for source in index.info().sources)


def test_without_a_language_model_no_pieces_are_waited_for(rag, two):
    for said in ("reading", ""):
        done = rag("ask", VALVE_QUESTION, *two, "--strategy", "multi_vector")
        assert done.code == 0
        assert done.err.startswith(said)
    assert done.err == ""


def test_an_only_file_that_fails_raises_its_own_error(rag, pdfs):
    (pdfs / "empty.pdf").write_bytes(b"")
    with pytest.raises(ReadError, match="0 bytes"), open_pdfs([pdfs / "empty.pdf"], here()):
        pass
