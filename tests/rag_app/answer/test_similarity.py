from __future__ import annotations

import pytest

from pipelines.errors import EmbeddingError
from rag_app.answer.similarity import SentenceSimilarity
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
