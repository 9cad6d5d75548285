"""An encoder built from weights, without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_app.models.embedding.bert import build_encoder, is_buildable
from rag_app.models.embedding.load import describe_embedding, load_embedding
from rag_app.models.embedding.openvino import OpenVINOEmbedding
from rag_app.models.embedding.recipe import UnsupportedModelError
from rag_app.settings import Settings
from tests.rag_app.models.embedding.vectors import TEXTS, embed
from tests.support.models import HIDDEN, MAX_TOKENS, save_tiny_model


def test_an_encoder_of_another_kind_is_not_built() -> None:
    assert is_buildable({"model_type": "bert"})
    assert not is_buildable({"model_type": "mpnet"})
    assert not is_buildable({"model_type": "bert", "position_embedding_type": "relative_key"})
    assert not is_buildable({"model_type": "bert", "hidden_act": "swish"})


@pytest.mark.parametrize("weights", [{}, {"embeddings.word_embeddings.weight": np.zeros((2, 2))}])
def test_weights_that_do_not_fit_are_unsupported(weights: dict[str, Any]) -> None:
    config = {"model_type": "bert", "hidden_size": 2, "num_attention_heads": 1}
    with pytest.raises(UnsupportedModelError, match="do not fit"):
        build_encoder({**config, "num_hidden_layers": 1}, weights, "mean")


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
