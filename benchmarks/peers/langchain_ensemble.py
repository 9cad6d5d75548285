"""LangChain's ``EnsembleRetriever`` over Chroma and BM25, with equal weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from langchain_chroma import Chroma
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document
from langchain_text_splitters import RecursiveCharacterTextSplitter

from benchmarks.peers.base import Found, Peer
from benchmarks.peers.langchain_parent import embedding, found, read_pages, text_documents


class Ensemble(Peer):
    """Chunks of 1,000 characters with 200 of overlap, as in the retrieval tutorial."""

    def ingest_files(self, files: Sequence[Path]) -> None:
        """See the base class."""
        self._build([page for file in files for page in read_pages(file)])

    def ingest_texts(self, texts: Mapping[str, str]) -> None:
        """See the base class."""
        self._build(text_documents(texts))

    def _build(self, documents: list[Document]) -> None:
        splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
        Chroma.from_documents(
            splitter.split_documents(documents),
            embedding(),
            persist_directory=str(self.folder / "chroma"),
        )

    def open(self) -> None:
        """See the base class; BM25 has no file of its own and is counted from Chroma's rows."""
        self.vectors = Chroma(
            embedding_function=embedding(), persist_directory=str(self.folder / "chroma")
        )
        rows = self.vectors.get()
        self.words = BM25Retriever.from_documents(
            [
                Document(text, metadata=metadata)
                for text, metadata in zip(rows["documents"], rows["metadatas"], strict=True)
            ]
        )

    def retrieve(self, question: str, k: int) -> list[Found]:
        """See the base class."""
        self.words.k = k
        ensemble = EnsembleRetriever(
            retrievers=[self.words, self.vectors.as_retriever(search_kwargs={"k": k})],
            weights=[0.5, 0.5],
        )
        return [found(document) for document in ensemble.invoke(question)[:k]]
