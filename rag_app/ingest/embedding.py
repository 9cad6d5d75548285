"""Texts → unit vectors: identical texts once, batches of similar length, clear errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import BaseNode, MetadataMode

from pipelines.errors import EmbeddingError, RagError
from pipelines.searched import searched_as
from rag_app.models.embedding.load import EmbeddingIdentity, count_tokens
from rag_app.store.array_types import Vector

Chosen = dict[str, list[tuple[str, str]]]  # by kind: (node id, text) of what is embedded
# Between two reports of progress: LlamaIndex's lists of numbers take 12 KB a text.
_MAX_BATCH_TEXTS = 256


@dataclass
class EmbeddingCount:
    """Counts of an embedding run."""

    embedded: int = 0
    too_long: Counter[str] = field(default_factory=Counter)
    not_embedded: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Embedder:
    """An embedding model, its identity and the counts of its run."""

    model: BaseEmbedding
    identity: EmbeddingIdentity
    tally: EmbeddingCount = field(default_factory=EmbeddingCount)

    def choose(self, nodes: Sequence[BaseNode], kinds: Sequence[str]) -> Chosen:
        """Return (node id, text) of the nodes to embed, by kind.

        Nodes whose script the model does not know are left out and counted.
        """
        chosen: Chosen = {kind: [] for kind in kinds}
        for node in nodes:
            kind = searched_as(node)
            if kind not in chosen:
                continue
            script = str(node.metadata.get("script", "none"))
            if self.identity.knows(script):
                text = node.get_content(metadata_mode=MetadataMode.EMBED)
                chosen[kind].append((node.node_id, text))
            else:
                self.tally.not_embedded[script] += 1
        return chosen

    def batches(self, texts: Iterable[str]) -> list[list[str]]:
        """Return the distinct texts in batches of similar length, each quickly embedded."""
        unique = sorted(set(texts), key=lambda text: (len(text), text))
        batch_size = max(1, self.model.embed_batch_size)
        size = batch_size * max(1, _MAX_BATCH_TEXTS // batch_size)
        return [unique[start : start + size] for start in range(0, len(unique), size)]

    def embed_batch(self, batch: Sequence[str]) -> dict[str, Vector]:
        """Return the unit vector of each text of a batch.

        Raises:
            EmbeddingError: the model failed, or did not return a vector of the index's
                length.
        """
        found = dict(zip(batch, self._batch(list(batch)), strict=True))
        self.tally.embedded += len(batch)
        return found

    def vectors(
        self, nodes: Sequence[BaseNode], kinds: Sequence[str]
    ) -> dict[str, tuple[list[str], Vector]]:
        """Return node ids and unit vectors, shape (nodes, dimension), by kind."""
        chosen = self.choose(nodes, kinds)
        self.count_too_long(chosen)
        found: dict[str, Vector] = {}
        for batch in self.batches(texts_of(chosen)):
            found |= self.embed_batch(batch)
        return self.placed(chosen, found)

    def placed(
        self, chosen: Chosen, found: Mapping[str, Vector]
    ) -> dict[str, tuple[list[str], Vector]]:
        """Return node ids and vectors by kind, given the vector of each text."""
        return {
            kind: (
                [node_id for node_id, _ in entries],
                np.array([found[text] for _, text in entries], np.float32).reshape(
                    -1, self.identity.dimension
                ),
            )
            for kind, entries in chosen.items()
        }

    def count_too_long(self, chosen: Chosen) -> None:
        """Count, by kind, the texts that are too long for the model."""
        limit = self.identity.max_tokens
        if limit is None:
            return
        for kind, entries in chosen.items():
            # No token is shorter than a byte: most texts are so short that they need no count.
            texts = [text for _, text in entries if len(text.encode()) > limit]
            counts = count_tokens(self.model, texts) if texts else None
            long = sum(count > limit for count in counts or ())
            if long:
                self.tally.too_long[kind] += long

    def _batch(self, texts: list[str]) -> Vector:
        try:
            raw = self.model.get_text_embedding_batch(texts)
        except RagError:
            raise
        except Exception as error:  # a user's model may raise anything
            raise EmbeddingError(
                f"the embedding model {self.identity.name} failed: {_first_line(error)}",
                hint="run it again: what was finished is kept",
            ) from error
        return unit_vectors(raw, len(texts), self.identity)


def texts_of(chosen: Chosen) -> list[str]:
    """Return the texts of all chosen nodes."""
    return [text for entries in chosen.values() for _, text in entries]


def unit_vectors(raw: object, count: int, identity: EmbeddingIdentity) -> Vector:
    """Return the vectors with length 1, shape (count, dimension).

    Raises:
        EmbeddingError: another shape, or a vector that has no direction.
    """
    matrix = _matrix(raw, identity)
    if matrix.shape != (count, identity.dimension):
        raise EmbeddingError(
            f"the embedding model {identity.name} gave vectors of shape {matrix.shape}, "
            f"not {(count, identity.dimension)}",
            hint="open the index with the model it was made with",
        )
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
        raise EmbeddingError(
            f"the embedding model {identity.name} gave a vector of zeros or NaN",
            hint="its weights may be damaged, or its number format too small",
        )
    unit: Vector = (matrix / lengths).astype(np.float32)
    return unit


def _matrix(raw: object, identity: EmbeddingIdentity) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(raw, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise EmbeddingError(
            f"the embedding model {identity.name} gave what are no rows of {identity.dimension} "
            f"numbers: {error}",
            hint="a model of your own must return one list of numbers, all of one length, a text",
        ) from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
