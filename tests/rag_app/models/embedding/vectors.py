"""Texts to embed, and their vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding

from rag_app.models.embedding.recipe import UnsupportedModelError

TEXTS = ["hello world", "sales grew 12.5% to $300", "x", "long " * 20, ""]
HEAVY = {"torch", "transformers", "sentence_transformers", "sklearn", "scipy"}


def embed(model: BaseEmbedding, texts: list[str]) -> npt.NDArray[np.float32]:
    return np.array(model.get_text_embedding_batch(list(texts)), dtype=np.float32)


def unsupported(*_: object, **__: object) -> None:
    """Take the place of a function that fails for this model."""
    raise UnsupportedModelError("it is too new")
