"""Loading the model of an index in the background, while LlamaIndex is imported."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rag_app.models.embedding.engine_loading import LoadedEngine
    from rag_app.settings import Settings


def begin(path: Path, settings: Settings) -> Future[LoadedEngine] | None:
    """Start to load the model of an index; None where none of this machine is needed.

    Saves a third of a second beside the import of LlamaIndex. Pass the result to
    ``Index.open`` with the same path and settings. An error of the model is raised
    when it is used.

    Raises:
        IndexNotFoundError, IndexDamagedError, IndexNewerError: as they say.
        ConfigError: no strategy has the name that is set.
    """
    from rag_app.compatibility import recorded_settings
    from rag_app.models.embedding.engine_loading import begin_loading
    from rag_app.retrieval.strategy import get_strategy
    from rag_app.settings import served_name
    from rag_app.store import open_store

    with closing(open_store(path)) as store:
        config = store.config
    strategy = get_strategy(settings.strategy, settings.presets)
    if not config.embed_model or not strategy.needs_vectors:
        return None
    wanted = recorded_settings(config, settings)
    return None if served_name(wanted.embed_model) else begin_loading(wanted)
