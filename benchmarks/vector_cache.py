"""This project's own embedding model with its vectors kept between runs.

For the quality benchmark only, so that a change of retrieval need not embed
again. Vectors are kept by the model's fingerprint, its number format and the
text's hash.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from benchmarks.peers.cache import VectorCache
from rag_app.models.embedding.identity import EmbeddingIdentity
from rag_app.models.embedding.load import describe_embedding


def cache_name(identity: EmbeddingIdentity) -> str:
    """Return the name of the file that keeps a model's vectors."""
    return f"{identity.fingerprint[:16] or 'unknown'}-{identity.precision}.sqlite"


class KeptEmbedding(BaseEmbedding):
    """Looks up a text's vector, and asks the model within for those not yet known."""

    _inner: BaseEmbedding = PrivateAttr()
    _cache: VectorCache = PrivateAttr()
    _identity: EmbeddingIdentity = PrivateAttr()
    _asked: dict[str, list[float]] = PrivateAttr(default_factory=dict)

    def __init__(self, inner: BaseEmbedding, folder: Path) -> None:
        identity = describe_embedding(inner)
        super().__init__(model_name=identity.name, embed_batch_size=1024)
        self._inner, self._identity = inner, identity
        self._cache = VectorCache(folder / cache_name(identity))

    @property
    def identity(self) -> EmbeddingIdentity:
        """Return the identity of the model within."""
        return self._identity

    def count_tokens(self, texts: list[str]) -> list[int]:
        """Return what the model within says of the length of texts."""
        counted: list[int] = self._inner.count_tokens(texts)  # type: ignore[attr-defined]
        return counted

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors = self._cache.fill(texts, self._encode)
        return [[float(x) for x in vector] for vector in vectors]

    def _encode(self, texts: list[str]) -> list[list[float]]:
        return self._inner.get_text_embedding_batch(texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        if query not in self._asked:  # several strategies ask the same
            self._asked[query] = self._inner.get_query_embedding(query)
        return self._asked[query]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def __reduce__(self) -> Any:
        raise TypeError("a cache of vectors stays in its process")
