"""Several indexes queried as one, without merging them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self, Unpack

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms.llm import LLM

from pipelines.errors import ConfigError
from rag_app.answer.engine import CitedQueryEngine
from rag_app.answer.prompts import PromptsSource
from rag_app.facade.arguments import check, check_each, check_keywords
from rag_app.facade.querying import (
    OPTION_NAMES,
    RetrieverOptions,
    configured_llm,
    make_engine,
    make_retriever,
)
from rag_app.index import Index
from rag_app.retrieval.retriever import JoinedRetriever
from rag_app.retrieval.strategy import Strategy
from rag_app.session import QuerySession

if TYPE_CHECKING:
    from rag_app.retrieval.explain import Explanation


class JoinedIndex:
    """Several indexes queried as one, without merging them.

    Rankings are fused by rank; hits say in ``origin`` which index they came from.
    """

    def __init__(self, indexes: Sequence[Index]) -> None:
        check_each("JoinedIndex", "indexes", indexes, (Index,), "an Index")
        if not indexes:
            raise ConfigError("no index to ask", hint="give one or more indexes")
        self._indexes = tuple(indexes)
        names = [index.name for index in indexes]
        unique = len(set(names)) == len(names)
        self._members = {
            index.name if unique else str(index.path): index for index in self._indexes
        }

    def session(self) -> QuerySession:
        """Open the newest generation of each, as :meth:`Index.session` does."""
        return QuerySession({origin: index.store for origin, index in self._members.items()})

    def as_retriever(
        self,
        strategy: str | Strategy | None = None,
        *,
        llm: LLM | None = None,
        session: QuerySession | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Unpack[RetrieverOptions],
    ) -> JoinedRetriever:
        """Return one retriever over all; the arguments are those of :meth:`Index.as_retriever`."""
        return self._retriever(
            "JoinedIndex.as_retriever", strategy, llm, session, callback_manager, options
        )

    def _retriever(
        self,
        caller: str,
        strategy: str | Strategy | None,
        llm: LLM | None,
        session: QuerySession | None,
        callback_manager: CallbackManager | None,
        options: RetrieverOptions,
    ) -> JoinedRetriever:
        """Return the retriever; errors in its arguments name the function that was called."""
        check_keywords(caller, options, OPTION_NAMES)  # each member's origin is its name
        postprocessors = options.get("node_postprocessors")
        check(caller, callback_manager=callback_manager, node_postprocessors=postprocessors)
        own: RetrieverOptions = {**options, "node_postprocessors": ()}
        parts = [
            make_retriever(
                caller,
                index.opened,
                strategy=strategy,
                llm=llm,
                origin=origin,
                session=session,
                callback_manager=None,
                **own,
            )
            for origin, index in self._members.items()
        ]
        return JoinedRetriever(
            parts,
            node_postprocessors=postprocessors,
            session=session,
            callback_manager=callback_manager,
        )

    def as_query_engine(
        self,
        strategy: str | Strategy | None = None,
        *,
        llm: LLM | None = None,
        streaming: bool = False,
        prompts: PromptsSource | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Unpack[RetrieverOptions],
    ) -> CitedQueryEngine:
        """Return one query engine over all; arguments as of :meth:`Index.as_query_engine`."""
        called = "JoinedIndex.as_query_engine"
        check(called, llm=llm, streaming=streaming, prompts=prompts)
        first = self._indexes[0].opened
        llm = llm or configured_llm(first.settings, callback_manager)
        found = self._retriever(called, strategy, llm, None, callback_manager, options)
        return make_engine(found, first, llm, streaming, callback_manager, prompts)

    def explain(
        self,
        question: str,
        *,
        top: int = 10,
        strategy: str | Strategy | None = None,
        llm: LLM | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Unpack[RetrieverOptions],
    ) -> Explanation:
        """Return why a question finds what it finds, as :meth:`Index.explain` does."""
        called = "JoinedIndex.explain"
        check(called, question=question, top=top)
        with self.session() as session:
            found = self._retriever(called, strategy, llm, session, callback_manager, options)
            return found.explain_in(session, question, top=top)

    def close(self) -> None:
        """Close all of them."""
        for index in self._indexes:
            index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
