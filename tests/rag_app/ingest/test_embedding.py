"""Texts as unit vectors: each distinct text once, and faults of a model named."""

from __future__ import annotations

import numpy as np
import pytest
from llama_index.core.schema import TextNode

from pipelines.errors import EmbeddingError
from rag_app.ingest.embedding import Embedder, texts_of, unit_vectors
from rag_app.models.embedding.identity import EmbeddingIdentity
from tests.support.embedding import DIMENSION, HashEmbedding

IDENTITY = EmbeddingIdentity("hash", "", DIMENSION, scripts=("latin",), max_tokens=3)


def node(text, kind="parent", script="latin"):
    return TextNode(id_=text, text=text, metadata={"kind": kind, "script": script})


@pytest.fixture
def embedder():
    return Embedder(HashEmbedding(embed_batch_size=2), IDENTITY)


def bare(nodes):
    for one in nodes:
        one.excluded_embed_metadata_keys = list(one.metadata)
    return nodes


def test_nodes_in_a_script_that_the_model_does_not_know_are_counted(embedder):
    chosen = embedder.choose(bare([node("cats"), node("猫", script="han")]), ["parent"])
    assert chosen == {"parent": [("cats", "cats")]}
    assert embedder.tally.not_embedded == {"han": 1}


def test_each_distinct_text_is_embedded_once_and_placed_at_all_its_nodes(embedder):
    nodes = bare([node("cats"), node("dogs"), node("cats", "child-128")])
    nodes[2].id_ = "child"
    found = embedder.vectors(nodes, ["parent", "child-128"])
    assert (embedder.tally.embedded, embedder.model.embedded) == (2, 2)
    assert found["parent"][0] == ["cats", "dogs"]
    assert np.array_equal(found["child-128"][1][0], found["parent"][1][0])
    assert np.linalg.norm(found["parent"][1], axis=1) == pytest.approx([1, 1], abs=1e-6)


def test_batches_hold_texts_of_similar_length(embedder, monkeypatch):
    monkeypatch.setattr("rag_app.ingest.embedding._MAX_BATCH_TEXTS", 2)
    assert embedder.batches(["ccc", "a", "bb", "a"]) == [["a", "bb"], ["ccc"]]


def test_texts_that_are_too_long_are_counted_by_kind():
    class Counting(HashEmbedding):
        def count_tokens(self, texts):
            return [len(text.split()) for text in texts]

    embedder = Embedder(Counting(), IDENTITY)
    embedder.count_too_long({"parent": [("1", "a b c d"), ("2", "a b c")], "child": [("3", "a")]})
    assert embedder.tally.too_long == {"parent": 1}


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ([[1.0] * 3], "shape"),
        ([[0.0] * DIMENSION], "zeros or NaN"),
        ([[float("nan")] * DIMENSION], "zeros or NaN"),
        ([[1.0], [1.0, 2.0]], "no rows"),
        ("text", "no rows"),
    ],
)
def test_a_wrong_result_of_a_model_is_named(raw, says):
    with pytest.raises(EmbeddingError, match=f"hash gave .*{says}"):
        unit_vectors(raw, 1, IDENTITY)


def test_any_exception_of_a_model_is_an_error_of_ours():
    embedder = Embedder(HashEmbedding(fail_after=0), IDENTITY)
    with pytest.raises(EmbeddingError, match="hash failed: the embedder fails on purpose"):
        embedder.embed_batch(["cats"])


def test_texts_are_those_of_all_kinds():
    assert texts_of({"a": [("1", "x")], "b": [("2", "y"), ("3", "x")]}) == ["x", "y", "x"]
