"""The parts of the strategies as retrievers of LlamaIndex, for programs composed of those.

Each is a thin class around the functions that ``StrategyRetriever`` uses, gives the
same results, and mends what the stock class gets wrong.
"""

from __future__ import annotations

from rag_app.retrieval.adapters.fusion import RankFusionRetriever
from rag_app.retrieval.adapters.lexical import LexicalRetriever
from rag_app.retrieval.adapters.recursive import ChildParentRetriever, ChildRetriever
from rag_app.retrieval.adapters.windows import WindowPostprocessor

__all__ = [
    "ChildParentRetriever",
    "ChildRetriever",
    "LexicalRetriever",
    "RankFusionRetriever",
    "WindowPostprocessor",
]
