"""How near sentences are to a question in meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import EmbeddingError, RagError


class SentenceSimilarity:
    """Cosines by the embedding model that the index was made with.

    Args:
        model: any LlamaIndex embedding model.
    """

    def __init__(self, model: BaseEmbedding) -> None:
        self._model = model

    def __call__(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Return the cosine of each sentence with the question.

        Raises:
            EmbeddingError: the model failed.
        """
        if not sentences:
            return []
        try:
            query = self._model.get_query_embedding(question)
            texts = self._model.get_text_embedding_batch(list(sentences))
        except RagError:
            raise
        except Exception as error:
            raise EmbeddingError(f"the embedding model failed on sentences: {error}") from error
        vectors = np.asarray([query, *texts], dtype=np.float32)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return [float(cosine) for cosine in vectors[1:] @ vectors[0]]
