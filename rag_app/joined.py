"""Several indexes queried as one, without merging them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms.llm import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor

from pipelines.errors import ConfigError
from rag_app.answer.engine import CitedQueryEngine
from rag_app.answer.prompts import PromptsSource
from rag_app.arguments import check, check_each, check_keywords
from rag_app.index import RETRIEVER_ARGUMENTS, Index, configured_llm, make_engine
from rag_app.retrieval.explain import Explanation
from rag_app.retrieval.retriever import JoinedRetriever
from rag_app.retrieval.strategy import Strategy
from rag_app.session import QuerySession

# Each member's origin is its name.
_FURTHER = tuple(name for name in RETRIEVER_ARGUMENTS if name != "origin")


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
        session: QuerySession | None = None,
        callback_manager: CallbackManager | None = None,
        **retriever: Any,
    ) -> JoinedRetriever:
        """Return one retriever over all (arguments of :meth:`Index.as_retriever`)."""
        called = "JoinedIndex.as_retriever"
        check_keywords(called, retriever, (*_FURTHER, "llm"))
        return self._retriever(
            called, strategy, session=session, callback_manager=callback_manager, **retriever
        )

    def _retriever(
        self,
        caller: str,
        strategy: str | Strategy | None = None,
        *,
        session: QuerySession | None = None,
        callback_manager: CallbackManager | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] | None = None,
        **retriever: Any,
    ) -> JoinedRetriever:
        """Return the retriever; errors in its arguments name the function that was called."""
        check(caller, callback_manager=callback_manager, node_postprocessors=node_postprocessors)
        parts = [
            index.retriever_for(
                caller,
                strategy=strategy,
                origin=origin,
                session=session,
                node_postprocessors=(),
                **retriever,
            )
            for origin, index in self._members.items()
        ]
        return JoinedRetriever(
            parts,
            node_postprocessors=node_postprocessors,
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
        **retriever: Any,
    ) -> CitedQueryEngine:
        """Return one query engine over all (arguments of :meth:`Index.as_query_engine`)."""
        called = "JoinedIndex.as_query_engine"
        check(called, llm=llm, streaming=streaming, prompts=prompts)
        check_keywords(called, retriever, _FURTHER)
        first = self._indexes[0]
        llm = llm or configured_llm(first.settings, callback_manager)
        found = self._retriever(
            called, strategy, llm=llm, callback_manager=callback_manager, **retriever
        )
        return make_engine(found, first, llm, streaming, callback_manager, prompts)

    def explain(self, question: str, *, top: int = 10, **retriever: Any) -> Explanation:
        """Return why a question finds what it finds."""
        called = "JoinedIndex.explain"
        check(called, question=question, top=top)
        known = (*_FURTHER, "strategy", "llm", "callback_manager")
        check_keywords(called, retriever, known)
        with self.session() as session:
            found = self._retriever(called, session=session, **retriever)
            return found.explain_in(session, question, top=top)

    def close(self) -> None:
        """Close all of them."""
        for index in self._indexes:
            index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
