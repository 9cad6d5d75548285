"""Indexes made, opened and merged: a store, its settings, and the embedding model they need."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.analysers import fingerprints
from pipelines.errors import ModelNotFoundError
from pipelines.file_names import printable
from rag_app.compatibility import (
    check_compatible,
    explicit_child_sizes,
    new_config,
    recorded_settings,
)
from rag_app.kinds import kinds_of
from rag_app.models.embedding.engine_loading import LoadedEngine
from rag_app.models.embedding.known import find_by_name
from rag_app.models.embedding.load import describe_embedding, load_embedding
from rag_app.settings import Settings
from rag_app.store import create_store, open_store
from rag_app.store.protocol import Store


class OpenedIndex:
    """A store with the settings and the embedding model that it is used with.

    Args:
        store: the store.
        settings: the settings that it was opened with.
        embed_model: the model; None: loaded when first needed.
        loading: a load of the model that has begun.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        embed_model: BaseEmbedding | None = None,
        loading: Future[LoadedEngine] | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self._model = embed_model
        self._begun = loading
        self._loading = threading.Lock()

    @property
    def embed_model(self) -> BaseEmbedding | None:
        """The embedding model, loaded when first needed; None for an index without vectors.

        Raises:
            IndexMismatchError: the weights on this machine are not those of the index.
        """
        if not self.store.config.embed_model:
            return None
        with self._loading:
            if self._model is None:
                model = self._load()
                check_compatible(self.store, self.settings, model)
                self._model = model
        return self._model

    def _load(self) -> BaseEmbedding:
        config = self.store.config
        try:
            return load_embedding(recorded_settings(config, self.settings), self._begun)
        except ModelNotFoundError as error:
            name = config.embed_model
            if "embed_model" in self.settings.model_fields_set or find_by_name(name) is not None:
                raise
            raise ModelNotFoundError(
                f"the index was made with the embedding model {name!r}, which no folder of models "
                "here holds",
                hint=f"if it is a model of your own, pass it: Index.open({str(self.store.path)!r}, "
                "embed_model=…)" + (f"; else {error.hint}" if "/" in name else ""),
            ) from error


def create_index(
    path: str | Path,
    settings: Settings,
    pipelines: Sequence[str],
    embed_model: BaseEmbedding | None,
) -> OpenedIndex:
    """Make an empty index; see :meth:`rag_app.index.Index.create`.

    Raises:
        IndexExistsError: there is one already.
    """
    vectors, words = kinds_of(pipelines, child_sizes=explicit_child_sizes(settings))
    model = embed_model if embed_model is not None or not vectors else load_embedding(settings)
    config = new_config(settings, describe_embedding(model) if vectors and model else None)
    config = replace(
        config,
        analysers=fingerprints(words),
        kinds=tuple(dict.fromkeys((*words, *vectors))),
        vector_kinds=vectors,
        word_kinds=words,
    )
    return OpenedIndex(create_store(path, config), settings, model)


def open_index(
    path: str | Path,
    settings: Settings,
    embed_model: BaseEmbedding | None,
    loading: Future[LoadedEngine] | None,
) -> OpenedIndex:
    """Open an index; see :meth:`rag_app.index.Index.open`."""
    store = open_store(path)
    try:
        model = embed_model
        if model is None and _names_model(settings) and store.config.embed_model:
            model = load_embedding(settings, loading)
        check_compatible(store, settings, model)
    except BaseException:
        store.close()
        raise
    return OpenedIndex(store, settings, model, loading)


def _names_model(settings: Settings) -> bool:
    return "embed_model" in settings.model_fields_set


def merge_stores(
    sources: Sequence[Store | Path], into: Path, names: Mapping[str, Sequence[str]] | None
) -> None:
    """Write the contents of several indexes into one; see :meth:`rag_app.index.Index.merge`."""
    from rag_app.store.merging import merge

    stores: dict[Path, Store | Path] = {}
    for source in sources:
        if isinstance(source, Path):
            stores.setdefault(source.resolve(), source)
        else:
            stores[source.path.resolve()] = source
    unique = len({path.name for path in stores}) == len(stores)
    called = {printable(path.name if unique else path): store for path, store in stores.items()}
    merge(called, into, names=names)
