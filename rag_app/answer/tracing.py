"""LlamaIndex's events and spans of retrieval and synthesis, as its own query engine gives them.

What instruments LlamaIndex (Phoenix, Langfuse, OpenTelemetry) hears of the retrieved
nodes and of the answer here, since one question's session goes past ``retrieve``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from types import MethodType
from typing import Any, Protocol, TypeVar

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.instrumentation.events.synthesis import (
    SynthesizeEndEvent,
    SynthesizeStartEvent,
)
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index_instrumentation import get_dispatcher

_dispatcher = get_dispatcher(__name__)


class _Found(Protocol):
    @property
    def nodes(self) -> Sequence[NodeWithScore]: ...


F = TypeVar("F", bound=_Found)


def traced_retrieval(
    retriever: Any, callbacks: CallbackManager, query: QueryBundle, search: Callable[[], F]
) -> F:
    """Return what a search gives, reported as the retriever's ``retrieve``.

    Args:
        retriever: whose span it is.
        callbacks: told of it where the retriever has no callback manager of its own.
        query: the question.
        search: does the work.
    """
    callbacks = getattr(retriever, "callback_manager", None) or callbacks
    results: list[F] = []

    def retrieve(_: Any, str_or_query_bundle: QueryBundle) -> list[NodeWithScore]:
        _dispatcher.event(RetrievalStartEvent(str_or_query_bundle=str_or_query_bundle))
        with _callback_event(callbacks, CBEventType.RETRIEVE, str_or_query_bundle) as event:
            results.append(search())
            nodes = list(results[0].nodes)
            event.on_end(payload={EventPayload.NODES: nodes})
        _dispatcher.event(RetrievalEndEvent(str_or_query_bundle=str_or_query_bundle, nodes=nodes))
        return nodes

    # Bound, so that the span is called after the retriever's class and names it as its instance.
    _dispatcher.span(MethodType(retrieve, retriever))(query)
    return results[0]


def traced_synthesis(
    engine: BaseQueryEngine,
    query: QueryBundle,
    nodes: list[NodeWithScore],
    respond: Callable[[], RESPONSE_TYPE],
) -> RESPONSE_TYPE:
    """Return a response, reported as the engine's ``synthesize``; a stream as it begins."""

    def synthesize(_: Any, query: QueryBundle, nodes: list[NodeWithScore]) -> RESPONSE_TYPE:
        with _synthesizing(engine.callback_manager, query) as done:
            response = respond()
            done(response)
        return response

    response: RESPONSE_TYPE = _dispatcher.span(MethodType(synthesize, engine))(query, nodes)
    return response


async def atraced_synthesis(
    engine: BaseQueryEngine,
    query: QueryBundle,
    nodes: list[NodeWithScore],
    respond: Callable[[], Awaitable[RESPONSE_TYPE]],
) -> RESPONSE_TYPE:
    """Do the same as :func:`traced_synthesis` without blocking."""

    async def asynthesize(_: Any, query: QueryBundle, nodes: list[NodeWithScore]) -> RESPONSE_TYPE:
        with _synthesizing(engine.callback_manager, query) as done:
            response = await respond()
            done(response)
        return response

    asked = _dispatcher.span(MethodType(asynthesize, engine))(query, nodes)
    response: RESPONSE_TYPE = await asked
    return response


@contextmanager
def _synthesizing(
    callbacks: CallbackManager, query: QueryBundle
) -> Iterator[Callable[[RESPONSE_TYPE], None]]:
    _dispatcher.event(SynthesizeStartEvent(query=query))
    with _callback_event(callbacks, CBEventType.SYNTHESIZE, query) as event:

        def done(response: RESPONSE_TYPE) -> None:
            event.on_end(payload={EventPayload.RESPONSE: response})
            _dispatcher.event(SynthesizeEndEvent(query=query, response=response))

        yield done


@contextmanager
def _callback_event(
    callbacks: CallbackManager, kind: CBEventType, query: QueryBundle
) -> Iterator[Any]:
    payload: dict[str, Any] = {EventPayload.QUERY_STR: query.query_str}
    with callbacks.as_trace("query"), callbacks.event(kind, payload=payload) as event:
        yield event
