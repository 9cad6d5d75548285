"""A document → its nodes and their counted terms. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llama_index.core.schema import (
    BaseNode,
    Document,
    IndexNode,
    MetadataMode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

from pipelines.analysers import FURTHER, Analyser
from pipelines.child_parent import ChildParentParser
from pipelines.documents import document_of
from pipelines.reading import ReadPdf
from pipelines.searched import counted_terms, searched_as
from pipelines.sentence_table import SentenceTable
from pipelines.sentence_window import SentenceWindowParser
from pipelines.structure import structure_of
from rag_app.store.protocol import IndexConfig

_WHOLE = 1 << 40  # more tokens than any passage has: a ready passage is not cut


@dataclass(frozen=True)
class Chunking:
    """The settings that decide the nodes of a document.

    Attributes:
        parent_size: tokens of a parent.
        child_sizes: tokens of the children, one kind each.
        window: sentences on each side; ``None``: no sentences.
        words: kinds whose terms are counted, and further lists of terms.
        reader: name of the PDF reader.
    """

    parent_size: int
    child_sizes: tuple[int, ...]
    window: int | None
    words: tuple[str, ...]
    reader: str

    @classmethod
    def of(cls, config: IndexConfig) -> Chunking:
        """Return the chunking of an index's configuration."""
        sizes = tuple(int(kind[6:]) for kind in config.kinds if kind.startswith("child-"))
        window = config.window if "sentence" in config.kinds else None
        return cls(config.parent_size, sizes, window, config.word_kinds, config.reader)


@dataclass(frozen=True)
class Parsed:
    """A document with its nodes, terms and further lists; nothing is embedded yet.

    ``sentences`` is the sentence table of its text.
    """

    document: Document
    nodes: Sequence[BaseNode]
    terms: Mapping[str, Mapping[str, int]]
    lists: Mapping[str, Mapping[str, Mapping[str, int]]]
    sentences: SentenceTable


def parse_read(read: ReadPdf, chunking: Chunking) -> Parsed:
    """Parse one PDF that was read."""
    return parse(document_of(read), chunking)


def parse(
    document: Document, chunking: Chunking, ready: Sequence[BaseNode] | None = None
) -> Parsed:
    """Parse a document, or the ready passages of one."""
    if ready is None:
        nodes = _nodes(document, chunking, chunking.parent_size)
        tables = [_sentence_table(document.text)]
    else:
        nodes, tables = list(ready), []
        for passage in ready:
            if isinstance(passage, TextNode) and not _leads(passage):
                nodes += _below(document, passage, chunking)
                tables.append(_sentence_table(passage.text).moved(passage.start_char_idx or 0))
    structure_of.cache_clear()  # no other parser asks for it; of a long report some 10 MB
    lists = {
        name: _listed(FURTHER[name], document, nodes) for name in chunking.words if name in FURTHER
    }
    terms = count_terms(nodes, chunking.words)
    return Parsed(document, nodes, terms, lists, SentenceTable.joined(tables))


def _sentence_table(text: str) -> SentenceTable:
    structure = structure_of(text)
    return SentenceTable.of(text, structure.whole, structure.tokens)


def count_terms(nodes: Sequence[BaseNode], words: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the counted search terms of the nodes whose kind is one of ``words``."""
    return {node.node_id: counted_terms(node) for node in nodes if searched_as(node) in words}


def _listed(
    analyser: Analyser, document: Document, nodes: Sequence[BaseNode]
) -> dict[str, dict[str, int]]:
    """Return the counted terms, by a further analyser, of the parents that it serves."""
    if not analyser.serves_document(document.text):
        return {}
    return {
        node.node_id: counted_terms(node, analyser)
        for node in nodes
        if searched_as(node) == "parent"
        and analyser.serves_passage(node.get_content(MetadataMode.NONE))
    }


def _nodes(document: Document, chunking: Chunking, parent_size: int) -> list[BaseNode]:
    parser = ChildParentParser(parent_size=parent_size, child_sizes=chunking.child_sizes)
    nodes = parser([document])
    if chunking.window is not None:
        nodes += SentenceWindowParser(window=chunking.window, window_text=False)([document])
    return nodes


def _below(document: Document, passage: TextNode, chunking: Chunking) -> list[BaseNode]:
    """Return the children and sentences of a ready passage, placed in its document."""
    own = {
        **{key: document.metadata.get(key, "") for key in ("file_name", "file_path", "title")},
        # Two passages may have the same text, but must not have the same children.
        "content_hash": f"{document.metadata['content_hash']} {passage.node_id}",
    }
    part = Document(id_=document.id_, text=passage.text, metadata=own)
    made = _nodes(part, replace(chunking), _WHOLE)
    offset = passage.start_char_idx or 0
    return [_moved(node, offset, passage) for node in made if node.metadata["kind"] != "parent"]


def _moved(node: BaseNode, offset: int, passage: TextNode) -> BaseNode:
    if not isinstance(node, TextNode):
        raise TypeError(f"{type(node).__name__} has no span")
    node.start_char_idx = (node.start_char_idx or 0) + offset
    node.end_char_idx = (node.end_char_idx or 0) + offset
    for key in ("window_start", "window_end"):
        if key in node.metadata:
            node.metadata[key] += offset
    for key in ("pages", "page_label"):
        node.metadata[key] = passage.metadata.get(key, node.metadata[key])
    if isinstance(node, IndexNode):
        node.index_id = passage.node_id
        node.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=passage.node_id)
    return node


def _leads(node: BaseNode) -> bool:
    return isinstance(node, IndexNode)
