"""LlamaIndex's recursive recipe: chunks of 128, 256 and 512 tokens that point at one of 1024."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from llama_index.core import Document, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.retrievers import RecursiveRetriever
from llama_index.core.schema import BaseNode, IndexNode
from llama_index.readers.file import PDFReader

from benchmarks.peers.base import Found, Peer
from benchmarks.peers.llamaindex_naive import embedding, found, hide, text_documents

SUB_CHUNK_SIZES = (128, 256, 512)
JOIN = "\n\n"


def read_whole(file: Path) -> tuple[Document, list[int]]:
    """Read a PDF as one document, and where each of its pages begins in it."""
    pages = [page.get_content() for page in PDFReader().load_data(file=file)]
    starts = [0]
    for page in pages:
        starts.append(starts[-1] + len(page) + len(JOIN))
    document = Document(text=JOIN.join(pages))
    hide(document, source=file.name, pages=[])
    return document, starts[:-1]


def note_pages(nodes: Sequence[BaseNode], text: str, starts: Sequence[int]) -> None:
    """Write on each chunk the physical pages that it overlaps.

    The splitter's own offsets are wrong for repeated text, so each chunk is
    looked for after the beginning of the one before.
    """
    begin = 0
    for node in nodes:
        content = node.get_content()
        at = text.find(content, begin)
        begin = at if at >= 0 else begin
        end = begin + len(content)
        node.metadata["pages"] = [
            number
            for number, start in enumerate(starts, start=1)
            if start < end and (number == len(starts) or starts[number] > begin)
        ]


class Recursive(Peer):
    """``RecursiveRetriever`` over one vector index of all the chunk sizes."""

    def ingest_files(self, files: Sequence[Path]) -> None:
        """See the base class."""
        parser = SentenceSplitter(chunk_size=1024)
        base_nodes: list[BaseNode] = []
        for file in files:
            document, starts = read_whole(file)
            nodes = parser.get_nodes_from_documents([document])
            note_pages(nodes, document.text, starts)
            base_nodes.extend(nodes)
        self._build(base_nodes)

    def ingest_texts(self, texts: Mapping[str, str]) -> None:
        """See the base class."""
        parser = SentenceSplitter(chunk_size=1024)
        self._build(parser.get_nodes_from_documents(text_documents(texts)))

    def _build(self, base_nodes: list[BaseNode]) -> None:
        for number, node in enumerate(base_nodes):
            node.id_ = f"node-{number}"
        sub_parsers = [SentenceSplitter(chunk_size=c, chunk_overlap=20) for c in SUB_CHUNK_SIZES]
        all_nodes: list[IndexNode] = []
        for base_node in base_nodes:
            for parser in sub_parsers:
                sub_nodes = parser.get_nodes_from_documents([base_node])
                all_nodes += [IndexNode.from_text_node(n, base_node.node_id) for n in sub_nodes]
            all_nodes.append(IndexNode.from_text_node(base_node, base_node.node_id))
        index = VectorStoreIndex(all_nodes, embed_model=embedding())
        index.storage_context.persist(persist_dir=str(self.folder))

    def open(self) -> None:
        """See the base class."""
        context = StorageContext.from_defaults(persist_dir=str(self.folder))
        self.index = load_index_from_storage(context, embed_model=embedding())

    def retrieve(self, question: str, k: int) -> list[Found]:
        """See the base class."""
        retriever = RecursiveRetriever(
            "vector",
            retriever_dict={"vector": self.index.as_retriever(similarity_top_k=k)},
            node_dict=self.index.docstore.docs,
        )
        return [found(hit) for hit in retriever.retrieve(question)]
