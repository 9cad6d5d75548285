from __future__ import annotations

import pytest

from pipelines.errors import EmbeddingError
from rag_app.answer.similarity import REFERENCE_MODEL, SentenceSimilarity
from tests.support.embedding import HashEmbedding


def test_cosines_of_the_question_with_each_sentence():
    same, other = SentenceSimilarity(HashEmbedding())("blue pump", ["pump blue", "red cat"])
    assert same == pytest.approx(1.0)
    assert other < 0.7


def test_no_sentence_needs_no_model():
    assert SentenceSimilarity(HashEmbedding(fail_after=0))("x", []) == []


def test_a_failing_model_is_our_error():
    with pytest.raises(EmbeddingError, match="on purpose"):
        SentenceSimilarity(HashEmbedding(fail_after=0))("x", ["y"])


class Crowded(HashEmbedding):
    """A model whose unrelated texts are near each other, as those of some are."""

    def _get_query_embedding(self, query):
        return [8.0, *super()._get_query_embedding(query)]

    def _get_text_embedding(self, text):
        return [8.0, *super()._get_text_embedding(text)]


def test_a_models_floor_is_taken_out_of_its_cosines():
    similarity = SentenceSimilarity(Crowded())
    (unrelated,) = similarity("blue pump", ["red cat"])
    assert unrelated > 0.9
    assert similarity.on_reference_scale(unrelated) < 0.4
    assert similarity.on_reference_scale(1.0) == 1.0


def test_the_reference_model_is_not_measured_again():
    similarity = SentenceSimilarity(HashEmbedding(model_name=REFERENCE_MODEL, fail_after=0))
    assert similarity.on_reference_scale(0.5) == pytest.approx(0.5)
