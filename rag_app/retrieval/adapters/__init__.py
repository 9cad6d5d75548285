"""LlamaIndex's own retrievers over a store, for programs composed of those.

Each is a thin subclass around the functions that ``StrategyRetriever`` uses, gives
the same results, and mends what the stock class gets wrong.
"""

from rag_app.retrieval.adapters.fusion import RankFusionRetriever
from rag_app.retrieval.adapters.vectors import ChildParentRetriever
from rag_app.retrieval.adapters.windows import WindowPostprocessor
from rag_app.retrieval.adapters.words import WordRetriever

__all__ = ["ChildParentRetriever", "RankFusionRetriever", "WindowPostprocessor", "WordRetriever"]
