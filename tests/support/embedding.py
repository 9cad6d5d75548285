"""A deterministic embedding model for tests: a hash of words, never a constant."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

DIMENSION = 64
_WORD = re.compile(r"\w+")


def hash_vector(text: str, dimension: int = DIMENSION) -> list[float]:
    """Return a unit vector of shape (dimension,): each word adds one fixed direction."""
    vector = np.zeros(dimension, dtype=np.float64)
    for word in _WORD.findall(text.lower()) or [""]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        vector += np.random.default_rng(seed).standard_normal(dimension)
    return [float(x) for x in vector / (np.linalg.norm(vector) or 1.0)]


class HashEmbedding(BaseEmbedding):
    """Texts that share words are near. Counts its calls; can be told to fail.

    ``fail_after``: the number of texts after which every call raises.
    """

    model_name: str = "hash"
    scripts: tuple[str, ...] = ("*",)
    fail_after: int | None = None
    _texts: int = PrivateAttr(default=0)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    @property
    def embedded(self) -> int:
        """How many passages were embedded so far."""
        return self._texts

    def _get_query_embedding(self, query: str) -> list[float]:
        return hash_vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return hash_vector(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        self._texts += 1
        if self.fail_after is not None and self._texts > self.fail_after:
            raise RuntimeError("the embedder fails on purpose")
        return hash_vector(text)
