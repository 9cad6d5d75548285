"""Cross-encoders on this machine, by sentence-transformers: torch is imported only here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from pipelines.errors import ConfigError, ModelNotFoundError, RerankError
from pipelines.optional import TORCH, needed
from rag_app.models.embedding.folder import locate
from rag_app.settings import Settings

Scores = Callable[[str, Sequence[str]], list[float]]
_MAX_LOADED = 2


def load_cross_encoder(name: str, settings: Settings) -> Scores:
    """Return what scores passages by a cross-encoder; it is downloaded only if allowed.

    Args:
        name: a folder, written as a path (``./mine``), or a name on the Hugging Face hub.
        settings: whether the hub may be asked, and where fingerprints are remembered.

    Raises:
        ConfigError: it is not on this machine, does not load, or is no reranker.
        NotInstalledError: torch is not installed.
    """
    try:
        folder = locate(name, cache_dir=settings.cache_dir, download=settings.embed_download)
    except ModelNotFoundError as error:
        raise ConfigError(
            f"the reranker cross-encoder:{name} is not on this machine",
            hint=f"fetch it once with `hf download {name}`, or give its folder: "
            "cross-encoder:./folder",
        ) from error
    return _loaded(str(folder.path), folder.fingerprint, name)


@lru_cache(maxsize=_MAX_LOADED)
def _loaded(path: str, fingerprint: str, name: str) -> Scores:
    with needed(f"the reranker cross-encoder:{name}", *TORCH):
        from sentence_transformers import CrossEncoder

        from rag_app.models.embedding.reference import quiet

    try:
        with quiet():
            model = CrossEncoder(path, local_files_only=True)
    except Exception as error:  # the libraries below raise anything here
        raise ConfigError(
            f"the reranker cross-encoder:{name} does not load: {error}",
            hint="it must be a model for the classification of pairs, with its tokenizer",
        ) from error
    if model.num_labels != 1:
        raise ConfigError(
            f"the reranker cross-encoder:{name} gives {model.num_labels} scores for each passage",
            hint="name a cross-encoder that gives one score",
        )

    def scores(question: str, texts: Sequence[str]) -> list[float]:
        pairs = [(question, text) for text in texts]
        found = np.asarray(model.predict(pairs, show_progress_bar=False), dtype=np.float64)
        if found.shape != (len(texts),) or not np.isfinite(found).all():
            raise RerankError(
                f"cross-encoder:{name} did not give one finite score for each passage",
                hint="its weights may be damaged",
            )
        numbers: list[float] = found.tolist()
        return numbers

    return scores
