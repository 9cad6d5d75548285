"""PDFs beside the question: quick the second time, and nothing of the cache is shown."""

from __future__ import annotations

import pytest

from pipelines.errors import ReadError
from rag_app.cli.pdfs import cached_pdfs as open_pdfs
from tests.rag_app.cli.cached_pdfs import (
    ANSWER,
    CRANE_QUESTION,
    VALVE_QUESTION,
    cache,
    cited,
    databases,
    here,
    opened,
)
from tests.support.pdfs import make_pdf


def test_the_second_question_opens_one_index_and_embeds_no_passage(rag, two, model, monkeypatch):
    first = rag("ask", CRANE_QUESTION, *two, "--json")
    assert "reading" in first.err
    embedded, paths = model.embedded, opened(monkeypatch)
    second = rag("ask", CRANE_QUESTION, *reversed(two), "--json")
    assert (second.code, second.err) == (0, "")
    assert second.json["sentences"] == first.json["sentences"]
    assert len(paths) == 1
    assert model.embedded - embedded <= ANSWER
    assert len(cache().entries()) == 3


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
        for cached_index in cache().entries():
            assert cached_index.key not in shown
        assert str(cache().root) not in shown


def test_what_cannot_be_read_is_left_out_of_what_is_cached(rag, two, pdfs):
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


def test_an_only_file_that_fails_raises_its_own_error(rag, pdfs):
    (pdfs / "empty.pdf").write_bytes(b"")
    with pytest.raises(ReadError, match="0 bytes"), open_pdfs([pdfs / "empty.pdf"], here()):
        pass


def test_an_index_larger_than_the_limit_answers_and_is_not_cached_for_others(
    rag, two, place, monkeypatch
):
    monkeypatch.setenv("RAG_CACHE_LIMIT_MB", "1")
    monkeypatch.setattr("rag_app.store.folder_bytes", lambda _: 2_000_000)
    assert rag("ask", VALVE_QUESTION, *two).code == 0
    (entry,) = cache().entries()
    assert entry.files == (str(two[0]), str(two[1]))


def test_a_cache_that_cannot_be_written_is_done_without(rag, two, place, monkeypatch):
    (place / "file").write_text("")
    monkeypatch.setenv("RAG_CACHE_DIR", str(place / "file"))
    done = rag("ask", CRANE_QUESTION, *two, "--json")
    assert (done.code, cited(done)[0]) == (0, "crane.pdf")
    assert "what is read is not cached" in done.err


def test_a_cache_on_a_network_drive_is_done_without(rag, two, monkeypatch):
    monkeypatch.setattr(
        "rag_app.store.network_drives.file_system",
        lambda path, mounts=None: "nfs" if path.is_relative_to(cache().root) else "ext4",
    )
    done = rag("ask", CRANE_QUESTION, *two)
    assert done.code == 0
    assert "what is read is not cached" in done.err
    assert "network drive (nfs)" in done.err


def test_the_table_of_the_cache_names_some_of_many_files(rag, pdfs):
    files = [make_pdf(pdfs / f"{n}.pdf", [f"Valve {n} opens at {n} bar."]) for n in range(5)]
    rag("ask", "At how many bar does valve 3 open?", *files)
    info = rag("cache", "info")
    assert "pdfs/0.pdf, pdfs/1.pdf, pdfs/2.pdf and 2 more" in info.out
    listed = rag("cache", "info", "--json").json["indexes"]
    assert sorted(map(str, files)) in [one["files"] for one in listed]


def test_words_alone_need_no_model_for_several_files(rag, two, monkeypatch):
    def refuse(*_):
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("rag_app.facade.opening.load_embedding", refuse)
    for _ in range(2):
        assert rag("ask", VALVE_QUESTION, *two, "--strategy", "bm25").code == 0


def test_another_strategy_has_an_index_of_its_own(rag, two):
    rag("ask", VALVE_QUESTION, *two)
    rag("ask", VALVE_QUESTION, *two, "--strategy", "bm25")
    assert len(databases()) == 6
