"""Ours against torch: the same vectors, the same identity. Imports torch (some seconds)."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import EmbeddingError, ModelNotFoundError
from rag_app.models.embedding import agreement, convert
from rag_app.models.embedding.agreement import (
    MIN_COSINE,
    SENTENCES,
    check_agreement,
    shipped_vectors,
)
from rag_app.models.embedding.encoder import Engine
from rag_app.models.embedding.load import count_tokens, describe_embedding, load_embedding
from rag_app.models.embedding.openvino import OpenVINOEmbedding
from rag_app.models.embedding.recipe import UnsupportedModelError
from rag_app.settings import Settings
from tests.support.models import HIDDEN, MAX_TOKENS, save_tiny_model

TEXTS = ["hello world", "sales grew 12.5% to $300", "x", "long " * 20, ""]


def embed(model: BaseEmbedding, texts: list[str]) -> npt.NDArray[np.float32]:
    return np.array(model.get_text_embedding_batch(list(texts)), dtype=np.float32)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def reference(cache: Path) -> BaseEmbedding:
    return load_embedding(Settings(cache_dir=cache, embed_runtime="torch"))


def test_the_default_model_agrees_with_torch(reference: BaseEmbedding, cache: Path) -> None:
    ours = load_embedding(Settings(cache_dir=cache, embed_runtime="openvino"))
    cosines = (embed(ours, list(SENTENCES)) * embed(reference, list(SENTENCES))).sum(axis=1)
    assert cosines.min() >= MIN_COSINE


def test_the_shipped_vectors_are_torchs(reference: BaseEmbedding) -> None:
    shipped = shipped_vectors(describe_embedding(reference).fingerprint)
    assert shipped is not None
    assert np.abs(shipped - embed(reference, list(SENTENCES))).max() <= 1e-4


def test_both_runtimes_open_the_same_index(reference: BaseEmbedding, cache: Path) -> None:
    ours = describe_embedding(load_embedding(Settings(cache_dir=cache)))
    torchs = describe_embedding(reference)
    assert ours.same_model(torchs)
    assert (ours.name, ours.max_tokens, ours.scripts) == (
        torchs.name,
        torchs.max_tokens,
        torchs.scripts,
    )


def test_a_users_own_hugging_face_embedding_is_the_same_model(
    reference: BaseEmbedding, cache: Path
) -> None:
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding

    theirs = HuggingFaceEmbedding(model_name=reference.model_name, device="cpu")
    assert describe_embedding(theirs) == describe_embedding(reference)


def test_both_runtimes_count_the_same_tokens(reference: BaseEmbedding, cache: Path) -> None:
    ours = load_embedding(Settings(cache_dir=cache))
    texts = [*SENTENCES, "", "word " * 400]
    assert count_tokens(ours, texts) == count_tokens(reference, texts)
    assert count_tokens(reference, []) == []


@pytest.mark.parametrize(
    ("kind", "pooling"), [("bert", "mean"), ("bert", "cls"), ("xlm-roberta", "mean")]
)
def test_an_encoder_built_from_weights_is_torchs(tmp_path: Path, kind: str, pooling: str) -> None:
    folder = save_tiny_model(tmp_path / "model", kind=kind, pooling=pooling)
    settings = {"embed_model": str(folder), "cache_dir": tmp_path, "embed_precision": "float32"}
    ours = load_embedding(Settings(**settings))
    torchs = load_embedding(Settings(**settings, embed_runtime="torch"))
    assert isinstance(ours, OpenVINOEmbedding)
    assert embed(ours, TEXTS) == pytest.approx(embed(torchs, TEXTS), abs=1e-5)
    assert describe_embedding(ours) == describe_embedding(torchs)
    assert describe_embedding(ours).dimension == HIDDEN
    assert describe_embedding(ours).max_tokens == MAX_TOKENS


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


def test_damaged_weights_fall_back_and_then_name_the_folder(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{broken}")
    with pytest.raises(ModelNotFoundError, match="does not load"):
        load_embedding(Settings(embed_model=str(folder), cache_dir=tmp_path))


def test_torch_computes_in_bfloat16_when_told(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model")
    settings = {"embed_model": str(folder), "cache_dir": tmp_path, "embed_runtime": "torch"}
    model = load_embedding(Settings(**settings, embed_precision="bfloat16"))
    assert describe_embedding(model).precision == "bfloat16"
    assert len(model.get_query_embedding("x")) == HIDDEN
