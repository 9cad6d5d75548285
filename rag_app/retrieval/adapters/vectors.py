"""``RecursiveRetriever`` whose children and parents are read from a store."""

from __future__ import annotations

import asyncio

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import RecursiveRetriever
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters

from rag_app.retrieval.retriever import DEFAULT_TOP_K, StrategyRetriever
from rag_app.retrieval.strategy import Arm, Strategy
from rag_app.store.protocol import Store

_ROOT = "children"


class StoredNodes(dict[str, BaseNode]):
    """Nodes by id, each read when it is asked for, and fresh each time."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __bool__(self) -> bool:
        # The base class takes an empty dictionary for none.
        return True

    def get(self, key: str, default: BaseNode | None = None) -> BaseNode | None:  # type: ignore[override]
        """Return a copy of a node."""
        with self._store.snapshot() as snapshot:
            return snapshot.nodes([key]).get(key, default)


class ChildParentRetriever(RecursiveRetriever):
    """Vectors over children of one kind; k distinct parents, each by its best child.

    The stock class keeps the first child seen, gives fewer parents than asked for,
    dies on a missing one, turns a score of 0 into 1 and hands out the stored object.
    Here the root of the recursion follows children itself, in one generation.
    """

    def __init__(
        self,
        store: Store,
        embed_model: BaseEmbedding,
        kind: str = "child-128",
        *,
        similarity_top_k: int = DEFAULT_TOP_K,
        filters: MetadataFilters | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        root = StrategyRetriever(
            store,
            Strategy("vectors", (Arm("vectors", kind),), fusion="max"),
            embed_model=embed_model,
            similarity_top_k=similarity_top_k,
            filters=filters,
        )
        super().__init__(
            _ROOT,
            retriever_dict={_ROOT: root},
            node_dict=StoredNodes(store),
            callback_manager=callback_manager or CallbackManager(),
        )

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
