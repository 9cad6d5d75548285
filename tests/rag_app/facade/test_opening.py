"""Making, opening and merging indexes: what must agree, and when a model is loaded."""

from __future__ import annotations

import pytest
from llama_index.core.schema import Document

from pipelines.errors import IndexMismatchError, IndexNotFoundError, ModelNotFoundError
from rag_app.facade import opening
from rag_app.facade.opening import create_index, merge_stores, open_index
from rag_app.index import Index
from rag_app.settings import Settings
from rag_app.store import open_store
from tests.support.embedding import HashEmbedding


@pytest.fixture
def path(tmp_path):
    create_index(tmp_path / "i", Settings(), ("hybrid",), HashEmbedding()).store.close()
    return tmp_path / "i"


def test_a_new_index_records_kinds_and_model(path):
    config = open_store(path).config
    assert (config.embed_model, config.dimension) == ("hash", 64)
    assert "parent" in config.word_kinds
    assert config.vector_kinds


def test_an_index_of_words_loads_no_model(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "load_embedding", None)
    opened = create_index(tmp_path / "w", Settings(), ("bm25",), None)
    assert (opened.embed_model, opened.store.config.embed_model) == (None, "")


def test_a_model_is_loaded_once_when_it_is_first_needed(path, monkeypatch):
    loaded = []

    def load(*_):
        loaded.append(1)
        return HashEmbedding()

    monkeypatch.setattr(opening, "load_embedding", load)
    opened = open_index(path, Settings(), None, None)
    assert loaded == []
    assert opened.embed_model is opened.embed_model
    assert loaded == [1]


def test_another_model_is_refused_when_it_is_given_and_when_it_is_loaded(path, monkeypatch):
    other = HashEmbedding(model_name="other")
    with pytest.raises(IndexMismatchError, match="other"):
        open_index(path, Settings(), other, None)
    monkeypatch.setattr(opening, "load_embedding", lambda *_: other)
    with pytest.raises(IndexMismatchError, match="other"):
        _ = open_index(path, Settings(), None, None).embed_model


def test_an_unknown_model_of_an_index_says_how_to_pass_it(path):
    with pytest.raises(ModelNotFoundError, match="'hash'") as caught:
        _ = open_index(path, Settings(), None, None).embed_model
    assert "Index.open(" in caught.value.hint


def test_where_no_index_is_nothing_is_opened(tmp_path):
    with pytest.raises(IndexNotFoundError):
        open_index(tmp_path / "x", Settings(), None, None)


def test_merged_contents_name_their_index_by_folder_or_by_path(tmp_path):
    for place in ("a/same", "b/same", "c"):
        with Index.create(tmp_path / place, embed_model=HashEmbedding()) as index:
            index.ingest(Document(text=f"Text of {place}.", id_=place))
    same = [tmp_path / "a" / "same", tmp_path / "b" / "same"]
    merge_stores([*same, same[0]], tmp_path / "both", None)
    merge_stores([same[0], open_store(tmp_path / "c")], tmp_path / "apart", None)
    for name, origins in (("both", set(map(str, same))), ("apart", {"same", "c"})):
        with open_store(tmp_path / name).snapshot() as snapshot:
            assert {source.origin for source in snapshot.sources()} == origins
