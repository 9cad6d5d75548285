"""An index that ``hybrid`` reads, a fake embedding model, and a folder of PDFs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from rag_app.kinds import kinds_of
from rag_app.store.config import with_kinds
from rag_app.store.protocol import IndexConfig, Store
from rag_app.store.sqlite.store import create_store
from tests.support.embedding import DIMENSION, HashEmbedding
from tests.support.pdfs import make_pdf

NewIndex = Callable[..., Store]


@pytest.fixture
def new_index(tmp_path: Path) -> Iterator[NewIndex]:
    made: list[Store] = []

    def new(
        name: str = "index",
        pipelines: Sequence[str] = ("hybrid",),
        scripts: tuple[str, ...] = ("*",),
    ) -> Store:
        vectors, words = kinds_of(pipelines)
        config = IndexConfig(
            embed_model="hash" if vectors else "",
            embed_fingerprint="",
            dimension=DIMENSION if vectors else 0,
            scripts=scripts,
            child_sizes=(),
            kinds=(),
            vector_kinds=(),
            word_kinds=(),
        )
        made.append(create_store(tmp_path / name, with_kinds(config, vectors=vectors, words=words)))
        return made[-1]

    yield new
    for store in made:
        store.close()


@pytest.fixture
def store(new_index: NewIndex) -> Store:
    return new_index()


@pytest.fixture
def model() -> HashEmbedding:
    return HashEmbedding()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three PDFs: a.pdf (two pages), b.pdf, sub/c.PDF."""
    place = tmp_path / "documents"
    (place / "sub").mkdir(parents=True)
    make_pdf(place / "a.pdf", ["Cats sit on mats.", "Cats have nine lives."])
    make_pdf(place / "b.pdf", ["Dogs run in the park."])
    make_pdf(place / "sub" / "c.PDF", ["Birds fly south in winter."])
    return place
