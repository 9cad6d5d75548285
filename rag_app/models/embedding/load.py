"""A name → an embedding model; an embedding model → the identity that an index records."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import EmbeddingError
from pipelines.optional import TORCH, needed
from rag_app.models.embedding.engine_loading import (
    LoadedEngine,
    find_model,
    load_engine,
    scripts_of,
)
from rag_app.models.embedding.folder import locate
from rag_app.models.embedding.identity import EmbeddingIdentity
from rag_app.models.embedding.known import find_by_name
from rag_app.models.embedding.recipe import UnsupportedModelError
from rag_app.settings import Settings, served_name

__all__ = ["EmbeddingIdentity", "count_tokens", "describe_embedding", "load_embedding", "too_long"]

_log = logging.getLogger(__name__)


def load_embedding(
    settings: Settings, loading: Future[LoadedEngine] | None = None
) -> BaseEmbedding:
    """Return the embedding model that the settings name; it is downloaded only if they allow it.

    Args:
        settings: name, runtime, precision, instructions and so on of the model.
        loading: what ``loading.begin_loading`` returned for the same settings.

    Raises:
        ModelNotFoundError: it is not on this machine; the error says what to do.
        EmbeddingError: it cannot be used.
        ConfigError: it is behind a server whose address is not set.
        NotInstalledError: it needs torch, which is not installed.
    """
    if served_name(settings.embed_model) is not None:
        from rag_app.models.embedding.server import load_server_embedding

        return load_server_embedding(settings)
    if settings.embed_runtime == "torch":
        return _load_torch(settings)
    try:
        return _load_openvino(settings, loading)
    except UnsupportedModelError as reason:
        if settings.embed_runtime == "openvino":
            raise EmbeddingError(
                f"OpenVINO does not serve the embedding model {settings.embed_model}: {reason}",
                hint='set embed_runtime = "auto" or "torch"',
            ) from reason
        model = _load_torch(settings, str(reason))
        _log.warning("torch computes the embedding model %s: %s", settings.embed_model, reason)
        return model


def _load_openvino(settings: Settings, loading: Future[LoadedEngine] | None) -> BaseEmbedding:
    from rag_app.models.embedding.openvino import OpenVINOEmbedding

    loaded = loading.result() if loading is not None else load_engine(settings)
    size = settings.embed_batch_size
    return OpenVINOEmbedding(
        engine=loaded.engine,
        identity=loaded.identity,
        **({"embed_batch_size": size} if size else {}),
    )


def _load_torch(settings: Settings, reason: str = "") -> BaseEmbedding:
    folder = find_model(settings)
    why = f"OpenVINO does not serve it: {reason}" if reason else 'embed_runtime is "torch"'
    with needed(f"the embedding model {settings.embed_model} ({why})", *TORCH):
        from rag_app.models.embedding.reference import load_reference

    query, text = folder.instructions(settings.query_instruction, settings.text_instruction)
    precision = settings.embed_precision
    return load_reference(
        folder,
        query_instruction=query,
        text_instruction=text,
        scripts=scripts_of(folder, settings),
        batch_size=settings.embed_batch_size or 64,
        max_tokens=settings.embed_max_tokens,
        precision="float32" if precision == "auto" else precision,
    )


def describe_embedding(model: BaseEmbedding) -> EmbeddingIdentity:
    """Return the identity of a model: one of ours or any of LlamaIndex's.

    A model may have the attributes ``dimension``, ``scripts``, ``fingerprint`` and
    ``max_tokens``; without the first the dimension is that of one embedded query.
    """
    identity = getattr(model, "identity", None)
    if isinstance(identity, EmbeddingIdentity):
        return identity
    if model.class_name() == "HuggingFaceEmbedding":
        return _describe_hugging_face(model)
    known = find_by_name(model.model_name)
    return EmbeddingIdentity(
        name=known.hub if known else _own_name(model),
        fingerprint=str(getattr(model, "fingerprint", "")),
        dimension=_dimension(model),
        query_instruction=getattr(model, "query_instruction", None) or "",
        text_instruction=getattr(model, "text_instruction", None) or "",
        scripts=_own_scripts(model, known.scripts if known else ("*",)),
        max_tokens=getattr(model, "max_tokens", None) or (known.max_tokens if known else None),
    )


def _describe_hugging_face(model: Any) -> EmbeddingIdentity:
    """Describe the user's own ``HuggingFaceEmbedding`` as the same model of ours would be."""
    # For sentence-transformers a folder need not be spelled as a path.
    name = Path(model.model_name)
    folder = locate(str(name.resolve()) if name.is_dir() else model.model_name)
    prompts = model._model.prompts
    return EmbeddingIdentity(
        name=folder.canonical_name,
        fingerprint=folder.fingerprint,
        dimension=model._model.get_embedding_dimension(),
        query_instruction=prompts.get("query") or "",
        text_instruction=prompts.get("text") or "",
        scripts=_own_scripts(model, folder.known.scripts if folder.known else ("*",)),
        precision=str(model._model.dtype).removeprefix("torch."),
        max_tokens=model.max_length,
    )


def _own_name(model: BaseEmbedding) -> str:
    return model.model_name if model.model_name != "unknown" else model.class_name()


def _own_scripts(model: BaseEmbedding, default: tuple[str, ...]) -> tuple[str, ...]:
    scripts = getattr(model, "scripts", None)
    return tuple(scripts) if scripts else default


def _dimension(model: BaseEmbedding) -> int:
    for attribute in ("dimension", "dimensions", "embed_dim"):
        value = getattr(model, attribute, None)
        if isinstance(value, int) and value > 0:
            return value
    return len(model.get_query_embedding("dimension"))


def count_tokens(model: BaseEmbedding, texts: Sequence[str]) -> list[int] | None:
    """Return how many of the model's own tokens each text has; None where that is unknown."""
    count = getattr(model, "count_tokens", None)
    return list(count(texts)) if callable(count) else None


def too_long(model: BaseEmbedding, texts: Sequence[str]) -> list[int]:
    """Return the positions of the texts that are too long for the model."""
    limit = describe_embedding(model).max_tokens
    counts = count_tokens(model, texts) if limit else None
    if limit is None or counts is None:
        return []
    return [position for position, count in enumerate(counts) if count > limit]
