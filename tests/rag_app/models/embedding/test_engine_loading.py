"""An engine from settings, also in the background."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import ModelNotFoundError
from rag_app.models.embedding.engine_loading import begin_loading
from rag_app.models.embedding.load import load_embedding
from rag_app.settings import Settings
from tests.rag_app.models.embedding.vectors import HEAVY
from tests.support.modules import imported_by


def test_an_engine_begun_in_the_background_is_used(cache: Path, minilm: BaseEmbedding) -> None:
    settings = Settings(cache_dir=cache)
    loading = begin_loading(settings)
    model: Any = load_embedding(settings, loading)
    assert model._engine is loading.result().engine
    assert model.get_query_embedding("x") == minilm.get_query_embedding("x")


def test_an_error_in_the_background_is_raised_where_the_model_is_wanted(cache: Path) -> None:
    settings = Settings(cache_dir=cache, embed_model="/nowhere")
    with pytest.raises(ModelNotFoundError, match="no folder"):
        load_embedding(settings, begin_loading(settings))


def test_beginning_in_the_background_imports_no_llama_index() -> None:
    assert not imported_by("rag_app.models.embedding.engine_loading") & {*HEAVY, "llama_index"}
