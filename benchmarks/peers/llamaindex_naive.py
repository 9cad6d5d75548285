"""LlamaIndex's first example: read, split at 1024 tokens, embed, persist, load, query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from llama_index.core import (
    Document,
    SimpleDirectoryReader,
    StorageContext,
    VectorStoreIndex,
    load_index_from_storage,
)
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index.embeddings.huggingface import HuggingFaceEmbedding

from benchmarks.peers import base
from benchmarks.peers.base import Found, Peer


def embedding() -> HuggingFaceEmbedding:
    """Return the embedding model with the defaults of its class."""
    options = {} if base.embed_batch is None else {"embed_batch_size": base.embed_batch}
    return HuggingFaceEmbedding(model_name=base.model_folder(), **options)


def hide(document: Document, **facts: object) -> None:
    """Note facts on a document for scoring, out of the sight of splitter, model and LLM."""
    document.metadata.update(facts)
    document.excluded_embed_metadata_keys.extend(facts)
    document.excluded_llm_metadata_keys.extend(facts)


def read_pages(files: Sequence[Path]) -> list[Document]:
    """Read PDFs, a document a page; the label that LlamaIndex keeps is not the physical page."""
    documents = SimpleDirectoryReader(input_files=[str(file) for file in files]).load_data()
    seen: dict[str, int] = {}
    for document in documents:
        name = document.metadata["file_name"]
        seen[name] = seen.get(name, 0) + 1
        hide(document, source=name, pages=[seen[name]])
    return documents


def text_documents(texts: Mapping[str, str]) -> list[Document]:
    """Make a document of each text."""
    documents = [Document(text=text, id_=key) for key, text in texts.items()]
    for document in documents:
        hide(document, source=document.id_, pages=[])
    return documents


def found(hit: NodeWithScore) -> Found:
    """Reduce a hit to what is scored."""
    metadata = hit.node.metadata
    text = hit.node.get_content(MetadataMode.NONE)
    return Found(metadata["source"], tuple(metadata["pages"]), text)


class Naive(Peer):
    """``VectorStoreIndex`` over chunks of 1024 tokens."""

    def ingest_files(self, files: Sequence[Path]) -> None:
        """See the base class."""
        self._build(read_pages(files))

    def ingest_texts(self, texts: Mapping[str, str]) -> None:
        """See the base class."""
        self._build(text_documents(texts))

    def _build(self, documents: list[Document]) -> None:
        index = VectorStoreIndex.from_documents(
            documents,
            transformations=[SentenceSplitter(chunk_size=1024)],
            embed_model=embedding(),
        )
        index.storage_context.persist(persist_dir=str(self.folder))

    def open(self) -> None:
        """See the base class."""
        context = StorageContext.from_defaults(persist_dir=str(self.folder))
        self.index = load_index_from_storage(context, embed_model=embedding())

    def retrieve(self, question: str, k: int) -> list[Found]:
        """See the base class."""
        hits = self.index.as_retriever(similarity_top_k=k).retrieve(question)
        return [found(hit) for hit in hits]
