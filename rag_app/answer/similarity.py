"""How near sentences are to a question in meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import EmbeddingError, RagError
from rag_app.models.embedding.known import find_by_name

# What cosine unrelated texts have differs by model: near 0 for some, .8 for others.
# The thresholds of a refusal were chosen with one at this floor.
REFERENCE_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
REFERENCE_FLOOR = 0.06

_UNRELATED = (
    ("Who painted the ceiling of the chapel?", "The yeast rises for an hour in a warm place."),
    ("How much does the spare filter cost?", "Heavy snow closed both mountain roads in May."),
    ("When do the whales return to the bay?", "The goalkeeper signed for three more seasons."),
    ("Which court heard the appeal?", "Interest on the loan is paid every quarter."),
)


Vectors = npt.NDArray[np.float32]


class SentenceSimilarity:
    """Cosines by the embedding model that the index was made with.

    Args:
        model: any LlamaIndex embedding model.
    """

    def __init__(self, model: BaseEmbedding) -> None:
        self._model = model
        self._floor: float | None = None

    @property
    def floor(self) -> float:
        """Mean cosine of questions with texts that have nothing to do with them."""
        if self._floor is None:
            known = find_by_name(self._model.model_name)
            if known is not None and known.hub == REFERENCE_MODEL:
                self._floor = REFERENCE_FLOOR
            else:
                self._floor = self._mean_cosine(*zip(*_UNRELATED, strict=True))
        return self._floor

    def on_reference_scale(self, cosine: float) -> float:
        """Return what the cosine would be with the reference model's floor; 1 stays 1."""
        return 1 - (1 - cosine) * (1 - REFERENCE_FLOOR) / max(1 - self.floor, 1e-6)

    def on_reference(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Return the cosine of each sentence with the question, on the reference scale.

        Raises:
            EmbeddingError: the model failed.
        """
        return [self.on_reference_scale(cosine) for cosine in self(question, sentences)]

    def __call__(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Return the cosine of each sentence with the question.

        Raises:
            EmbeddingError: the model failed.
        """
        if not sentences:
            return []
        return [float(cosine) for cosine in self._cosines([question], sentences)[0]]

    def _mean_cosine(self, questions: Sequence[str], texts: Sequence[str]) -> float:
        return float(self._cosines(questions, texts).mean())

    def _cosines(self, questions: Sequence[str], texts: Sequence[str]) -> Vectors:
        """Return cosines, shape (questions, texts)."""
        try:
            queries = [self._model.get_query_embedding(question) for question in questions]
            found = self._model.get_text_embedding_batch(list(texts))
        except RagError:
            raise
        except Exception as error:
            raise EmbeddingError(f"the embedding model failed on sentences: {error}") from error
        return _unit(queries) @ _unit(found).T


def _unit(vectors: Sequence[Sequence[float]]) -> Vectors:
    matrix = np.asarray(vectors, dtype=np.float32)
    lengths = np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    unit: Vectors = np.divide(matrix, lengths, dtype=np.float32)
    return unit
