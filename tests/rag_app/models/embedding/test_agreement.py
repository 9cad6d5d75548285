"""The check of a runtime's vectors against the reference."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import EmbeddingError
from rag_app.models.embedding import agreement
from rag_app.models.embedding.agreement import (
    MIN_COSINE,
    SENTENCES,
    check_agreement,
    shipped_vectors,
)
from rag_app.models.embedding.encoder import Engine
from rag_app.models.embedding.load import describe_embedding, load_embedding
from rag_app.models.embedding.openvino import OpenVINOEmbedding
from rag_app.settings import Settings
from tests.rag_app.models.embedding.vectors import embed
from tests.support.models import save_tiny_model


def test_the_default_model_agrees_with_torch(reference: BaseEmbedding, cache: Path) -> None:
    ours = load_embedding(Settings(cache_dir=cache, embed_runtime="openvino"))
    cosines = (embed(ours, list(SENTENCES)) * embed(reference, list(SENTENCES))).sum(axis=1)
    assert cosines.min() >= MIN_COSINE


def test_the_shipped_vectors_are_torchs(reference: BaseEmbedding) -> None:
    shipped = shipped_vectors(describe_embedding(reference).fingerprint)
    assert shipped is not None
    assert np.abs(shipped - embed(reference, list(SENTENCES))).max() <= 1e-4


def test_vectors_that_disagree_are_refused_and_the_finding_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = save_tiny_model(tmp_path / "model")
    settings = Settings(embed_model=str(folder), cache_dir=tmp_path)
    monkeypatch.setattr(agreement, "least_cosine", lambda _: 0.9)
    with caplog.at_level(logging.WARNING):
        model = load_embedding(settings)
    assert not isinstance(model, OpenVINOEmbedding)
    assert "cosine 0.9000" in caplog.text
    monkeypatch.setattr(agreement, "least_cosine", None)
    with pytest.raises(EmbeddingError, match=r"cosine 0\.9000"):
        load_embedding(settings.model_copy(update={"embed_runtime": "openvino"}))


def test_a_damaged_finding_is_found_again(cache: Path, tmp_path: Path) -> None:
    from rag_app.models.embedding.encoder import EngineConfig
    from rag_app.models.embedding.folder import locate
    from rag_app.models.embedding.recipe import read_recipe

    folder = locate("minilm", cache_dir=cache)
    engine = Engine(EngineConfig(folder, read_recipe(folder), "float32"))
    check_agreement(engine, tmp_path)
    (finding,) = (tmp_path / "models").glob("*.json")
    finding.write_text("{")
    check_agreement(engine, tmp_path)
    assert "least_cosine" in finding.read_text()
