"""Texts → vectors without torch: tokenise, batch by length, compute, restore the order."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.errors import EmbeddingError
from rag_app.models.embedding.bert import build_encoder, is_buildable, pool
from rag_app.models.embedding.folder import ModelFolder
from rag_app.models.embedding.recipe import Recipe
from rag_app.models.embedding.runtime import (
    Batch,
    Precision,
    Runner,
    Vectors,
    core,
    import_openvino,
)
from rag_app.models.embedding.tokenizer import TextTokenizer
from rag_app.models.embedding.weights import Weights, map_safetensors

# Measured on MiniLM: larger batches exceed the cache of a core and hold more memory,
# smaller ones cost more overhead; few distinct lengths let the runtime reuse its kernels.
TOKENS_PER_BATCH = 256
LENGTH_STEP = 16
# Padding tokens of a batch; the overhead of another batch costs about as much.
PADDING_PER_BATCH = 32


@dataclass(frozen=True)
class EngineConfig:
    """All that an engine is made from; small, so that another process can rebuild it.

    Attributes:
        folder: the model's files.
        recipe: how its vectors are made.
        precision: number format of the computation.
        threads: cores to use; None: all that the process may.
        graph: a converted graph of the transformer (``.xml``); None: built from the weights.
    """

    folder: ModelFolder
    recipe: Recipe
    precision: Precision
    threads: int | None = None
    graph: Path | None = None


class Engine:
    """Computes vectors; compiled on first use, safe to use from several threads."""

    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        self._lock = threading.Lock()
        self._runner: Runner | None = None
        self._weights: Weights | None = None
        body = config.folder.path / config.folder.body
        self.tokenizer = TextTokenizer(
            body, max_tokens=config.recipe.max_tokens, lower_case=config.recipe.lower_case
        )

    def __reduce__(self) -> tuple[type[Engine], tuple[EngineConfig]]:
        return type(self), (self.config,)

    def ready(self) -> Runner:
        """Compile the model if that has not been done, and return what runs it."""
        with self._lock:
            if self._runner is None:
                self._runner = self._compile()
            return self._runner

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (texts, dimension); equal texts are computed once.

        Raises:
            EmbeddingError: the runtime failed, or returned NaN or infinite values.
        """
        rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        distinct = np.empty((len(rows), self.config.recipe.dimension), dtype=np.float32)
        batches = list(make_batches(self.tokenizer.encode(list(rows))))
        if batches:
            try:
                for places, vectors in self.ready().run(batches):
                    distinct[places] = vectors
            except RuntimeError as error:
                raise EmbeddingError(f"the embedding runtime failed: {error}") from error
        if self._weights is not None and len(batches) > 1:
            self._weights.put_back()  # rows of the vocabulary
        if not np.isfinite(distinct).all():
            raise EmbeddingError(
                "the embedding runtime returned NaN or infinite values",
                hint='set embed_precision = "float32", or embed_runtime = "torch"',
            )
        return distinct[[rows[text] for text in texts]]

    def _compile(self) -> Runner:
        config = self.config
        if config.graph is None:
            weights = map_safetensors(config.folder.weights[0])
            parameters = config.folder.json(f"{config.folder.body}config.json")
            model = build_encoder(parameters, weights, config.recipe.pooling)
            # `weights` must outlive the compilation: the graph refers to its arrays.
            runner = Runner(model, precision=config.precision, threads=config.threads)
            # With the first text the runtime copies them into its own format.
            for _ in runner.run(list(make_batches([[0]]))):
                weights.put_back()
            self._weights = weights
            return runner
        ov = import_openvino()
        transformer = core().read_model(config.graph)
        ids, mask = transformer.inputs
        hidden = transformer.outputs[0].get_node().input_value(0)
        pooled = pool(ov, hidden, mask.get_node(), config.recipe.pooling)
        model = ov.Model([pooled], [ids.get_node(), mask.get_node()], "encoder")
        return Runner(model, precision=config.precision, threads=config.threads)


def is_direct(folder: ModelFolder) -> bool:
    """Tell whether the graph can be built from the weights, without a conversion."""
    config = folder.json(f"{folder.body}config.json")
    single = len(folder.weights) == 1 and folder.weights[0].suffix == ".safetensors"
    return single and is_buildable(config)


def make_batches(ids: Sequence[Sequence[int]]) -> Iterator[Batch]:
    """Group texts of like length, the longest first.

    A batch has at most ``TOKENS_PER_BATCH`` tokens (a longer text is one by itself), of
    which shorter texts were filled up with at most ``PADDING_PER_BATCH``. It has 1, 2, 4,
    8 … texts: the runtime keeps half a megabyte for each shape that it sees. The longest
    come first so that the last batch, which one core computes while the others idle, is
    a short one.
    """
    lengths = np.array([len(text) for text in ids], dtype=np.intp)
    order = np.argsort(-lengths, kind="stable")
    widths = -(-np.maximum(lengths[order], 1) // LENGTH_STEP) * LENGTH_STEP
    start = 0
    while start < len(order):
        width = int(widths[start])
        padding = np.cumsum(width - widths[start : start + max(1, TOKENS_PER_BATCH // width)])
        most = int(np.searchsorted(padding, PADDING_PER_BATCH, side="right"))
        count = 1 << (most.bit_length() - 1)
        yield _pad(ids, order[start : start + count], width)
        start += count


def _pad(ids: Sequence[Sequence[int]], rows: npt.NDArray[np.intp], width: int) -> Batch:
    padded = np.zeros((len(rows), width), dtype=np.int32)
    mask = np.zeros((len(rows), width), dtype=np.int32)
    for place, row in enumerate(rows):
        text = ids[row]
        padded[place, : len(text)] = text
        mask[place, : max(1, len(text))] = 1  # a mean over no token would be NaN
    return Batch(rows, padded, mask)
