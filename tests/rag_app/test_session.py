"""One question, one generation: how many snapshots it takes, and what a writer changes of it."""

from __future__ import annotations

import asyncio
import gc
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import Document, NodeWithScore, QueryBundle
from typer.testing import CliRunner

from pipelines.errors import IndexDamagedError, IndexEmptyError, StoreError
from rag_app.answer.engine import CitedQueryEngine
from rag_app.cli.app import app
from rag_app.index import Index
from rag_app.joined import JoinedIndex
from rag_app.session import QuerySession
from rag_app.store.sqlite.store import SqliteStore
from tests.support.embedding import HashEmbedding

QUESTION = "How many pumps did the plant in Kobe make in 2019?"
OTHERS = "The harbour is closed in winter. The road to the mountain is open. Snow fell in May."


def plant(number: int) -> Document:
    """Each edition says another number, at another place of its text."""
    text = (
        "Preface of this edition. " * (number % 3)
        + "The plant in Kobe was opened in 1998. "
        + f"The plant in Kobe made {number} pumps in 2019. Ms. Ito manages the plant."
    )
    return Document(id_="plant", text=text, metadata={"file_name": "plant.txt"})


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.create(tmp_path / "plants", embed_model=HashEmbedding()) as made:
        made.ingest(plant(4200), Document(id_="others", text=OTHERS))
        yield made


class Editor(CustomLLM):
    """A model whose call goes on while somebody replaces what it was sent."""

    meanwhile: Any = None
    number: int = 4200

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=4000, num_output=100, model_name="editor")

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        if self.meanwhile is not None:
            self.meanwhile()
        return CompletionResponse(text=f"The plant in Kobe made {self.number} pumps in 2019 [1].")

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        def words() -> Iterator[CompletionResponse]:
            said = ""
            for word in self.complete(prompt).text.split(" "):
                said += f"{word} "
                yield CompletionResponse(text=said, delta=f"{word} ")
                if self.meanwhile is not None:
                    self.meanwhile()

        return words()


class Replaces(BaseRetriever):
    """Retrieves, then has the documents replaced before anybody reads the result."""

    def __init__(self, inner: Any, replace: Callable[[], None]) -> None:
        self._inner, self._replace = inner, replace
        super().__init__()

    @property
    def stores(self) -> Any:
        return self._inner.stores

    def retrieve_detailed(self, query: QueryBundle) -> Any:
        raise AssertionError("the engine reads its own session")

    def retrieve_in(self, session: QuerySession, query: QueryBundle) -> Any:
        found = self._inner.retrieve_in(session, query)
        self._replace()
        return found

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise AssertionError("the engine reads its own session")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """How many snapshots were taken, by the folder of the index."""
    counts: Counter[Path] = Counter()
    snapshot = SqliteStore.snapshot

    def counted(self: SqliteStore) -> Any:
        if hasattr(self, "_config"):  # opening an index reads it as well
            counts[self.path] += 1
        return snapshot(self)

    monkeypatch.setattr(SqliteStore, "snapshot", counted)
    return counts


async def _read(response: Any) -> Any:
    return await response.get_response()


ASKING: dict[str, Callable[[Any], Any]] = {
    "retrieve": lambda of: of.as_retriever().retrieve(QUESTION),
    "aretrieve": lambda of: asyncio.run(of.as_retriever().aretrieve(QUESTION)),
    "explain": lambda of: of.explain(QUESTION),
    "query": lambda of: of.as_query_engine().query(QUESTION),
    "engine.retrieve": lambda of: of.as_query_engine().retrieve(QueryBundle(QUESTION)),
    "stream": lambda of: of.as_query_engine(streaming=True).query(QUESTION).get_response(),
    "aquery": lambda of: asyncio.run(of.as_query_engine().aquery(QUESTION)),
    "model": lambda of: of.as_query_engine(llm=Editor()).query(QUESTION),
    "model and queries": lambda of: of.as_query_engine(llm=Editor(), queries=3).query(QUESTION),
    "model streams": lambda of: (
        of.as_query_engine(llm=Editor(), streaming=True).query(QUESTION).get_response()
    ),
    "model async": lambda of: asyncio.run(of.as_query_engine(llm=Editor()).aquery(QUESTION)),
    "refused": lambda of: of.as_query_engine().query("Who conducted the orchestra in Vienna?"),
    "another language": lambda of: of.as_query_engine().query("日本の首都はどこ？"),
}


@pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING.keys())
def test_a_question_takes_one_snapshot_of_an_index(
    ask: Callable[[Any], Any], index: Index, opened: Counter[Path]
) -> None:
    ask(index)
    assert opened == {index.path: 1}


@pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING.keys())
def test_a_question_takes_one_snapshot_of_each_of_several_indexes(
    ask: Callable[[Any], Any], index: Index, tmp_path: Path, opened: Counter[Path]
) -> None:
    with Index.create(tmp_path / "more", embed_model=HashEmbedding()) as other:
        other.ingest(Document(id_="more", text=OTHERS))
        opened.clear()
        ask(JoinedIndex([index, other]))
        assert opened == {index.path: 1, other.path: 1}


def test_an_async_stream_takes_one_snapshot(index: Index, opened: Counter[Path]) -> None:
    async def ask() -> Any:
        engine = index.as_query_engine(llm=Editor(), streaming=True)
        return await (await engine.aquery(QUESTION)).get_response()

    assert asyncio.run(ask()).sentences[0].verified
    assert opened == {index.path: 1}


@pytest.mark.parametrize("options", [[], ["--file", "plant.txt"]])
@pytest.mark.parametrize("command", ["search", "explain"])
def test_a_command_searches_in_one_snapshot(
    command: str, options: list[str], index: Index, opened: Counter[Path], monkeypatch: Any
) -> None:
    monkeypatch.setattr("rag_app.facade.opening.load_embedding", lambda *_, **__: HashEmbedding())
    call = [command, QUESTION, "--index", str(index.path), "--strategy", "bm25", "--json", *options]
    found = CliRunner().invoke(app, call)
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)
    assert opened == {index.path: 2}, "one to see that it holds something, one for the question"


def test_nodes_stand_for_themselves_in_somebody_elses_synthesizer(
    index: Index, opened: Counter[Path]
) -> None:
    nodes = index.as_retriever().retrieve(QUESTION)
    index.ingest(plant(7))
    opened.clear()
    answer = get_response_synthesizer(llm=Editor()).synthesize(QUESTION, nodes)
    assert "4200" in nodes[0].node.get_content()
    assert "4200 pumps" in str(answer)
    assert not opened


def test_answer_of_a_document_replaced_after_retrieval_is_verified(index: Index) -> None:
    numbers = iter(range(1, 100))

    def replace() -> None:
        index.ingest(plant(next(numbers)))

    for before in (4200, 1, 2):
        engine = CitedQueryEngine(Replaces(index.as_retriever(), replace))
        answer = engine.query(QUESTION)
        assert f"made {before} pumps" in str(answer)
        assert all(sentence.verified for sentence in answer.sentences)
        assert all(quote.verified for one in answer.citations for quote in one.quotes)


@pytest.mark.parametrize("way", ["query", "stream", "aquery", "async stream"])
def test_answer_of_a_document_replaced_while_the_model_writes_is_verified(
    way: str, index: Index
) -> None:
    numbers = iter(range(1, 100))
    model = Editor(meanwhile=lambda: index.ingest(plant(next(numbers))))

    async def asynchronous(*, streaming: bool) -> Any:
        response = await index.as_query_engine(llm=model, streaming=streaming).aquery(QUESTION)
        return await response.get_response() if streaming else response

    if way == "query":
        answer = index.as_query_engine(llm=model).query(QUESTION)
    elif way == "stream":
        answer = index.as_query_engine(llm=model, streaming=True).query(QUESTION).get_response()
    else:
        answer = asyncio.run(asynchronous(streaming=way == "async stream"))
    assert next(numbers) > 1, "it was replaced meanwhile"
    (sentence,) = answer.sentences
    assert sentence.verified, sentence.problems
    assert "made 4200 pumps" in answer.citations[0].quotes[0].text


def test_answers_beside_a_writer_are_all_verified(index: Index) -> None:
    """Readers ask while a document is replaced again and again."""
    done = threading.Event()

    def write() -> int:
        number = 0
        while not done.is_set():
            number += 1
            index.ingest(plant(number))
        return number

    def ask(turn: int) -> list[str]:
        streaming = turn % 2 == 0
        response = index.as_query_engine(streaming=streaming).query(QUESTION)
        answer = response.get_response() if streaming else response
        assert answer.outcome == "answered"
        return [problem for one in answer.sentences for problem in one.problems]

    with ThreadPoolExecutor(4) as executor:
        writing = executor.submit(write)
        try:
            problems = [one for found in executor.map(ask, range(60)) for one in found]
        finally:
            done.set()
        assert writing.result() > 1
    assert problems == []


def _log_can_be_emptied(index: Index) -> bool:
    """Tell whether nobody reads an older generation: only then can the log be emptied."""
    sql = sqlite3.connect(index.path / "index.sqlite", timeout=0)
    try:
        busy, _, _ = sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy
    finally:
        sql.close()


def _begun(index: Index, **model: Any) -> Any:
    return index.as_query_engine(llm=Editor(**model), streaming=True).query(QUESTION)


def test_a_stream_that_is_not_read_holds_its_generation_and_no_writer(index: Index) -> None:
    response = _begun(index)
    report = index.ingest(plant(7))
    assert [one.status for one in report.files] == ["replaced"]
    assert not _log_can_be_emptied(index)
    assert response.get_response().sentences[0].verified
    assert _log_can_be_emptied(index)


def test_a_stream_that_is_dropped_unread_lets_go_at_once(index: Index) -> None:
    gc.disable()  # nobody has to look for garbage
    try:
        response = _begun(index)
        index.ingest(plant(7))
        assert not _log_can_be_emptied(index)
        del response
        assert _log_can_be_emptied(index)
    finally:
        gc.enable()


def test_a_stream_that_is_dropped_half_read_lets_go_at_once(index: Index) -> None:
    response = _begun(index)
    next(response.response_gen)
    index.ingest(plant(7))
    del response
    assert _log_can_be_emptied(index)


@pytest.mark.parametrize("words", [0, 2])
def test_a_stream_that_is_closed_lets_go(words: int, index: Index) -> None:
    response = _begun(index)
    for _ in range(words):
        next(response.response_gen)
    index.ingest(plant(7))
    response.close()
    assert _log_can_be_emptied(index)


def test_a_stream_that_breaks_lets_go(index: Index) -> None:
    def broken() -> None:
        raise ConnectionError("the line is dead")

    response = _begun(index, meanwhile=broken)
    index.ingest(plant(7))
    with pytest.raises(Exception, match="the line is dead"):
        response.get_response()
    assert _log_can_be_emptied(index)


@pytest.mark.parametrize("words", [0, 2])
def test_an_async_stream_that_is_closed_lets_go(words: int, index: Index) -> None:
    async def ask() -> None:
        engine = index.as_query_engine(llm=Editor(), streaming=True)
        response = await engine.aquery(QUESTION)
        for _ in range(words):
            await anext(response.response_gen)
        await asyncio.to_thread(index.ingest, plant(7))
        await response.close()
        assert _log_can_be_emptied(index)

    asyncio.run(ask())


def test_a_question_that_fails_lets_go(index: Index) -> None:
    def broken() -> None:
        index.ingest(plant(7))
        raise ConnectionError("the line is dead")

    with pytest.raises(Exception, match="the line is dead"):
        index.as_query_engine(llm=Editor(meanwhile=broken)).query(QUESTION)
    assert _log_can_be_emptied(index)


def test_a_cancelled_question_lets_go_when_its_thread_has_read(index: Index) -> None:
    """The thread that reads goes on: its connection must not be lent to others meanwhile."""
    reading, go_on = threading.Event(), threading.Event()
    held: list[QuerySession] = []

    class Slow(Replaces):
        def retrieve_in(self, session: QuerySession, query: QueryBundle) -> Any:
            held.append(session)
            reading.set()
            go_on.wait()
            return super().retrieve_in(session, query)

    async def ask() -> None:
        engine = CitedQueryEngine(Slow(index.as_retriever(), lambda: None))
        task = asyncio.create_task(engine.aquery(QUESTION))
        await asyncio.to_thread(reading.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        index.ingest(plant(7))
        assert not _log_can_be_emptied(index)
        assert held[0].snapshots[""].names()
        go_on.set()

    asyncio.run(ask())  # waits for its threads
    assert _log_can_be_emptied(index)


def test_a_session_that_is_over_is_read_no_more(index: Index) -> None:
    session = index.session()
    session.close()
    session.close()
    with pytest.raises(StoreError, match="was cancelled"):
        session.run(lambda: None)


def test_a_store_of_two_names_is_opened_once(index: Index, opened: Counter[Path]) -> None:
    with QuerySession({"a": index.store, "b": index.store}) as session:
        assert session.snapshots["a"] is session.snapshots["b"] is session.snapshot(index.store)
    assert opened == {index.path: 1}


def test_a_store_of_no_session_is_no_part_of_it(index: Index) -> None:
    with QuerySession({}) as session, pytest.raises(KeyError):
        session.snapshot(index.store)


def test_an_error_of_the_engine_is_told_in_our_words(index: Index) -> None:
    error = sqlite3.DatabaseError("malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    with pytest.raises(IndexDamagedError, match="damaged"), index.session():
        raise error


def test_when_one_of_several_cannot_be_opened_the_others_are_let_go(
    index: Index, tmp_path: Path
) -> None:
    other = Index.create(tmp_path / "closed", embed_model=HashEmbedding())
    other.close()
    index.ingest(plant(7))
    with pytest.raises(StoreError, match="was closed"):
        QuerySession({"a": index.store, "b": other.store})
    assert _log_can_be_emptied(index)


def test_several_questions_in_one_session_see_one_generation(index: Index) -> None:
    with index.session() as session:
        retriever = index.as_retriever()
        first = retriever.retrieve_in(session, QUESTION).nodes[0].node.get_content()
        index.ingest(plant(7))
        assert retriever.retrieve_in(session, QUESTION).nodes[0].node.get_content() == first
    assert retriever.retrieve(QUESTION)[0].node.get_content() != first


def test_a_question_to_an_index_that_holds_nothing_says_so(tmp_path: Path) -> None:
    with Index.create(tmp_path / "empty", embed_model=HashEmbedding()) as index:
        assert index.as_retriever().retrieve("What is it?") == []
        with pytest.raises(IndexEmptyError, match=r"there is nothing in .*empty"):
            index.as_query_engine().query("What is it?")
        with pytest.raises(IndexEmptyError, match=r"there is nothing in .*empty"):
            index.as_query_engine(streaming=True).query("What is it?")
        with pytest.raises(IndexEmptyError, match=r"there is nothing in .*empty"):
            asyncio.run(index.as_query_engine().aquery("What is it?"))
        index.ingest(Document(text="The crane lifts seven tonnes.", id_="crane"))
        assert index.as_query_engine().query("What does the crane lift?").source_nodes
