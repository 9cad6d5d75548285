"""Documents' spans → LlamaIndex nodes with exact offsets, pages and deterministic ids."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.schema import (
    BaseNode,
    IndexNode,
    MetadataMode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

from pipelines.documents import DOCUMENT_KEYS, page_map
from pipelines.page_map import Page, pages_of
from pipelines.rows import noted_row_share
from pipelines.scripts import script_of
from pipelines.splitting import Span
from pipelines.structure import structure_of

# What a language model reads of a node's metadata; an embedding model reads none of it. All
# pages: a label is that of one page, and a passage may run over several.
SHOWN_KEYS = frozenset({"file_name", "pages"})


class NodeMaker:
    """Makes the nodes of one document (or of any node with text, as a source of its own)."""

    def __init__(self, document: BaseNode) -> None:
        self.document = document
        self.text = document.get_content(metadata_mode=MetadataMode.NONE)
        self.structure = structure_of(self.text)
        self._pages = page_map(document)
        self._source = RelatedNodeInfo(node_id=document.node_id)
        self._hash = str(document.metadata.get("content_hash") or text_hash(self.text))
        self._reader = str(document.metadata.get("reader", ""))
        self._own = {k: v for k, v in document.metadata.items() if k not in DOCUMENT_KEYS}

    @property
    def page_starts(self) -> list[int]:
        """Offsets at which a page begins and no sentence of the page before runs on."""
        starts = [page.start for page in self._pages]
        return [start for start in starts if start and self.text.startswith("\n\n", start - 2)]

    def make(
        self,
        span: Span,
        kind: str,
        settings: Mapping[str, object],
        *,
        parent: BaseNode | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> TextNode:
        """Return the node of a span; with a parent an ``IndexNode`` that points at it."""
        start, end = span
        text = self.text[start:end]
        metadata = self._metadata(span, kind, text) | dict(extra or {})
        fields: dict[str, Any] = {
            "id_": node_id(self._hash, self._reader, kind, settings, span, text),
            "text": text,
            "start_char_idx": start,
            "end_char_idx": end,
            "metadata": metadata,
            "relationships": {NodeRelationship.SOURCE: self._source},
            "excluded_embed_metadata_keys": list(metadata),
            "excluded_llm_metadata_keys": hidden_from_llm(metadata),
        }
        if parent is None:
            return TextNode(**fields)
        fields["relationships"][NodeRelationship.PARENT] = RelatedNodeInfo(node_id=parent.node_id)
        return IndexNode(index_id=parent.node_id, **fields)

    def _metadata(self, span: Span, kind: str, text: str) -> dict[str, Any]:
        source = self.document.metadata
        pages: Sequence[Page] = pages_of(self._pages, *span)
        return {
            **self._own,
            "kind": kind,
            "file_name": source.get("file_name", ""),
            "file_path": source.get("file_path", ""),
            "page_label": pages[0].label if pages else "",
            "pages": [page.number for page in pages if page.number is not None],
            "title": source.get("title", ""),
            "heading": self.structure.heading_at(self.text, span[0]),
            "script": script_of(text),
            **(noted_row_share(self.structure.lines, span) if kind == "parent" else {}),
        }


def hidden_from_llm(metadata: Mapping[str, Any]) -> list[str]:
    """Return the keys that a language model does not read: all but file and pages, if known."""
    return [key for key, value in metadata.items() if key not in SHOWN_KEYS or not value]


def node_id(
    content_hash: str,
    reader: str,
    kind: str,
    settings: Mapping[str, object],
    span: Span | None,
    text: str,
) -> str:
    """Return the sha256, in hex, of exactly what decides a node."""
    parts = [content_hash, reader, kind, settings, span, text]
    data = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(data.encode("ascii")).hexdigest()


def text_hash(text: str) -> str:
    """Return the sha256, in hex, of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def header_of(node: BaseNode | Mapping[str, Any]) -> str:
    """Return "title, heading": what BM25 searches in front of a node's text."""
    metadata = node.metadata if isinstance(node, BaseNode) else node
    parts = (metadata.get("title"), metadata.get("heading"))
    return ", ".join(str(part) for part in parts if part)
