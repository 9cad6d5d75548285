"""LlamaIndex's own retrievers over a store, for programs composed of those.

Each is a thin subclass around the functions that ``StrategyRetriever`` uses, gives
the same results, and mends what the stock class gets wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_app.retrieval.adapters.fusion import RankFusionRetriever
from rag_app.retrieval.adapters.vectors import ChildParentRetriever
from rag_app.retrieval.adapters.windows import WindowPostprocessor

if TYPE_CHECKING:
    from rag_app.retrieval.adapters.words import WordRetriever

__all__ = ["ChildParentRetriever", "RankFusionRetriever", "WindowPostprocessor", "WordRetriever"]


def __getattr__(name: str) -> object:
    # Its base class comes with a package that a light install leaves out.
    if name == "WordRetriever":
        from rag_app.retrieval.adapters.words import WordRetriever

        return WordRetriever
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
