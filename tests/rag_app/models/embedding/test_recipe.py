"""What a model's own files say of it; what is not understood is not guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_app.models.embedding.folder import ModelFolder, locate
from rag_app.models.embedding.recipe import UnsupportedModelError, read_recipe

MODULES = [
    {"path": "", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


def folder(
    path: Path,
    *,
    config: dict[str, Any] | None = None,
    modules: list[dict[str, str]] | None = None,
    pooling: dict[str, Any] | None = None,
    tokens: dict[str, Any] | None = None,
) -> ModelFolder:
    (path / "1_Pooling").mkdir()
    files: dict[str, object] = {
        "config.json": {"hidden_size": 8, "max_position_embeddings": 512, **(config or {})},
        "modules.json": modules,
        "1_Pooling/config.json": pooling or {"pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": tokens,
    }
    for name, value in files.items():
        if value is not None:
            (path / name).write_text(json.dumps(value))
    return ModelFolder(path, "x")


def test_the_default_model_reads_256_tokens_and_takes_their_mean() -> None:
    recipe = read_recipe(locate("minilm"))
    assert (recipe.pooling, recipe.max_tokens, recipe.dimension) == ("mean", 256, 384)
    assert not recipe.lower_case


def test_a_plain_transformer_takes_the_mean(tmp_path: Path) -> None:
    assert read_recipe(folder(tmp_path)).pooling == "mean"


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": "mean"}, "mean"),
    ],
)
def test_old_and_new_words_for_pooling(
    tmp_path: Path, pooling: dict[str, Any], expected: str
) -> None:
    assert read_recipe(folder(tmp_path, modules=MODULES, pooling=pooling)).pooling == expected


@pytest.mark.parametrize(
    "pooling",
    [
        {"pooling_mode_max_tokens": True},
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
        {"pooling_mode": "lasttoken"},
        {"pooling_mode": "mean", "include_prompt": False},
    ],
)
def test_another_pooling_is_unsupported(tmp_path: Path, pooling: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedModelError, match="pools"):
        read_recipe(folder(tmp_path, modules=MODULES, pooling=pooling))


def test_a_further_layer_is_unsupported(tmp_path: Path) -> None:
    dense = {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    with pytest.raises(UnsupportedModelError, match="Dense"):
        read_recipe(folder(tmp_path, modules=[*MODULES, dense]))


def test_max_tokens_is_what_is_set_but_not_more_than_there_are_positions(tmp_path: Path) -> None:
    found = folder(tmp_path, tokens={"max_seq_length": 128})
    assert read_recipe(found).max_tokens == 128
    assert read_recipe(found, 64).max_tokens == 64
    assert read_recipe(found, 4096).max_tokens == 512


def test_max_tokens_of_roberta_leaves_out_the_positions_of_padding(tmp_path: Path) -> None:
    config = {"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1}
    assert read_recipe(folder(tmp_path, config=config)).max_tokens == 512


def test_a_config_without_a_size_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModelError, match="hidden_size"):
        read_recipe(folder(tmp_path, config={"hidden_size": None}))
