"""What instruments LlamaIndex hears of a question: each event once, in order, within its span."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import get_response_synthesizer
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload, LlamaDebugHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.span import SimpleSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.llms import CustomLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import Document, QueryBundle
from pydantic import Field

from rag_app.answer.engine import CitedQueryEngine
from rag_app.index import Index
from rag_app.joined import JoinedIndex
from rag_app.retrieval.retriever import StrategyRetriever
from tests.support.embedding import HashEmbedding

ASKED = "How many pumps did the plant in Kobe make in 2019?"
TEXT = "The plant in Kobe was opened in 1998. The plant in Kobe made 4200 pumps in 2019."
OF_A_QUESTION = ("Query", "Retrieval", "Synthesize")


class Events(BaseEventHandler):
    seen: list[Any] = Field(default_factory=list)

    def handle(self, event: Any, **_: Any) -> None:
        self.seen.append(event)

    def of(self, *beginnings: str) -> list[str]:
        names = [event.class_name() for event in self.seen]
        return [name for name in names if name.startswith(beginnings)]

    def one(self, name: str) -> Any:
        [event] = [event for event in self.seen if event.class_name() == name]
        return event


class Spans(BaseSpanHandler[SimpleSpan]):
    """Each span: its name, the one around it, its instance, and how it ended."""

    entered: list[tuple[str, str, Any]] = Field(default_factory=list)
    ended: dict[str, Any] = Field(default_factory=dict)

    def new_span(
        self, id_: str, bound_args: Any, instance: Any = None, parent_span_id: Any = None, **_: Any
    ) -> SimpleSpan:
        self.entered.append((id_, parent_span_id or "", instance))
        return SimpleSpan(id_=id_, parent_id=parent_span_id)

    def prepare_to_exit_span(self, id_: str, bound_args: Any, result: Any = None, **_: Any) -> Any:
        self.ended[id_] = result
        return self.open_spans.get(id_)

    def prepare_to_drop_span(self, id_: str, bound_args: Any, err: Any = None, **_: Any) -> Any:
        self.ended[id_] = err
        return self.open_spans.get(id_)

    def named(self, name: str) -> tuple[str, str, Any]:
        [found] = [span for span in self.entered if span[0].startswith(f"{name}-")]
        return found


class Writer(CustomLLM):
    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=4000, num_output=100, model_name="writer")

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text="The plant in Kobe made 4200 pumps in 2019 [1].")

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        whole = self.complete(prompt).text
        return iter([CompletionResponse(text=whole, delta=whole)])


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder: Path = tmp_path_factory.mktemp("tracing") / "plants"
    with Index.create(folder, embed_model=HashEmbedding()) as made:
        made.ingest(Document(id_="plant", text=TEXT, metadata={"file_name": "plant.txt"}))
        yield made


@pytest.fixture
def listening() -> Iterator[tuple[Events, Spans]]:
    root = get_dispatcher()
    events, spans = Events(), Spans()
    before = root.event_handlers, root.span_handlers
    root.event_handlers, root.span_handlers = [events], [spans]
    yield events, spans
    root.event_handlers, root.span_handlers = before


def astream(engine: CitedQueryEngine) -> Any:
    async def ask() -> Any:
        response: Any = await engine.aquery(ASKED)
        return await response.get_response()

    return asyncio.run(ask())


ASKING: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "query": ({}, lambda engine: engine.query(ASKED)),
    "aquery": ({}, lambda engine: asyncio.run(engine.aquery(ASKED))),
    "stream": ({"streaming": True}, lambda engine: engine.query(ASKED).get_response()),
    "astream": ({"streaming": True}, astream),
}


@pytest.mark.parametrize("llm", [None, Writer()], ids=["extractive", "model"])
@pytest.mark.parametrize("way", ASKING)
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_each_event_of_a_question_comes_once_with_the_nodes_and_the_answer(
    index: Index, listening: tuple[Events, Spans], way: str, llm: Any, several: bool
) -> None:
    events, spans = listening
    debug = LlamaDebugHandler(print_trace_on_end=False)
    options, ask = ASKING[way]
    asked = JoinedIndex([index]) if several else index
    engine = asked.as_query_engine(llm=llm, callback_manager=CallbackManager([debug]), **options)
    answer = ask(engine)

    assert events.of(*OF_A_QUESTION) == [
        *("QueryStartEvent", "RetrievalStartEvent", "RetrievalEndEvent"),
        *("SynthesizeStartEvent", "SynthesizeEndEvent", "QueryEndEvent"),
    ]
    assert events.one("RetrievalEndEvent").nodes == answer.source_nodes
    assert "4200" in str(answer)
    assert str(events.one("QueryEndEvent").response) == str(answer) or "stream" in way
    assert events.one("SynthesizeEndEvent").response is events.one("QueryEndEvent").response
    calls = events.of("LLMChatStart")
    # Asked without blocking, LlamaIndex's CustomLLM tells of its own blocking call too.
    assert len(calls) == (1 if way in ("query", "stream") else 2) * bool(llm)

    a = "a" if way.startswith("a") else ""
    query = spans.named(f"CitedQueryEngine.{a}query")
    inner = spans.named(f"CitedQueryEngine._{a}query")
    retrieve = spans.named(f"{type(engine.retriever).__name__}.retrieve")
    synthesize = spans.named(f"CitedQueryEngine.{a}synthesize")
    assert inner[1] == query[0]
    assert retrieve[1] == synthesize[1] == inner[0]
    assert retrieve[2] is engine.retriever
    assert synthesize[2] is engine
    assert spans.ended[retrieve[0]] == answer.source_nodes
    assert all(span_id in spans.ended for span_id, _, _ in spans.entered)
    assert events.one("RetrievalEndEvent").span_id == retrieve[0]

    kinds = (CBEventType.QUERY, CBEventType.RETRIEVE, CBEventType.SYNTHESIZE)
    pairs = {kind: debug.get_event_pairs(kind) for kind in kinds}
    assert {kind: len(found) for kind, found in pairs.items()} == dict.fromkeys(kinds, 1)
    [(begun, ended)] = pairs[CBEventType.RETRIEVE]
    assert begun.payload[EventPayload.QUERY_STR] == ASKED
    assert ended.payload[EventPayload.NODES] == answer.source_nodes
    [(_, ended)] = pairs[CBEventType.SYNTHESIZE]
    assert ended.payload[EventPayload.RESPONSE] is events.one("QueryEndEvent").response


def test_a_stock_engine_over_the_retriever_gives_the_same_events(
    index: Index, listening: tuple[Events, Spans]
) -> None:
    events, _ = listening
    stock = RetrieverQueryEngine(
        index.as_retriever(), get_response_synthesizer(llm=Writer(), response_mode="compact")
    )
    stock.query(ASKED)
    expected = events.of(*OF_A_QUESTION)
    events.seen.clear()
    index.as_query_engine(llm=Writer()).query(ASKED)
    # The stock synthesizer tells of one more inside its own.
    assert events.of(*OF_A_QUESTION) == list(dict.fromkeys(expected))


def test_a_retriever_of_ones_own_is_reported_once(
    index: Index, listening: tuple[Events, Spans]
) -> None:
    events, spans = listening

    class Plain:
        """Detailed, and no retriever of LlamaIndex's."""

        def __init__(self, inner: StrategyRetriever) -> None:
            self.inner = inner

        def retrieve_detailed(self, query: QueryBundle) -> Any:
            return self.inner.retrieve_detailed(query)

    debug = LlamaDebugHandler(print_trace_on_end=False)
    plain: Any = Plain(index.as_retriever())
    CitedQueryEngine(plain, callback_manager=CallbackManager([debug])).query(ASKED)
    assert events.of("Retrieval") == ["RetrievalStartEvent", "RetrievalEndEvent"]
    assert spans.named("Plain.retrieve")[2] is plain
    assert len(debug.get_event_pairs(CBEventType.RETRIEVE)) == 1


def test_engine_retrieve_is_reported_once(index: Index, listening: tuple[Events, Spans]) -> None:
    events, _ = listening
    index.as_query_engine().retrieve(QueryBundle(ASKED))
    assert events.of(*OF_A_QUESTION) == ["RetrievalStartEvent", "RetrievalEndEvent"]


def test_a_failure_drops_the_span_and_closes_the_callbacks(
    index: Index, listening: tuple[Events, Spans]
) -> None:
    _, spans = listening
    engine = index.as_query_engine()
    with pytest.raises(Exception, match="empty") as raised:
        engine.query(" ")
    assert spans.ended[spans.named("StrategyRetriever.retrieve")[0]] is raised.value
    assert all(span_id in spans.ended for span_id, _, _ in spans.entered)


def test_our_own_model_reports_its_calls_to_the_engines_callbacks(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer()
    monkeypatch.setattr("rag_app.models.llm.client.load_llm", lambda _: writer)
    settings = index.settings.model_copy(update={"llm": "like:writer"})
    monkeypatch.setattr(index.opened, "settings", settings)
    debug = LlamaDebugHandler(print_trace_on_end=False)
    index.as_query_engine(callback_manager=CallbackManager([debug])).query(ASKED)
    assert len(debug.get_event_pairs(CBEventType.LLM)) == 1
