"""PDFs asked from Python: ``rag_app.ask`` and ``open_pdfs``."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from llama_index.core.llms.mock import MockLLM

import rag_app
from pipelines.errors import ConfigError, IndexReadOnlyError, ReadError
from rag_app.cached.folders import IndexCache
from rag_app.cached.indexes import Notices, UnreadPdf
from rag_app.cached.pdfs import open_pdfs
from rag_app.index import Index
from rag_app.settings import load_settings
from tests.rag_app.cli.conftest import CRANE, VALVE
from tests.support.embedding import HashEmbedding
from tests.support.hanging import MAX_HANG_S
from tests.support.pdfs import make_pdf

QUESTION = "What is the lead time of the valve?"
WORD = "tr0ub4dor&3"
CRANE_QUESTION = "Which class of licence must the operator of the crane hold?"
MAX_SENTENCES = 9  # of an answer, which may be embedded


@pytest.fixture
def locked(place: Path) -> Path:
    return make_pdf(place / "locked.pdf", [VALVE], password=WORD)


def entries() -> list[tuple[str, ...]]:
    return [entry.files for entry in IndexCache.of(load_settings()).entries()]


def test_ask_answers_by_the_file_that_says_it(model, two):
    answer = rag_app.ask(QUESTION, *two)
    assert isinstance(answer, rag_app.Answer)
    assert (answer.citations[0].file, answer.citations[0].page) == ("valve.pdf", 2)


def test_ask_again_embeds_no_passage_and_takes_texts_for_paths(model, two):
    first = rag_app.ask(QUESTION, *two)
    embedded = model.embedded
    second = rag_app.ask(QUESTION, *map(str, reversed(two)))
    assert model.embedded - embedded <= MAX_SENTENCES
    assert second.sentences == first.sentences


def test_ask_by_a_strategy_builds_and_searches_what_it_needs(model, two):
    assert rag_app.ask(QUESTION, two[0], strategy="bm25").citations
    assert model.embedded == 0


def test_ask_without_a_file_is_an_error_that_shows_how():
    with pytest.raises(ConfigError, match="no PDF is given"):
        rag_app.ask(QUESTION)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((QUESTION, 3), r"ask\(\): one of pdfs is 3"),
        ((3, "a.pdf"), r"ask\(\): question is 3"),
    ],
)
def test_ask_with_a_wrong_argument_names_the_function(arguments, said):
    with pytest.raises(ConfigError, match=said):
        rag_app.ask(*arguments)


def test_ask_leaves_out_what_cannot_be_read_and_logs_it(model, two, pdfs, caplog):
    (pdfs / "empty.pdf").write_bytes(b"")
    with caplog.at_level(logging.WARNING, "rag_app.cached"):
        assert rag_app.ask(QUESTION, pdfs / "empty.pdf", *two).citations
    assert "it was left out" in caplog.text


def test_ask_an_only_file_that_cannot_be_read_raises_its_error(model, pdfs):
    (pdfs / "empty.pdf").write_bytes(b"")
    with pytest.raises(ReadError, match="0 bytes"):
        rag_app.ask(QUESTION, pdfs / "empty.pdf")
    assert entries() == []


def test_ask_an_encrypted_file_needs_its_password_and_keeps_nothing(model, place, locked):
    with pytest.raises(ReadError, match="it is encrypted and needs a password"):
        rag_app.ask(QUESTION, locked)
    assert rag_app.ask(QUESTION, locked, password=WORD).citations
    assert entries() == []
    files = [path for path in place.parent.rglob("*") if path.is_file() and path != locked]
    assert not any(WORD.encode() in path.read_bytes() for path in files)


def test_passwords_are_asked_for_until_one_opens_the_file(model, locked):
    asked: list[int] = []

    def prompt(files, tried):
        asked.append(tried)
        assert list(files) == [locked]
        return ["wrong", WORD, "never asked"][tried]

    with open_pdfs([locked], ask_password=prompt) as opened:
        assert opened.index.as_query_engine().query(QUESTION).citations
    assert asked == [0, 1]


def test_open_pdfs_tells_progress_and_what_is_left_out(model, two, pdfs):
    (pdfs / "empty.pdf").write_bytes(b"")
    notes: list[str] = []
    unread: list[UnreadPdf] = []
    with open_pdfs(
        [pdfs / "empty.pdf", *two], notices=Notices(notes.append, notes.append, unread.append)
    ) as opened:
        assert opened.unread == tuple(unread)
    assert [one.paths for one in unread] == [(pdfs / "empty.pdf",)]
    assert isinstance(unread[0].error, ReadError)
    assert notes == [f"reading pdfs/{name}" for name in ("empty.pdf", "valve.pdf", "crane.pdf")]


def test_ask_takes_the_arguments_of_a_retriever_and_names_itself_for_others(model, two):
    answer = rag_app.ask(QUESTION, *two, similarity_top_k=1)
    assert len(answer.source_nodes) == 1
    with pytest.raises(TypeError, match=r"ask\(\) got .*'similarity_topk'; did you mean"):
        rag_app.ask(QUESTION, two[0], similarity_topk=1)
    with pytest.raises(TypeError, match=r"ask\(\) got an unexpected keyword argument 'streaming'"):
        rag_app.ask(QUESTION, two[0], streaming=True)


def test_ask_without_a_cache_leaves_nothing_behind(model, place, two):
    before = sorted(place.parent.rglob("*"))
    assert rag_app.ask(QUESTION, *two, cache=False).citations
    assert sorted(place.parent.rglob("*")) == before


def test_ask_with_a_folder_caches_there_and_nowhere_else(model, place, two):
    own = place / "own"
    for cache in (own, str(own)):
        assert rag_app.ask(QUESTION, two[0], cache=cache).citations
    assert len(IndexCache.of(load_settings(), own).entries()) == 1
    assert entries() == []


def test_ask_with_a_folder_that_cannot_be_one_raises_before_a_file_is_read(
    model, place, two, monkeypatch
):
    monkeypatch.setattr(Index, "ingest", None)
    (place / "file").write_text("mine")
    with pytest.raises(IndexReadOnlyError, match=r"nothing can be cached in .*file"):
        rag_app.ask(QUESTION, two[0], cache=place / "file")
    assert (place / "file").read_text() == "mine"


def test_ask_where_the_users_cache_cannot_be_written_answers_and_logs_it(
    model, place, two, monkeypatch, caplog
):
    (place / "file").write_text("mine")
    monkeypatch.setenv("RAG_CACHE_DIR", str(place / "file"))
    assert rag_app.ask(QUESTION, two[0]).citations
    assert "what is read is not cached" in caplog.text


def test_ask_takes_lists_and_folders(model, pdfs, two):
    answers = [rag_app.ask(QUESTION, given).sentences for given in (two, tuple(two), pdfs)]
    assert answers[0] == answers[1] == answers[2]
    assert len(entries()) == 3


def test_ask_a_folder_without_pdfs_or_with_too_many_is_an_error(pdfs, place, monkeypatch):
    (place / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"there is no PDF in the folder .*empty"):
        rag_app.ask(QUESTION, place / "empty")
    monkeypatch.setattr("rag_app.cached.pdfs.MAX_FOLDER_PDFS", 1)
    with pytest.raises(ConfigError, match=r"there are 2 PDFs in .*more than 1"):
        rag_app.ask(QUESTION, pdfs)


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("", ConfigError, r"ask\(\): '' is no path"),
        ("a\0.pdf", ConfigError, r"ask\(\): 'a.x00.pdf' is no path"),
        ("x" * 5000, OSError, "too long"),
        ("missing.pdf", OSError, "No such file"),
    ],
)
def test_ask_a_name_that_is_no_file_is_an_error_that_names_it(model, name, kind, said):
    with pytest.raises(kind, match=said):
        rag_app.ask(QUESTION, name)


def test_ask_with_an_embedding_model_of_ones_own_caches_an_index_for_it(model, two):
    mine = HashEmbedding(model_name="mine")
    for _ in range(2):
        assert rag_app.ask(QUESTION, two[0], embed_model=mine).citations
        embedded = mine.embedded
        assert rag_app.ask(QUESTION, two[0]).citations
    assert len(entries()) == 2
    assert mine.embedded == embedded


def test_ask_tells_the_steps_of_reading_once_and_prints_nothing(model, two, capsys):
    steps: list[str] = []
    for _ in range(2):
        rag_app.ask(QUESTION, two[0], progress=lambda file, *_: steps.append(file))
        first = len(steps)
    assert {Path(file).name for file in steps} == {"valve.pdf"}
    assert len(steps) == first
    assert capsys.readouterr() == ("", "")


def test_ask_by_a_language_model_takes_prompts_of_ones_own(model, two):
    asked: list[str] = []

    class Model(MockLLM):
        def chat(self, messages, **_):
            asked.append(str(messages))
            return super().chat(messages)

    rag_app.ask(QUESTION, two[0], llm=Model(), prompts={"answer": {"system": "BE SHORT"}})
    assert "BE SHORT" in asked[0]


def test_ask_in_an_event_loop_and_in_threads_gives_one_answer(model, two):
    async def both() -> list[rag_app.Answer]:
        here = rag_app.ask(QUESTION, *two)
        return [here, *await asyncio.gather(*(rag_app.aask(QUESTION, *two) for _ in range(4)))]

    answers = asyncio.run(both())
    assert [answer.sentences for answer in answers] == [answers[0].sentences] * 5


def test_threads_that_ask_first_at_once_make_each_index_once(model, two):
    start = threading.Barrier(4)

    def one(order: int) -> Sequence[rag_app.AnswerSentence]:
        start.wait(MAX_HANG_S)
        return rag_app.ask(QUESTION, *two[::order]).sentences

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(one, (1, -1, 1, -1)))
    assert answers == [answers[0]] * 4
    assert len(entries()) == 3


def test_aask_names_itself_in_errors():
    with pytest.raises(ConfigError, match=r"aask\(\): no PDF is given"):
        asyncio.run(rag_app.aask(QUESTION))
    with pytest.raises(TypeError, match=r"aask\(\) got an unexpected keyword argument 'top'"):
        asyncio.run(rag_app.aask(QUESTION, "a.pdf", top=1))


def test_the_password_of_a_call_is_tried_before_that_of_the_settings(model, place, monkeypatch):
    monkeypatch.setenv("RAG_PDF_PASSWORD", "another")
    one = make_pdf(place / "one.pdf", [VALVE], password=WORD)
    two = make_pdf(place / "two.pdf", [CRANE], password="another")
    answer = rag_app.ask(QUESTION, one, two, password=WORD)
    assert answer.citations[0].file == "one.pdf"
    answer = rag_app.ask(CRANE_QUESTION, one, two, password=WORD)
    assert answer.citations[0].file == "two.pdf"
    assert entries() == []


def test_files_that_swap_names_are_found_by_the_words_of_their_new_names(model, place):
    """A name is searched with the text: to show another one would not be enough."""
    pdfs = place / "reports"
    pdfs.mkdir()
    texts = {"seven": "The crane lifts seven tonnes.", "nine": "The crane lifts nine tonnes."}
    for name, text in zip(("hammerfest.pdf", "zanzibar.pdf"), texts.values(), strict=True):
        make_pdf(pdfs / name, [text])

    def lifted() -> str:
        answer = rag_app.ask("What does the crane of hammerfest lift?", pdfs, strategy="bm25")
        return answer.source_nodes[0].text

    assert "seven" in lifted()
    (pdfs / "hammerfest.pdf").rename(place / "swapped.pdf")
    (pdfs / "zanzibar.pdf").rename(pdfs / "hammerfest.pdf")
    (place / "swapped.pdf").rename(pdfs / "zanzibar.pdf")
    assert "nine" in lifted()
