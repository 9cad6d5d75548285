"""Haystack's hybrid: BM25 and embeddings over its in-memory store, joined by rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from haystack import Document, Pipeline
from haystack.components.converters import PyPDFToDocument
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.embedders.sentence_transformers import (
    SentenceTransformersDocumentEmbedder,
    SentenceTransformersTextEmbedder,
)

from benchmarks.peers import base
from benchmarks.peers.base import Found, Peer

PAGE_BREAK = "\f"


def _indexing(store: InMemoryDocumentStore, *, pdfs: bool) -> Pipeline:
    """Build the indexing pipeline; sizes are those of the hybrid retrieval tutorial."""
    options = {} if base.embed_batch is None else {"batch_size": base.embed_batch}
    pipeline = Pipeline()
    pipeline.add_component(
        "splitter", DocumentSplitter(split_by="word", split_length=512, split_overlap=32)
    )
    pipeline.add_component(
        "embedder",
        SentenceTransformersDocumentEmbedder(
            model=base.model_folder(), progress_bar=False, **options
        ),
    )
    pipeline.add_component("writer", DocumentWriter(store))
    if pdfs:
        pipeline.add_component("converter", PyPDFToDocument())
        pipeline.connect("converter", "splitter")
    pipeline.connect("splitter", "embedder")
    pipeline.connect("embedder", "writer")
    return pipeline


def found(document: Document) -> Found:
    """Reduce a hit to what is scored; a chunk may run over several pages."""
    if "doc" in document.meta:
        return Found(document.meta["doc"], (), document.content)
    first = int(document.meta["page_number"])
    last = first + document.content.count(PAGE_BREAK)
    return Found(document.meta["file_path"], tuple(range(first, last + 1)), document.content)


class Hybrid(Peer):
    """``InMemoryBM25Retriever`` and ``InMemoryEmbeddingRetriever``, reciprocal rank fusion."""

    @property
    def _file(self) -> str:
        return str(self.folder / "store.json")

    def ingest_files(self, files: Sequence[Path]) -> None:
        """See the base class."""
        store = InMemoryDocumentStore()
        _indexing(store, pdfs=True).run({"converter": {"sources": list(files)}})
        store.save_to_disk(self._file)

    def ingest_texts(self, texts: Mapping[str, str]) -> None:
        """See the base class."""
        store = InMemoryDocumentStore()
        documents = [Document(content=text, meta={"doc": key}) for key, text in texts.items()]
        _indexing(store, pdfs=False).run({"splitter": {"documents": documents}})
        store.save_to_disk(self._file)

    def open(self) -> None:
        """See the base class."""
        store = InMemoryDocumentStore.load_from_disk(self._file)
        self.pipeline = Pipeline()
        self.pipeline.add_component(
            "embedder",
            SentenceTransformersTextEmbedder(model=base.model_folder(), progress_bar=False),
        )
        self.pipeline.add_component("vectors", InMemoryEmbeddingRetriever(store))
        self.pipeline.add_component("words", InMemoryBM25Retriever(store))
        self.pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
        self.pipeline.connect("embedder", "vectors")
        self.pipeline.connect("vectors", "joiner")
        self.pipeline.connect("words", "joiner")

    def retrieve(self, question: str, k: int) -> list[Found]:
        """See the base class."""
        result = self.pipeline.run(
            {
                "embedder": {"text": question},
                "vectors": {"top_k": k},
                "words": {"query": question, "top_k": k},
            }
        )
        return [found(document) for document in result["joiner"]["documents"][:k]]
