"""Answers by a real, very small language model on a real server: form, not wisdom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import Document

from pipelines.errors import LLMNotFoundError
from rag_app.answer.response import Answer
from rag_app.answer.written.marks import has_words
from rag_app.cli.app import run
from rag_app.index import Index
from rag_app.models.llm.calls import ReplyStream, chat
from rag_app.models.llm.client import SMALL_WINDOW, load_llm
from rag_app.settings import Settings
from tests.support.embedding import HashEmbedding
from tests.support.pdfs import make_pdf
from tests.support.smol_server import SmolServer

VALVE = """The valve AX-450 opens at a pressure of 4.2 bar.
Its lead time is twelve weeks from the date of the order.
The body is made of bronze and weighs 38 kilograms."""
CRANE = """The crane lifts seven tonnes at a reach of nine metres.
Its operator must hold a licence of class B.
The rope is replaced every eighteen months."""
HOURS = """所定労働時間は、１日８時間とする。
始業時刻は午前９時、終業時刻は午後６時とする。
休憩時間は、正午から１時間とする。"""
LEAD_TIME = "What is the lead time of the valve AX-450?"
WORKING_HOURS = "所定労働時間は１日何時間ですか。"
MAX_TOKENS = 32
CHAT = "POST /v1/chat/completions"


@pytest.fixture(scope="module")
def settings(smol: SmolServer, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(
        llm=smol.llm,
        llm_base_url=smol.url,
        llm_max_tokens=MAX_TOKENS,
        llm_timeout=300,  # a busy machine takes its time over the first token
        similarity_top_k=2,
        cache_dir=tmp_path_factory.mktemp("cache"),
    )


@pytest.fixture(scope="module")
def folder(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pdfs = tmp_path_factory.mktemp("pdfs")
    for name, text in (("valve", VALVE), ("crane", CRANE), ("kisoku", HOURS)):
        make_pdf(pdfs / f"{name}.pdf", ["", text])
    folder = tmp_path_factory.mktemp("index") / "manuals"
    with Index.create(folder, embed_model=english_model(), settings=settings) as index:
        report = index.ingest(pdfs)
    assert {one.status for one in report.files} == {"added"}
    return folder


@pytest.fixture
def index(folder: Path, settings: Settings) -> Iterator[Index]:
    with Index.open(folder, embed_model=english_model(), settings=settings) as opened:
        yield opened


@pytest.fixture
def chats(smol: SmolServer) -> Callable[[], int]:
    """Count the requests to the model since the test began."""
    before = smol.requests.count(CHAT)
    return lambda: smol.requests.count(CHAT) - before


@pytest.fixture
def rag(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> Callable[..., tuple[int, str, str]]:
    """Run ``rag ask`` on the index, with the model named as a user names it."""
    monkeypatch.setattr("rag_app.facade.opening.load_embedding", lambda *_: english_model())
    monkeypatch.setenv("RAG_CACHE_DIR", str(settings.cache_dir))
    monkeypatch.setenv("RAG_LLM_MAX_TOKENS", str(MAX_TOKENS))
    monkeypatch.setenv("RAG_LLM_TIMEOUT", "300")
    where = ("--index", folder, "--llm", settings.llm, "--base-url", settings.llm_base_url)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run([str(one) for one in ("ask", *arguments, *where, "--top-k", "2")])
        return code, *capsys.readouterr()

    return call


def english_model() -> HashEmbedding:
    """Return a model that, as the default one does, leaves Japanese to the words."""
    return HashEmbedding(scripts=("latin",))


def check_form(answer: dict[str, Any], *, calls: int = 1) -> None:
    """Check what holds of every answer, whatever the model wrote."""
    assert (answer["mode"], answer["model"]) == ("llm", SmolServer.model)
    assert has_words(answer["answer"])
    assert answer["outcome"] in ("answered", "refused")
    numbers = [citation["number"] for citation in answer["citations"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert set(numbers) == {n for one in answer["sentences"] for n in one["citations"]}
    assert bool(answer["sentences"]) == (answer["outcome"] == "answered")
    for citation in answer["citations"]:
        check_citation(citation)
    for sentence in answer["sentences"]:
        # What fails its checks is said to have failed.
        assert sentence["verified"] or sentence["problems"]
    check_usage(answer["usage"], calls)


def check_citation(citation: dict[str, Any]) -> None:
    assert citation["file"] in ("valve.pdf", "crane.pdf", "kisoku.pdf")
    assert citation["page"] in citation["pages"]
    assert citation["quotes"]
    for quote in citation["quotes"]:
        # The documents are plain: every sentence of theirs stands on its page.
        assert quote["verified"]
        assert quote["text"].replace("\n", " ") in (VALVE + CRANE + HOURS).replace("\n", " ")


def check_usage(usage: dict[str, Any], calls: int) -> None:
    assert usage["llm_calls"] == calls
    assert not usage["estimated"]
    assert 0 < usage["completion_tokens"] <= calls * MAX_TOKENS
    assert usage["prompt_tokens"] > usage["context"]["tokens"] > 0


def test_window_when_server_does_not_tell_is_the_default_and_is_asked_once(
    smol: SmolServer, settings: Settings
) -> None:
    before = smol.requests.count("GET /v1/models")
    llm = load_llm(settings)
    assert llm is not None
    assert [llm.metadata.context_window for _ in range(3)] == [SMALL_WINDOW] * 3
    assert smol.requests.count("GET /v1/models") == before + 1


def test_answer_in_english_is_typed_cited_and_counted(
    index: Index, chats: Callable[[], int]
) -> None:
    answer = index.as_query_engine().query(LEAD_TIME)
    assert isinstance(answer, Answer)
    check_form(answer.to_dict())
    assert chats() == 1


def test_streamed_answer_comes_in_pieces_and_ends_as_the_whole(
    index: Index, chats: Callable[[], int]
) -> None:
    response = index.as_query_engine(streaming=True).query(LEAD_TIME)
    pieces = list(response.response_gen)
    assert len(pieces) >= 2
    assert response.response_txt == "".join(pieces)
    check_form(response.to_dict())
    assert response.timings_ms["first_words"] < response.timings_ms["total"]
    assert chats() == 1


def test_async_streamed_answer_in_japanese_has_whole_characters(index: Index) -> None:
    """Case 16: a token of the model may end inside a character."""

    async def ask() -> tuple[list[str], Any]:
        response = await index.as_query_engine(streaming=True).aquery(WORKING_HOURS)
        return [piece async for piece in response.async_response_gen()], response

    pieces, response = asyncio.run(ask())
    assert len(pieces) >= 2
    assert response.response_txt == "".join(pieces)
    assert "\ufffd" not in str(response)
    check_form(response.to_dict())


def test_stream_that_is_closed_early_is_not_finished(index: Index) -> None:
    response = index.as_query_engine(streaming=True).query(LEAD_TIME)
    first = next(response.response_gen)
    response.close()
    assert response.partial == first
    assert not response.finished


def test_model_stops_when_its_reader_does(settings: Settings) -> None:
    """The server answers one after the other: a story told on for nobody would be in the way."""
    talkative = load_llm(settings.model_copy(update={"llm_max_tokens": 2000}))
    brief = load_llm(settings.model_copy(update={"llm_max_tokens": 1, "llm_timeout": 60}))
    assert talkative is not None
    assert brief is not None
    story = iter(ReplyStream(talkative, [ChatMessage("Tell a long story of a king.")]))
    assert next(story)
    story.close()
    assert chat(brief, [ChatMessage("Hello")]).calls == 1


def test_further_queries_are_searched_beside_the_question(
    index: Index, chats: Callable[[], int]
) -> None:
    answer = index.as_query_engine(queries=3).query(LEAD_TIME)
    check_form(answer.to_dict(), calls=2)
    assert len(answer.queries) <= 2
    assert LEAD_TIME not in answer.queries
    assert chats() == 2


def test_summary_and_questions_are_written_once_and_lead_to_their_passage(
    settings: Settings, tmp_path: Path, chats: Callable[[], int]
) -> None:
    document = Document(text=VALVE, metadata={"file_name": "valve.txt"})
    made = Index.create(
        tmp_path / "pieces",
        embed_model=english_model(),
        pipelines=("hybrid", "multi_vector"),
        settings=settings,
    )
    with made as index:
        report = index.ingest(document)
        assert report.pieces.written >= 1
        assert report.pieces.failed == {}
        assert chats() == 2
        again = index.ingest(document)
        assert [one.status for one in again.files] == ["unchanged"]
        assert chats() == 2
        found = index.as_retriever("multi_vector").retrieve("valve")
        assert [node.text for node in found] == [VALVE]


def test_command_line_prints_the_answer_as_json(rag: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = rag(LEAD_TIME, "--json")
    answer = json.loads(out)
    check_form(answer)
    assert (code, err) == (0 if answer["outcome"] == "answered" else 3, "")


def test_command_line_streams_the_answer_then_its_evidence(
    rag: Callable[..., tuple[int, str, str]],
) -> None:
    code, out, err = rag(WORKING_HOURS, "--stream")
    assert code in (0, 3)
    assert err.startswith("note: ")  # the vectors do not know Japanese
    assert has_words(out.splitlines()[0])
    assert SmolServer.model in out


def test_model_that_the_server_does_not_serve_is_an_error_that_names_it(
    settings: Settings, index: Index
) -> None:
    other = load_llm(settings.model_copy(update={"llm": "like:other"}))
    with pytest.raises(LLMNotFoundError, match="other"):
        index.as_query_engine(llm=other).query(LEAD_TIME)
