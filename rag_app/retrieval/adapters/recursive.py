"""``RecursiveRetriever`` whose children and parents are read from a store."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import RecursiveRetriever
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters

from pipelines.errors import ConfigError
from rag_app.retrieval.result import RetrievalResult
from rag_app.retrieval.retriever import DEFAULT_TOP_K, StrategyRetriever
from rag_app.retrieval.strategy import Arm, Strategy
from rag_app.session import QuerySession
from rag_app.store.protocol import Snapshot, Store

_ROOT = "children"
_WITHOUT_PARENT = ("parent", "passage", "sentence")


class ChildRetriever(BaseRetriever):
    """Vectors over children of one kind: the best child of each of the k best parents.

    What it returns are ``IndexNode`` objects that point at their parents, with their
    cosines, for a ``RecursiveRetriever`` to follow.

    Args:
        store: the index.
        embed_model: the model that it was made with.
        kind: the children: ``child-256``, ``piece``.
        similarity_top_k: of how many parents the best child is returned.
        filters: which passages are searched.
        callback_manager: as in LlamaIndex; the global one is never asked.

    Raises:
        ConfigError: nodes of this kind point at no parent.
        MissingNodesError: the index holds none of them.
    """

    def __init__(
        self,
        store: Store,
        embed_model: BaseEmbedding,
        kind: str = "child-256",
        *,
        similarity_top_k: int = DEFAULT_TOP_K,
        filters: MetadataFilters | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        if kind in _WITHOUT_PARENT:
            raise ConfigError(
                f"nodes of the kind {kind!r} point at no parent",
                hint='name one whose nodes do, such as "child-256"',
            )
        self.store = store
        self._search = StrategyRetriever(
            store,
            Strategy("children", (Arm("vectors", kind),), fusion="max"),
            embed_model=embed_model,
            similarity_top_k=similarity_top_k,
            filters=filters,
        )
        super().__init__(callback_manager=callback_manager)

    def search(self, session: QuerySession, query: QueryBundle) -> RetrievalResult:
        """Return what the children find, reading in a session of the ``store``."""
        return self._search.retrieve_in(session, query)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with QuerySession({"": self.store}) as session:
            found = self.search(session, query_bundle)
            return children_of(found, session.snapshot(self.store))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def children_of(found: RetrievalResult, snapshot: Snapshot) -> list[NodeWithScore]:
    """Return the child that each returned passage was found by, in the order of the passages."""
    best = {hit.passage_id: hit for ranking in found.rankings for hit in ranking.found}
    hits = [best[parent.node.node_id] for parent in found.nodes]
    nodes = snapshot.nodes([hit.node_id for hit in hits])
    return [
        NodeWithScore(node=nodes[hit.node_id], score=hit.score)
        for hit in hits
        if hit.node_id in nodes
    ]


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


class _Children(BaseRetriever):
    """The children of one query, which are found already."""

    def __init__(self, children: list[NodeWithScore]) -> None:
        self._children = children
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._children


class ChildParentRetriever(RecursiveRetriever):
    """Finds children by their vectors and follows them to k distinct parents, each by its best.

    A query reads one generation. Where the stock class keeps the first child seen,
    gives fewer parents than asked for, dies on a missing one, turns a score of 0 into
    1 and hands out the stored object, this one does not.

    Args: as those of :class:`ChildRetriever`, which is the root of the recursion.
    """

    def __init__(
        self,
        store: Store,
        embed_model: BaseEmbedding,
        kind: str = "child-256",
        *,
        similarity_top_k: int = DEFAULT_TOP_K,
        filters: MetadataFilters | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._root = ChildRetriever(
            store, embed_model, kind, similarity_top_k=similarity_top_k, filters=filters
        )
        super().__init__(
            _ROOT,
            retriever_dict={_ROOT: self._root},
            node_dict=StoredNodes(store),
            callback_manager=callback_manager or CallbackManager(),
        )

    def _retrieve_rec(
        self,
        query_bundle: QueryBundle,
        query_id: str | None = None,
        cur_similarity: float | None = None,
    ) -> tuple[list[NodeWithScore], list[NodeWithScore]]:
        if query_id is None:
            return self._from_root(query_bundle)
        if self._node_dict.get(query_id) is None:
            return [], []
        found, further = super()._retrieve_rec(query_bundle, query_id, cur_similarity)
        for one in found:
            one.score = cur_similarity
        return found, further

    def _from_root(
        self, query_bundle: QueryBundle
    ) -> tuple[list[NodeWithScore], list[NodeWithScore]]:
        """Recurse over the children and parents of one generation."""
        store = self._root.store
        with QuerySession({"": store}) as session:
            found = self._root.search(session, query_bundle)
            children = children_of(found, session.snapshot(store))
        parents: Mapping[str, BaseNode] = {one.node.node_id: one.node for one in found.nodes}
        query = copy.copy(self)
        query._node_dict = dict(parents)
        query._retriever_dict = {_ROOT: _Children(children)}
        return RecursiveRetriever._retrieve_rec(query, query_bundle, _ROOT)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
