"""LlamaIndex's documented hybrid: the naive index and BM25 over its nodes, joined by rank."""

from __future__ import annotations

from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.retrievers.bm25 import BM25Retriever

from benchmarks.peers.base import Found
from benchmarks.peers.llamaindex_naive import Naive, found


class Hybrid(Naive):
    """``QueryFusionRetriever`` over a vector retriever and a ``BM25Retriever``.

    The example generates queries with an LLM; with one query, as here, a mock
    stands in for it. As in the example, each arm returns as many as are wanted.
    """

    _bm25: BM25Retriever | None = None

    def open(self) -> None:
        """See the base class; the words are counted again, as in the example."""
        super().open()
        self._bm25 = BM25Retriever.from_defaults(docstore=self.index.docstore, similarity_top_k=1)
        self._size = len(self.index.docstore.docs)

    def retrieve(self, question: str, k: int) -> list[Found]:
        """See the base class."""
        assert self._bm25 is not None
        self._bm25.similarity_top_k = min(k, self._size)
        fusion = QueryFusionRetriever(
            [self.index.as_retriever(similarity_top_k=k), self._bm25],
            llm=MockLLM(),
            similarity_top_k=k,
            num_queries=1,
            mode="reciprocal_rerank",
            use_async=False,
        )
        return [found(hit) for hit in fusion.retrieve(question)]
