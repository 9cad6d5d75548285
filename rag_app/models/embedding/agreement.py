"""Checks that a runtime computes the model's vectors: once per model, runtime and machine.

The reference is torch through sentence-transformers; for the default model its
vectors are shipped, so that the check needs no torch.
"""

from __future__ import annotations

import hashlib
import json
import logging
import platform
from importlib.resources import files
from pathlib import Path

import numpy as np

from pipelines.errors import NotInstalledError
from pipelines.optional import TORCH, needed
from rag_app.models.embedding.encoder import Engine
from rag_app.models.embedding.folder import write_private
from rag_app.models.embedding.recipe import UnsupportedModelError
from rag_app.models.embedding.runtime import Vectors, import_openvino

_log = logging.getLogger(__name__)

MIN_COSINE = 0.995
# Raised when the graph or the sentences change: earlier results no longer count.
_VERSION = 1
SENTENCES = (
    "The lead time for part AX-4471 is six weeks from the date of the order.",
    "Net sales grew to $4.2 billion in 2018, an increase of 3.7 percent over the year before.",
    "Which products fall under the warranty, and who pays for the return?",
    "TOTAL 1,577 1,373 1,420 (12.5)% 0.98x 2018-12-31",
    "東京は日本の首都です。",
    "保証期間は購入日から2年間で、消耗品は対象外です。",
    "Café naïve, ﬁnal: über 100 °C — “quoted”; e.g. https://example.org/a?b=1",
    " ".join(["The committee reviewed the report and asked for further figures."] * 40),
)


def check_agreement(engine: Engine, cache_dir: Path, *, required: bool = True) -> None:
    """Check an engine against the reference, once, and store the result.

    Args:
        engine: what is to be checked.
        cache_dir: where the result is stored.
        required: False: an engine that cannot be checked, because torch is not
            installed, is used with a warning.

    Raises:
        UnsupportedModelError: its vectors are not the reference's.
        NotInstalledError: torch is not installed, and the check is required.
    """
    path = cache_dir / "models" / f"{_key(engine)}.json"
    cosine = _remembered(path)
    if cosine is None:
        try:
            cosine = least_cosine(engine)
        except NotInstalledError as error:
            if required:
                raise
            _log.warning("used unchecked: %s", error.message)
            return
        write_private(path, json.dumps({"least_cosine": cosine}).encode())
        _log.info("least cosine with the reference: %.5f", cosine)
    if cosine < MIN_COSINE:
        raise UnsupportedModelError(
            f"its vectors differ from torch's: cosine {cosine:.4f}, below {MIN_COSINE}"
        )


def least_cosine(engine: Engine) -> float:
    """Return the smallest cosine between the engine's and the reference's vectors."""
    reference = shipped_vectors(engine.config.folder.fingerprint)
    if reference is None or engine.config.recipe.max_tokens != _shipped_length(engine):
        reference = reference_vectors(engine)
    return float((engine.embed(SENTENCES) * reference).sum(axis=1).min())


def reference_vectors(engine: Engine) -> Vectors:
    """Compute the reference's vectors of the sentences (imports torch).

    Raises:
        NotInstalledError: torch is not installed.
    """
    folder = engine.config.folder
    with needed(
        f"comparing the embedding model {folder.name} with torch, once,",
        *TORCH,
        otherwise='set embed_runtime = "openvino" to use it unchecked',
    ):
        from rag_app.models.embedding.reference import load_reference

    _log.info("comparing with torch, once; this takes some seconds")
    model = load_reference(folder, max_tokens=engine.config.recipe.max_tokens, device="cpu")
    return np.array(model.get_text_embedding_batch(list(SENTENCES)), dtype=np.float32)


def shipped_vectors(fingerprint: str) -> Vectors | None:
    """Return the reference vectors that are shipped for these weights."""
    resource = files("rag_app.models.embedding") / "vectors" / f"{fingerprint[:16]}.npy"
    if not resource.is_file():
        return None
    with resource.open("rb") as file:
        vectors: Vectors = np.load(file, allow_pickle=False)
    return vectors


def _shipped_length(engine: Engine) -> int | None:
    known = engine.config.folder.known
    return known.max_tokens if known else None


def _remembered(path: Path) -> float | None:
    try:
        return float(json.loads(path.read_text(encoding="utf-8"))["least_cosine"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _key(engine: Engine) -> str:
    """Return all that decides the result: weights, files around them, runtime, machine."""
    config = engine.config
    parts = {
        "version": _VERSION,
        "weights": config.folder.fingerprint,
        "settings": config.folder.settings_digest,
        "recipe": repr(config.recipe),
        "precision": config.precision,
        "graph": config.graph is not None,
        "runtime": import_openvino().__version__,
        "machine": platform.machine(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
