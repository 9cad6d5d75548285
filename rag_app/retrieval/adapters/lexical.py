"""BM25 over the term counts of a store."""

from __future__ import annotations

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.vector_stores.types import MetadataFilters

from rag_app.retrieval.retriever import DEFAULT_TOP_K, StrategyRetriever
from rag_app.retrieval.strategy import Arm, Strategy
from rag_app.store.protocol import Store


class LexicalRetriever(StrategyRetriever):
    """BM25 that returns passages with a word of the question, and no others.

    No subclass of LlamaIndex's ``BM25Retriever``: that one is made of an object of bm25s,
    which knows neither additions nor deletions, pads its result with score 0, shows
    filtered-out nodes, searches file names, cuts Japanese into sentences and forgets its
    tokenizer on disk. An index persists itself.

    Args:
        store: the index.
        kind: the nodes whose words are searched; ``parent``, ``piece`` or a further analyser.
        similarity_top_k: how many passages are returned, where there are so many.
        filters: which passages are searched.
        callback_manager: as in LlamaIndex; the global one is never asked.

    Raises:
        MissingNodesError: the index holds no words of this kind.
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
        super().__init__(
            store,
            Strategy("lexical", (Arm("words", kind),), fusion="max"),
            similarity_top_k=similarity_top_k,
            filters=filters,
            callback_manager=callback_manager,
        )
