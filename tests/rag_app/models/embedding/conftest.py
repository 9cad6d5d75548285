"""The default model by both runtimes, loaded once for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from rag_app.models.embedding.load import load_embedding
from rag_app.settings import Settings


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def minilm(cache: Path) -> BaseEmbedding:
    return load_embedding(Settings(cache_dir=cache))


@pytest.fixture(scope="session")
def reference(cache: Path) -> BaseEmbedding:
    """The default model computed by torch, which takes seconds to import."""
    return load_embedding(Settings(cache_dir=cache, embed_runtime="torch"))
