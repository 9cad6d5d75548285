"""The source of an answer: one index or several, made and removed again, and its filters."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from llama_index.core.schema import Document

from pipelines.errors import FilterError, IndexEmptyError, IndexNotFoundError
from rag_app.cli.sources import chosen, indexes, open_or_create
from rag_app.index import Index
from rag_app.joined import JoinedIndex
from rag_app.settings import Settings


@pytest.fixture
def current():
    return SimpleNamespace(settings=Settings(strategy="bm25"))


@pytest.fixture
def filled(model, place, current):
    for name in ("a", "b"):
        with open_or_create(place / name, ["bm25"], current) as index:
            index.ingest(Document(text="The valve leaks.", metadata={"file_name": f"{name}.pdf"}))
    return [place / "a", place / "b"]


def test_one_index_is_opened_alone_and_several_as_one(filled, current):
    with indexes(filled[:1], current) as source:
        assert isinstance(source.index, Index)
    with indexes([*filled, filled[0]], current) as source:
        assert isinstance(source.index, JoinedIndex)
        assert [part.name for part in source.parts] == ["a", "b"]


def test_without_a_name_the_folder_of_the_place_is_opened(current, place):
    with pytest.raises(IndexNotFoundError, match=r"\.rag"), indexes([], current):
        pass


def test_an_index_that_stays_empty_is_removed_with_its_folders(model, place, current):
    with open_or_create(place / "x" / "y", ["bm25"], current):
        assert (place / "x" / "y").exists()
    assert not (place / "x").exists()


def test_an_empty_index_that_was_there_stays_and_cannot_be_asked(model, place, current):
    Index.create(place / "x", settings=current.settings, pipelines=["bm25"]).close()
    with open_or_create(place / "x", ["bm25"], current):
        pass
    with pytest.raises(IndexEmptyError), indexes([place / "x"], current):
        pass


def test_filters_that_keep_a_passage_are_returned(filled, current):
    with indexes(filled, current) as source, source.index.session() as session:
        assert chosen(session, None, None, None) is None
        assert chosen(session, ["b.pdf"], None, None) is not None
        with pytest.raises(FilterError, match=r"called 'c\.pdf'"):
            chosen(session, ["c.pdf"], None, None)
        with pytest.raises(FilterError, match="no passage fits") as caught:
            chosen(session, ["b.pdf"], None, ["file_name=a.pdf"])
        assert "rag info" in caught.value.hint
