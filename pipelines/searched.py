"""The text of a node that BM25 searches, and its counted terms."""

from __future__ import annotations

from collections import Counter

from llama_index.core.schema import BaseNode, MetadataMode

from pipelines.analysers import DEFAULT, Analyser
from pipelines.nodes import header_of


def searched_as(node: BaseNode) -> str:
    """Return the kind under which a node is searched: a ready passage is one of the parents."""
    kind = str(node.metadata["kind"])
    return "parent" if kind == "passage" else kind


def counted_terms(node: BaseNode, analyser: Analyser = DEFAULT) -> dict[str, int]:
    """Return the counted terms of a node."""
    return dict(Counter(analyser.terms(_searched(node))))


def _searched(node: BaseNode) -> str:
    """Return what BM25 searches: the text with its title and heading in front."""
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    header = header_of(node) if searched_as(node) == "parent" else ""
    return f"{header}\n{text}" if header else text
