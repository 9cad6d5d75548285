"""Ours against torch: the same vectors, the same identity. Imports torch (some seconds)."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import ModelNotFoundError
from rag_app.models.embedding.load import describe_embedding, load_embedding
from rag_app.settings import Settings
from tests.support.models import HIDDEN, save_tiny_model


def test_a_users_own_hugging_face_embedding_is_the_same_model(
    reference: BaseEmbedding, cache: Path
) -> None:
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding

    theirs = HuggingFaceEmbedding(model_name=reference.model_name, device="cpu")
    assert describe_embedding(theirs) == describe_embedding(reference)


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
