"""``MetadataReplacementPostProcessor`` that reads sentence windows from a store."""

from __future__ import annotations

from typing import Any

from llama_index.core.postprocessor.metadata_replacement import MetadataReplacementPostProcessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import PrivateAttr

from rag_app.retrieval.candidates import collect
from rag_app.retrieval.evidence import as_window
from rag_app.retrieval.fusion import Fused
from rag_app.retrieval.rankings import View
from rag_app.store.protocol import Store


class WindowPostprocessor(MetadataReplacementPostProcessor):
    """Widens sentences to their windows, on copies; overlapping windows become one.

    Text, span and pages are replaced together. The stock class overwrites the node
    that it was given, and text alone.
    """

    _store: Any = PrivateAttr()

    def __init__(self, store: Store) -> None:
        super().__init__(target_metadata_key="window")
        self._store = store

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex records the class."""
        return "WindowPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        with self._store.snapshot() as snapshot:
            view = View("", snapshot, None)
            ranked = ((Fused(n.node_id, n.score or 0.0, ()), n.node, view) for n in nodes)
            reading = collect(ranked, len(nodes))
            return [
                NodeWithScore(node=as_window(p.node, view, p.window), score=p.score)
                for p in reading.passages
            ]
