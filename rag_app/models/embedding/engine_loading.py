"""Settings → an engine, without LlamaIndex, so that it can load while LlamaIndex is imported."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import Future
from dataclasses import dataclass

from rag_app.models.embedding.agreement import check_agreement
from rag_app.models.embedding.convert import converted_graph
from rag_app.models.embedding.encoder import Engine, EngineConfig, is_direct
from rag_app.models.embedding.folder import ModelFolder, locate
from rag_app.models.embedding.identity import EmbeddingIdentity
from rag_app.models.embedding.recipe import UnsupportedModelError, read_recipe
from rag_app.models.embedding.runtime import choose_precision, import_openvino
from rag_app.settings import Settings


@dataclass(frozen=True, slots=True)
class LoadedEngine:
    """An engine that agrees with the reference, and its identity, which an index records."""

    engine: Engine
    identity: EmbeddingIdentity


def find_model(settings: Settings) -> ModelFolder:
    """Return the folder of the model that the settings name.

    Raises:
        ModelNotFoundError: it is not on this machine.
    """
    return locate(
        settings.embed_model, cache_dir=settings.cache_dir, download=settings.embed_download
    )


def scripts_of(folder: ModelFolder, settings: Settings) -> tuple[str, ...]:
    """Return the scripts that a model knows: from the settings, else the table, else all."""
    if settings.embed_scripts is not None:
        return settings.embed_scripts
    return folder.known.scripts if folder.known else ("*",)


def load_engine(settings: Settings) -> LoadedEngine:
    """Make the engine of the model that the settings name.

    Raises:
        ModelNotFoundError: the model is not on this machine.
        UnsupportedModelError: OpenVINO does not serve it.
        NotInstalledError: it must be converted or checked by torch, which is not installed.
    """
    folder = find_model(settings)
    recipe = read_recipe(folder, settings.embed_max_tokens)
    graph = None
    if not is_direct(folder):
        graph = converted_graph(folder, settings.cache_dir, limit_mb=settings.cache_limit_mb)
    precision = choose_precision(settings.embed_precision)
    engine = Engine(EngineConfig(folder, recipe, precision, settings.embed_threads, graph))
    check_agreement(engine, settings.cache_dir, required=settings.embed_runtime != "openvino")
    query, text = folder.instructions(settings.query_instruction, settings.text_instruction)
    identity = EmbeddingIdentity(
        name=folder.canonical_name,
        fingerprint=folder.fingerprint,
        dimension=recipe.dimension,
        query_instruction=query,
        text_instruction=text,
        scripts=scripts_of(folder, settings),
        precision=precision,
        max_tokens=recipe.max_tokens,
    )
    return LoadedEngine(engine, identity)


def begin_loading(settings: Settings) -> Future[LoadedEngine]:
    """Make and compile the engine in the background; give the result to ``load_embedding``.

    Saves about a third of a second of a command that must import LlamaIndex meanwhile.
    """
    future: Future[LoadedEngine] = Future()

    def work() -> None:
        try:
            if settings.embed_runtime == "torch":
                raise UnsupportedModelError("torch was asked for")
            loaded = load_engine(settings)
            loaded.engine.ready()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(loaded)

    # Imported here: while two threads import, one may see an incomplete module.
    with contextlib.suppress(UnsupportedModelError):
        import tokenizers  # noqa: F401

        import_openvino()
    # Not a daemon: the runtime must not be torn down while it compiles.
    threading.Thread(target=work, name="embedding").start()
    return future
