"""Transformers that are converted by torch, once."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from pipelines.errors import EmbeddingError
from rag_app.models.embedding import convert
from rag_app.models.embedding.load import load_embedding
from rag_app.models.embedding.openvino import OpenVINOEmbedding
from rag_app.models.embedding.recipe import UnsupportedModelError
from rag_app.settings import Settings
from tests.rag_app.models.embedding.vectors import TEXTS, embed
from tests.support.models import save_tiny_model


def test_another_architecture_is_converted_once_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save_tiny_model(tmp_path / "model", kind="mpnet")
    settings = Settings(embed_model=str(folder), cache_dir=tmp_path, embed_precision="float32")
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    first = load_embedding(settings)
    assert (root.level, root.handlers) == (level, handlers)
    assert isinstance(first, OpenVINOEmbedding)
    torchs = load_embedding(settings.model_copy(update={"embed_runtime": "torch"}))
    assert embed(first, TEXTS) == pytest.approx(embed(torchs, TEXTS), abs=1e-5)
    monkeypatch.setattr(convert, "_convert", None)  # a second conversion would fail
    assert (embed(load_embedding(settings), TEXTS) == embed(first, TEXTS)).all()


def test_a_failed_conversion_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save_tiny_model(tmp_path / "model", kind="mpnet")
    settings = Settings(embed_model=str(folder), cache_dir=tmp_path, embed_runtime="openvino")
    tries = []

    def fail(*_: object) -> None:
        tries.append(1)
        raise UnsupportedModelError("an operation is missing")

    monkeypatch.setattr(convert, "_convert", fail)
    for _ in range(2):
        with pytest.raises(EmbeddingError, match="an operation is missing"):
            load_embedding(settings)
    assert len(tries) == 1


def test_the_graphs_used_longest_ago_go_first(tmp_path: Path) -> None:
    import os

    new, old, older, users = (tmp_path / name for name in ("a" * 32, "b" * 32, "c" * 32, "mine"))
    for age, graph in enumerate((new, old, older, users)):
        graph.mkdir()
        (graph / "model.xml").write_bytes(b"x" * 100)
        os.utime(graph, (1000 - age, 1000 - age))
    convert._prune(tmp_path, 150, keep=older)
    assert set(tmp_path.iterdir()) == {older, users}
