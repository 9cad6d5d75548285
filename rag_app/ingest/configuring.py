"""The configuration of an ingest: which kinds it builds, and with which model."""

from __future__ import annotations

from dataclasses import replace

from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.analysers import fingerprints
from pipelines.documents import READERS
from pipelines.errors import ConfigError
from rag_app.ingest.embedding import Embedder
from rag_app.ingest.inputs import Inputs, Item
from rag_app.kinds import Kinds
from rag_app.models.embedding.load import describe_embedding
from rag_app.store.config import with_kinds
from rag_app.store.protocol import IndexConfig, Store, Writer


def configure(
    store: Store, writer: Writer, given: Inputs, kinds: Kinds, reader: str | None
) -> IndexConfig:
    """Record further kinds before they are built, so that a stopped run can be resumed."""
    with store.snapshot() as snapshot:
        config = snapshot.config
    new = with_kinds(config, vectors=kinds.vectors, words=kinds.words)
    new = replace(new, reader=known_reader(reader or config.reader))
    agreed = fingerprints(new.word_kinds, dict(config.analysers))
    new = replace(new, analysers=agreed)
    if any(item.ready and _has_pieces(item) for item in given.items):
        # Pieces are given in order to be searched.
        new = with_kinds(new, vectors=("piece",) if config.embed_model else (), words=("piece",))
    if new.vector_kinds and not new.embed_model:
        raise ConfigError(
            "this index was made without an embedding model and cannot hold vectors",
            hint="make a new index with an embedding model",
        )
    if new != config:
        writer.configure(new)
    return new


def known_reader(reader: str) -> str:
    """Return the name of a PDF reader.

    Raises:
        ConfigError: the name is unknown.
    """
    if reader not in READERS:
        raise ConfigError(
            f"there is no PDF reader {reader!r}", hint=f"choose one of: {', '.join(READERS)}"
        )
    return reader


def _has_pieces(item: Item) -> bool:
    return any(node.metadata.get("kind") == "piece" for node in item.ready or ())


def embedder_of(config: IndexConfig, model: BaseEmbedding | None) -> Embedder | None:
    """Return the embedder of an index; ``None`` for one without vectors.

    Raises:
        ConfigError: it has vectors, and no model was given.
    """
    if not config.vector_kinds:
        return None
    if model is None:
        raise ConfigError(
            f"this index holds vectors of {config.embed_model}; no embedding model was given",
            hint="give embed_model",
        )
    return Embedder(model, describe_embedding(model))
