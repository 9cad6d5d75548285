"""``QueryFusionRetriever`` with canonical reciprocal rank fusion."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from itertools import chain, product

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms.mock import MockLLM
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES, QueryFusionRetriever
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from pipelines.errors import ConfigError, RetrievalError
from rag_app.retrieval.evidence import joined_evidence
from rag_app.retrieval.fusion import reciprocal_rank_fusion
from rag_app.retrieval.queries import QueryGenerator, all_queries
from rag_app.retrieval.retriever import DEFAULT_TOP_K, check_top_k

_log = logging.getLogger(__name__)

Results = dict[tuple[str, int], list[NodeWithScore]]


class RankFusionRetriever(QueryFusionRetriever):
    """Fuses any retrievers that return passages, by the id of their nodes.

    The stock class fuses by a hash of the text, ignores weights, ranks from 0,
    overwrites scores, counts repetitions, wants a language model and dies with one arm.

    ``query_generator`` makes further questions of one; ``strict`` raises when a
    retriever fails, instead of answering by the rest.
    """

    def __init__(
        self,
        retrievers: Sequence[BaseRetriever],
        *,
        weights: Sequence[float] | None = None,
        k: float = 10.0,
        similarity_top_k: int = DEFAULT_TOP_K,
        query_generator: QueryGenerator | None = None,
        strict: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._weights = [1.0] * len(retrievers) if weights is None else list(weights)
        # Impossible weights are an error now, not with the first question.
        reciprocal_rank_fusion([()] * len(retrievers), self._weights, k=k)
        check_top_k(similarity_top_k)
        self._k, self._strict, self._generate = k, strict, query_generator
        super().__init__(
            list(retrievers),
            llm=MockLLM(),
            mode=FUSION_MODES.RECIPROCAL_RANK,
            similarity_top_k=similarity_top_k,
            num_queries=1 if query_generator is None else 2,
            use_async=False,
            callback_manager=callback_manager,
        )

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _get_queries(self, original_query: str) -> list[QueryBundle]:
        generated = self._generate(original_query) if self._generate else []
        return [QueryBundle(query) for query in all_queries(original_query, generated)[1:]]

    def _run_sync_queries(self, queries: list[QueryBundle]) -> Results:
        results: Results = {}
        failures: list[Exception] = []
        arms = [(i, arm) for i, arm in enumerate(self._retrievers) if self._weights[i]]
        for query, (number, arm) in product(queries, arms):
            try:
                results[query.query_str, number] = arm.retrieve(query)
            except Exception as failure:
                if self._strict or isinstance(failure, ConfigError):
                    raise
                failures.append(failure)
                _log.warning("retriever %d failed: %r", number, failure)
        if not results:
            raise RetrievalError("every retriever failed") from failures[0]
        return results

    def _reciprocal_rerank_fusion(self, results: Results) -> list[NodeWithScore]:
        nodes: dict[str, list[BaseNode]] = {}
        for found in chain.from_iterable(results.values()):
            nodes.setdefault(found.node.node_id, []).append(found.node)
        ids = [[found.node.node_id for found in group] for group in results.values()]
        weights = [self._weights[number] for _, number in results]
        fused = reciprocal_rank_fusion(ids, weights, k=self._k)
        return [
            NodeWithScore(node=joined_evidence(nodes[item.key]), score=item.score) for item in fused
        ]
