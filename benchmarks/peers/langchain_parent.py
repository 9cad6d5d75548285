"""LangChain's ``ParentDocumentRetriever`` over Chroma and a file store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from langchain_chroma import Chroma
from langchain_classic.retrievers import ParentDocumentRetriever
from langchain_classic.storage import LocalFileStore, create_kv_docstore
from langchain_community.document_loaders import PyPDFLoader
from langchain_core.documents import Document
from langchain_huggingface import HuggingFaceEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter

from benchmarks.peers import base
from benchmarks.peers.base import Found, Peer

# Chroma takes no more than 5,461 rows in one call and add_documents does not
# cut (a report of 300 pages has more), so documents are added in groups.
AT_ONCE = 100


def embedding() -> HuggingFaceEmbeddings:
    """Return the embedding model with the defaults of its class."""
    return HuggingFaceEmbeddings(model_name=base.model_folder())


def read_pages(file: Path) -> list[Document]:
    """Read a PDF, a document a page."""
    pages = PyPDFLoader(str(file)).load()
    for page in pages:
        # Chroma takes no metadata of mixed kinds; only what is scored is kept.
        page.metadata = {"source": file.name, "page": page.metadata["page"] + 1}
    return pages


def text_documents(texts: Mapping[str, str]) -> list[Document]:
    """Make a document of each text; page 0 says that it has none."""
    return [Document(text, metadata={"source": key, "page": 0}) for key, text in texts.items()]


def found(document: Document) -> Found:
    """Reduce a hit to what is scored."""
    page = int(document.metadata["page"])
    return Found(document.metadata["source"], (page,) if page else (), document.page_content)


class Parent(Peer):
    """Children of 400 characters are searched, parents of 2,000 are returned."""

    def open(self) -> None:
        """See the base class."""
        self.retriever = ParentDocumentRetriever(
            vectorstore=Chroma(
                collection_name="split_parents",
                embedding_function=embedding(),
                persist_directory=str(self.folder / "chroma"),
            ),
            docstore=create_kv_docstore(LocalFileStore(str(self.folder / "parents"))),
            child_splitter=RecursiveCharacterTextSplitter(chunk_size=400),
            parent_splitter=RecursiveCharacterTextSplitter(chunk_size=2000),
        )

    def ingest_files(self, files: Sequence[Path]) -> None:
        """See the base class."""
        self._add(page for file in files for page in read_pages(file))

    def ingest_texts(self, texts: Mapping[str, str]) -> None:
        """See the base class."""
        self._add(text_documents(texts))

    def _add(self, documents: Iterable[Document]) -> None:
        self.open()
        rest = iter(documents)
        while group := list(islice(rest, AT_ONCE)):
            self.retriever.add_documents(group, ids=None)

    def retrieve(self, question: str, k: int) -> list[Found]:
        """See the base class; k children may lead to fewer parents."""
        self.retriever.search_kwargs = {"k": k}
        return [found(document) for document in self.retriever.invoke(question)]
