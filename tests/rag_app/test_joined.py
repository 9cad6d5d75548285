"""Several indexes queried as one: origins, fused rankings, and errors that name the caller."""

from __future__ import annotations

import pytest
from llama_index.core.schema import Document

from pipelines.errors import ConfigError
from rag_app.index import Index
from rag_app.joined import JoinedIndex
from rag_app.settings import Settings
from tests.support.embedding import HashEmbedding

TEXTS = {"a": "The red valve leaks.", "b": "The blue valve is tight."}


@pytest.fixture
def joined(tmp_path):
    made = []
    for name, text in TEXTS.items():
        index = Index.create(tmp_path / name, embed_model=HashEmbedding(), settings=Settings())
        index.ingest(Document(text=text, id_=name))
        made.append(index)
    with JoinedIndex(made) as several:
        yield several


def test_hits_of_all_indexes_are_ranked_together_with_their_origin(joined):
    found = joined.as_retriever("bm25", similarity_top_k=5).retrieve("red valve")
    assert [(hit.metadata["origin"], hit.text) for hit in found] == list(TEXTS.items())


def test_an_answer_cites_the_index_it_comes_from(joined):
    answer = joined.as_query_engine(strategy="bm25").query("Which valve is tight?")
    assert {citation.origin for citation in answer.citations} <= {"a", "b"}
    assert "The blue valve is tight." in str(answer)


def test_a_session_has_a_snapshot_of_each_index(joined):
    with joined.session() as session:
        assert session.snapshots.keys() == {"a", "b"}


def test_indexes_of_one_name_are_told_apart_by_their_paths(tmp_path):
    indexes = [
        Index.create(tmp_path / place / "same", embed_model=HashEmbedding(), settings=Settings())
        for place in "xy"
    ]
    with JoinedIndex(indexes) as several, several.session() as session:
        assert session.snapshots.keys() == {str(index.path) for index in indexes}


def test_wrong_arguments_are_named_with_the_function_called(joined):
    with pytest.raises(ConfigError, match="no index to ask"):
        JoinedIndex([])
    with pytest.raises(ConfigError, match="JoinedIndex"):
        JoinedIndex(["a"])
    with pytest.raises(TypeError, match=r"JoinedIndex\.as_retriever\(\).*origin"):
        joined.as_retriever(origin="x")
    with pytest.raises(ConfigError, match=r"JoinedIndex\.explain"):
        joined.explain(7)
