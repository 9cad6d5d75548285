"""``BM25Retriever`` over the term counts of a store."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters

from pipelines.optional import needed
from rag_app.retrieval.retriever import DEFAULT_TOP_K, StrategyRetriever
from rag_app.retrieval.strategy import Arm, Strategy
from rag_app.store.protocol import Store

with needed("WordRetriever", "llama-index-retrievers-bm25"):
    from llama_index.retrievers.bm25 import BM25Retriever  # type: ignore[import-untyped]


class WordRetriever(BM25Retriever):  # type: ignore[misc]  # its package is untyped
    """BM25 that returns passages with a word of the question, and no others.

    The stock class pads its result with score 0, shows filtered-out nodes, searches
    file names, cuts Japanese into sentences and forgets its tokenizer on disk.
    """

    def __init__(
        self,
        store: Store,
        kind: str = "parent",
        *,
        similarity_top_k: int = DEFAULT_TOP_K,
        filters: MetadataFilters | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        strategy = Strategy("words", (Arm("words", kind),), fusion="max")
        self._inner = StrategyRetriever(
            store, strategy, similarity_top_k=similarity_top_k, filters=filters
        )
        # The base class asks an index of its own kind for its size and its texts.
        counted = SimpleNamespace(corpus=None, scores={})
        super().__init__(
            existing_bm25=counted,
            similarity_top_k=similarity_top_k,
            callback_manager=callback_manager,
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(self._inner.retrieve_detailed(query_bundle).nodes)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
