"""The configuration of an ingest: recorded kinds, a known reader, and the model of the index."""

from __future__ import annotations

import pytest
from llama_index.core.schema import IndexNode, TextNode

from pipelines.errors import ConfigError
from rag_app.ingest.configuring import configure, embedder_of, known_reader
from rag_app.ingest.inputs import expand
from rag_app.kinds import Kinds


def configured(store, given=(), vectors=(), words=(), reader=None):
    with store.writer() as writer:
        return configure(store, writer, expand(given), Kinds(vectors, words), reader)


def test_further_kinds_and_the_reader_are_recorded(store):
    config = configured(store, vectors=("sentence",), words=("sentence",), reader="pypdf")
    assert config.reader == "pypdf"
    assert "sentence" in config.vector_kinds
    assert "sentence" in config.word_kinds
    with store.snapshot() as snapshot:
        assert snapshot.config == config


def test_pieces_that_are_given_are_searched(store):
    passage = TextNode(text="The valve leaks.", id_="p")
    piece = IndexNode(text="Which valve leaks?", index_id="p")
    config = configured(store, [passage, piece])
    assert "piece" in config.vector_kinds
    assert "piece" in config.word_kinds


def test_an_index_without_a_model_gets_no_vectors(new_index):
    store = new_index(pipelines=("bm25",))
    with pytest.raises(ConfigError, match="without an embedding model"):
        configured(store, vectors=("sentence",))
    assert embedder_of(store.config, None) is None


def test_vectors_need_the_model(store, model):
    with pytest.raises(ConfigError, match="no embedding model was given"):
        embedder_of(store.config, None)
    assert embedder_of(store.config, model).identity.dimension == store.config.dimension


def test_an_unknown_reader_is_refused_with_the_known_ones():
    assert known_reader("pypdf") == "pypdf"
    with pytest.raises(ConfigError, match="no PDF reader 'acrobat'") as caught:
        known_reader("acrobat")
    assert "pypdf" in caught.value.hint
