"""A user's ready passages (``TextNode``) and pieces (``IndexNode``) → nodes in our form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from llama_index.core.schema import (
    BaseNode,
    Document,
    IndexNode,
    MetadataMode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

from pipelines.documents import hidden_keys, metadata_for_hash, printable_names
from pipelines.errors import ConfigError
from pipelines.file_names import storable
from pipelines.lines import classify
from pipelines.nodes import hidden_from_llm, node_id, text_hash
from pipelines.rows import ROW_SHARE, noted_row_share
from pipelines.scripts import script_of
from pipelines.splitting import Span
from pipelines.text import sanitise
from pipelines.user_metadata import storable_metadata

_BETWEEN = "\n\n"
_PLACE = ("file_name", "file_path", "page_label", "title", "heading")


def passages(nodes: Sequence[BaseNode]) -> list[tuple[Document, list[BaseNode]]]:
    """Return the documents that ready passages make up, each with its nodes.

    Passages of one source document (``ref_doc_id``) make one document, any
    other passage makes one of its own. A piece is text to search that leads to
    its passage by ``index_id``. An id that the user chose stays; where
    LlamaIndex made up a random one, the content decides.

    Raises:
        ConfigError: a piece points at no passage given, or a node has no text.
    """
    return [group.adopted() for group in groups_of(nodes)]


@dataclass(frozen=True)
class PassageGroup:
    """The passages of one document, not yet in our form.

    Attributes:
        name: id of the document, or of its only passage.
        nodes: the passages.
        pieces: what is searched for them, by the passage's id.
    """

    name: str
    nodes: Sequence[BaseNode]
    pieces: Mapping[str, Sequence[IndexNode]]

    def adopted(self) -> tuple[Document, list[BaseNode]]:
        """Return the document and its nodes in our form.

        Raises:
            ConfigError: a node has no text, or its metadata cannot be stored.
        """
        for node in (*self.nodes, *(piece for some in self.pieces.values() for piece in some)):
            if not _text(node).strip():
                raise ConfigError(f"node {node.node_id} has no text", hint="leave it out")
        pieces = {storable(key): [_clean(one) for one in some] for key, some in self.pieces.items()}
        return _adopted([_clean(node) for node in self.nodes], pieces)


def groups_of(nodes: Sequence[BaseNode]) -> list[PassageGroup]:
    """Return the passages of each document with their pieces.

    Raises:
        ConfigError: a piece points at no passage given.
    """
    pieces: dict[str, list[IndexNode]] = {}
    groups: dict[str, list[BaseNode]] = {}
    for node in nodes:
        if isinstance(node, IndexNode):
            pieces.setdefault(node.index_id, []).append(node)
        else:
            groups.setdefault(node.ref_doc_id or f"node {node.node_id}", []).append(node)
    known = {node.node_id for group in groups.values() for node in group}
    for missing in pieces.keys() - known:
        raise ConfigError(
            f"a piece points at passage {missing!r}, which is not among the nodes given",
            hint="give the passages together with their pieces; index_id is the passage's id",
        )
    return [
        PassageGroup(
            name=group[0].ref_doc_id or group[0].node_id,
            nodes=group,
            pieces={n.node_id: pieces[n.node_id] for n in group if n.node_id in pieces},
        )
        for group in groups.values()
    ]


N = TypeVar("N", bound=BaseNode)


def _clean(node: N) -> N:
    """Return a copy whose ids and metadata can be stored."""
    changed: dict[str, Any] = {"metadata": storable_metadata(node.metadata)}
    names = {key: str(value) for key, value in printable_names(node.metadata).items() if value}
    changed["metadata"] |= names
    for key in ("id_", "index_id"):
        value = getattr(node, key, None)
        if isinstance(value, str) and value != storable(value):
            changed[key] = storable(value)
    return node.model_copy(update=changed)


def _adopted(
    group: Sequence[BaseNode], pieces: Mapping[str, Sequence[IndexNode]]
) -> tuple[Document, list[BaseNode]]:
    texts = [_text(node) for node in group]
    digest = _digest(group, pieces)
    first = group[0]
    source = storable(first.ref_doc_id or "")
    own_id = source or (first.node_id if _chosen(first) else digest)
    metadata = {
        "file_name": first.metadata.get("file_name", ""),
        "file_path": first.metadata.get("file_path", ""),
        "title": first.metadata.get("title", ""),
        "content_hash": digest,
        "reader": "",
        "page_map": [],
    }
    document = Document(id_=own_id, text=_BETWEEN.join(texts), metadata=metadata)
    hidden_keys(document)
    made: list[BaseNode] = []
    start = 0
    for node, text in zip(group, texts, strict=True):
        passage = _passage(node, text, (start, start + len(text)), document)
        made.append(passage)
        made.extend(_pieces(pieces.get(node.node_id, ()), passage, document))
        start += len(text) + len(_BETWEEN)
    return document, made


def _passage(node: BaseNode, text: str, span: Span, document: Document) -> TextNode:
    metadata = _metadata(node.metadata, "passage", text, _pages(node))
    metadata.pop(ROW_SHARE, None)  # what another index noted of another text
    metadata |= noted_row_share(classify(text), (0, len(text)))
    digest = document.metadata["content_hash"]
    return TextNode(
        id_=node.node_id if _chosen(node) else node_id(digest, "", "passage", {}, span, text),
        text=text,
        start_char_idx=span[0],
        end_char_idx=span[1],
        metadata=metadata,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document.node_id)},
        **_hidden(metadata),
    )


def piece_of(
    passage: TextNode, text: str, metadata: Mapping[str, Any] = MappingProxyType({})
) -> IndexNode:
    """Return a piece: text to search that is no part of the passage and leads to it.

    Args:
        passage: a parent or a ready passage, in our form.
        text: what is searched.
        metadata: kept on the piece, beside the place of its passage.
    """
    place = {key: passage.metadata.get(key, "") for key in _PLACE}
    made = node_id(text_hash(passage.node_id), "", "piece", {"of": passage.node_id}, None, text)
    return _leading(passage, text, made, passage.ref_doc_id or "", {**metadata, **place})


def _pieces(nodes: Sequence[IndexNode], passage: TextNode, document: Document) -> list[IndexNode]:
    """Return the pieces of a passage; the same one given twice is one."""
    made = [_piece(node, passage, document) for node in nodes]
    return list({(piece.node_id, piece.text): piece for piece in made}.values())


def _piece(node: IndexNode, passage: TextNode, document: Document) -> IndexNode:
    text = _text(node)
    digest = document.metadata["content_hash"]
    made_id = node_id(digest, "", "piece", {"of": passage.node_id}, None, text)
    own_id = node.node_id if _chosen(node) else made_id
    return _leading(passage, text, own_id, document.node_id, node.metadata)


def _leading(
    passage: TextNode, text: str, own_id: str, source_id: str, given: Mapping[str, Any]
) -> IndexNode:
    metadata = _metadata(given, "piece", text, passage.metadata["pages"])
    return IndexNode(
        id_=own_id,
        index_id=passage.node_id,
        text=text,
        metadata=metadata,
        relationships={
            NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source_id),
            NodeRelationship.PARENT: RelatedNodeInfo(node_id=passage.node_id),
        },
        **_hidden(metadata),
    )


def _metadata(
    given: Mapping[str, Any], kind: str, text: str, pages: Sequence[int]
) -> dict[str, Any]:
    blank = {"file_name": "", "file_path": "", "page_label": "", "title": "", "heading": ""}
    label = {"page_label": str(given.get("page_label", pages[0] if pages else ""))}
    own = {"kind": kind, "pages": list(pages), "script": script_of(text)}
    return blank | dict(given) | label | own


def _hidden(metadata: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        "excluded_embed_metadata_keys": list(metadata),
        "excluded_llm_metadata_keys": hidden_from_llm(metadata),
    }


def _pages(node: BaseNode) -> list[int]:
    pages = node.metadata.get("pages")
    if pages is None:
        label = str(node.metadata.get("page_label", ""))
        pages = [int(label)] if label.isdecimal() else []
    return [int(page) for page in pages]


def _chosen(node: BaseNode) -> bool:
    """Tell whether the user gave the id; LlamaIndex makes up a random one otherwise."""
    return "id_" in node.model_fields_set


def _text(node: BaseNode) -> str:
    return sanitise(node.get_content(metadata_mode=MetadataMode.NONE))


def _digest(group: Sequence[BaseNode], pieces: Mapping[str, Sequence[IndexNode]]) -> str:
    content = [
        [_identity(node), [_identity(piece) for piece in pieces.get(node.node_id, ())]]
        for node in group
    ]
    source = group[0].ref_doc_id
    return text_hash(json.dumps([source, content], sort_keys=True, default=str))


def _identity(node: BaseNode) -> list[Any]:
    own_id = node.node_id if _chosen(node) else ""
    return [own_id, _text(node), metadata_for_hash(node.metadata)]
