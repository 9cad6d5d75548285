"""The identity of an embedding model."""

from __future__ import annotations

from rag_app.models.embedding.load import describe_embedding
from tests.support.embedding import HashEmbedding


def test_same_model_compares_weights_before_names() -> None:
    one = describe_embedding(HashEmbedding())
    assert one.same_model(one)
    other = describe_embedding(HashEmbedding(model_name="other"))
    assert not one.same_model(other)
