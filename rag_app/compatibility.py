"""Explicit settings must be compatible with the index; the index decides the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipelines.analysers import DEFAULT
from pipelines.errors import ConfigError, EmbeddingError, IndexDamagedError
from pipelines.text import TOKENIZER_NAME
from rag_app.models.embedding.folder import is_path
from rag_app.models.embedding.identity import EmbeddingIdentity
from rag_app.models.embedding.known import find_by_name
from rag_app.settings import Settings, served_name
from rag_app.store.config import check_config
from rag_app.store.protocol import IndexConfig, Store

if TYPE_CHECKING:  # a model is loaded while LlamaIndex is imported, which takes a second
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from pipelines.isolated import Reading


def explicit_setting(settings: Settings, field: str) -> Any:
    """Return the value of an explicit setting; None: the index decides."""
    return getattr(settings, field) if field in settings.model_fields_set else None


def explicit_child_sizes(settings: Settings) -> tuple[int, ...] | None:
    """Return the explicit child sizes in tokens; None: each pipeline has its own."""
    sizes: tuple[int, ...] | None = explicit_setting(settings, "child_sizes")
    return sizes


def new_config(settings: Settings, identity: EmbeddingIdentity | None) -> IndexConfig:
    """Return the configuration of a new index, without kinds; None: without a model."""
    model = identity or EmbeddingIdentity("", "", 0)
    return IndexConfig(
        embed_model=model.name,
        embed_fingerprint=model.fingerprint,
        dimension=model.dimension,
        query_instruction=model.query_instruction,
        text_instruction=model.text_instruction,
        scripts=model.scripts,
        precision=model.precision,
        reader=settings.reader,
        tokenizer=TOKENIZER_NAME,
        terms=DEFAULT.fingerprint(),
        parent_size=settings.parent_size,
        window=settings.window,
        row_shares=True,
    )


def check_compatible(store: Store, settings: Settings, model: BaseEmbedding | None) -> None:
    """Raise where an explicit setting, or the model, differs from the index.

    Raises:
        IndexMismatchError: names each difference, with the recorded and the given value.
    """
    from rag_app.models.embedding.load import describe_embedding

    stored = store.config
    wanted = replace(stored, tokenizer=TOKENIZER_NAME, terms=DEFAULT.fingerprint())
    if model is not None and stored.embed_model:
        try:
            wanted = _made_with(wanted, describe_embedding(model))
        except EmbeddingError as error:
            if not error.retryable:
                raise
            # Its server is down: words may answer, and vectors are compared when they come.
            wanted = replace(wanted, embed_model=model.model_name)
    named = {
        field: getattr(settings, field)
        for field in ("parent_size", "window")
        if field in settings.model_fields_set
    }
    check_config(stored, replace(wanted, **named), where=str(store.path))


def _made_with(config: IndexConfig, identity: EmbeddingIdentity) -> IndexConfig:
    return replace(
        config,
        embed_model=identity.name,
        embed_fingerprint=identity.fingerprint,
        dimension=identity.dimension,
        query_instruction=identity.query_instruction,
        text_instruction=identity.text_instruction,
    )


def reading_options(settings: Settings, password: str | None = None) -> Reading:
    """Return how files are read under these settings.

    Args:
        settings: the limits, and a password.
        password: another one, tried first.

    Raises:
        NotInstalledError: the settings name languages for OCR that are not installed.
    """
    from pipelines.isolated import Reading, passwords
    from pipelines.ocr import find_ocr
    from pipelines.readers import Limits

    limits = Limits(
        memory_mb=settings.read_memory_mb,
        seconds=settings.read_seconds,
        seconds_per_mb=settings.read_seconds / 2,
        seconds_per_ocr_page=settings.read_seconds * 2,
    )
    own = settings.pdf_password
    tried = passwords([password or "", own.get_secret_value() if own else ""])
    return Reading(limits, tried, find_ocr(settings.ocr))


def recorded_settings(config: IndexConfig, settings: Settings) -> Settings:
    """Return the settings that load the model of an index, where none is named.

    An index may come from elsewhere: a recorded path is refused, only known models are
    downloaded from the hub, and no question is sent to a server that the user has not named.

    Raises:
        IndexDamagedError: the index records a path.
        ConfigError: it records a model behind a server that the settings do not name.
    """
    if "embed_model" in settings.model_fields_set:
        return settings
    if served_name(config.embed_model) is not None and settings.embed_base_url is None:
        raise ConfigError(
            f"the index was made with {config.embed_model}, which a server computes",
            hint="name it, so that questions may be sent there: "
            f"--embed-model {config.embed_model}, RAG_EMBED_MODEL or embed_model in rag.toml",
        )
    if is_path(config.embed_model):
        raise IndexDamagedError(
            f"the index records a path as its embedding model: {config.embed_model}",
            hint="name the model: --embed-model, or embed_model=…",
        )
    known = find_by_name(config.embed_model) is not None
    return settings.model_copy(
        update={
            "embed_model": config.embed_model,
            "embed_download": settings.embed_download and known,
            "embed_scripts": config.scripts,
            "query_instruction": config.query_instruction,
            "text_instruction": config.text_instruction,
        }
    )
