"""A real store filled from plain texts, with the hash embedding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llama_index.core.schema import Document

from pipelines.child_parent import ChildParentParser
from pipelines.documents import adopt
from pipelines.nodes import header_of
from pipelines.sentence_table import SentenceTable
from pipelines.sentence_window import SentenceWindowParser
from pipelines.structure import structure_of
from pipelines.text import search_terms
from rag_app.retrieval.language import knows
from rag_app.store.protocol import IndexConfig, Prepared, Store
from rag_app.store.sqlite.store import create_store
from tests.support.embedding import DIMENSION, HashEmbedding, hash_vector

VECTOR_KINDS = ("parent", "child-128", "child-256", "child-512", "sentence")
Texts = Mapping[str, str | Sequence[str]]
PARENT = 64
CHILDREN = {16: "child-128", 32: "child-256", 48: "child-512"}


def paged(name: str, text: str | Sequence[str], metadata: Mapping[str, Any]) -> Document:
    """A text is one document without pages; a list of texts is one page each."""
    if isinstance(text, str):
        return adopt(Document(id_=name, text=text, metadata={"file_name": name, **metadata}))
    pages, start = [], 0
    for number, page in enumerate(text, 1):
        end = start + len(page)
        pages.append(
            {"number": number, "label": str(number), "start": start, "end": end, "raw": page}
        )
        start = end + 1
    joined = "\n".join(text)
    metadata = {"file_name": name, "file_path": name, "page_map": pages, **metadata}
    return adopt(Document(id_=name, text=joined, metadata=metadata))


def prepare(document: Document, config: IndexConfig) -> Prepared:
    """What ingest does, in small: tiny parents and children under the usual names."""
    made = ChildParentParser(parent_size=PARENT, child_sizes=tuple(CHILDREN))([document])
    made += SentenceWindowParser(window=1, window_text=False)([document])
    for node in made:
        size = node.metadata["kind"].removeprefix("child-")
        node.metadata["kind"] = CHILDREN.get(int(size), "") if size.isdigit() else size
    vectors = {}
    for kind in config.vector_kinds:
        nodes = [n for n in made if n.metadata["kind"] == kind and knows(config.scripts, n.text)]
        matrix = np.array([hash_vector(n.text) for n in nodes], np.float32).reshape(-1, DIMENSION)
        vectors[kind] = ([n.node_id for n in nodes], matrix)
    terms = {
        n.node_id: Counter(search_terms(f"{header_of(n)}\n{n.text}"))
        for n in made
        if n.metadata["kind"] == "parent"
    }
    name = document.metadata["file_path"] or document.id_
    table = SentenceTable.of(document.text, structure_of(document.text).whole)
    return Prepared((name,), document, made, vectors, terms, sentences=table)


def make_store(path: Path, texts: Texts, metadata: Mapping[str, Any], **config: Any) -> Store:
    """Return a store at a path that holds the texts by name."""
    values = {"kinds": ("parent", *VECTOR_KINDS[1:]), "vector_kinds": VECTOR_KINDS, **config}
    settings = IndexConfig("hash", "", DIMENSION, **values)
    store = create_store(path, settings)
    with store.writer() as writer:
        for name, text in texts.items():
            writer.put(prepare(paged(name, text, metadata), settings))
    return store


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Callable[..., Store]]:
    """Return a function that makes an index of texts by name."""
    made: list[Store] = []

    def make(texts: Texts, *, metadata: Mapping[str, Any] | None = None, **config: Any) -> Store:
        made.append(make_store(tmp_path / f"index-{len(made)}", texts, metadata or {}, **config))
        return made[-1]

    yield make
    for store in made:
        store.close()


TOPICS = ["turbine", "pump", "valve", "filter", "gauge", "boiler", "pipe", "motor", "fan", "tank"]
MANUAL = [
    f"The {topic} is tested at {n}00 bar. The {topic} has number {n}."
    for n, topic in enumerate(TOPICS)
]


@pytest.fixture(scope="package")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One file of ten pages about ten parts; to be read only."""
    pages = [page + " It is steel. " * 25 for page in MANUAL]
    store = make_store(tmp_path_factory.mktemp("manual") / "index", {"manual.pdf": pages}, {})
    yield store
    store.close()


@pytest.fixture
def model() -> HashEmbedding:
    return HashEmbedding()
