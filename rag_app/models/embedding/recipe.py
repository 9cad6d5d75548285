"""How a model's vectors are made, from its folder: tokens, transformer, pooling, unit length.

Follows the files that sentence-transformers writes. Unknown entries are not guessed:
they raise :class:`UnsupportedModelError`, and the reference runtime is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rag_app.models.embedding.folder import ModelFolder

Pooling = Literal["mean", "cls"]
_LEGACY_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
# RoBERTa counts positions from the padding id + 1, so the rows before are never used.
_OFFSET_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})


class UnsupportedModelError(Exception):
    """This runtime cannot compute the model; the message says why."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a runtime makes the model's vectors.

    Attributes:
        pooling: which token vectors are combined into the text's.
        max_tokens: maximum tokens of a text that are read, special ones included.
        lower_case: whether the text is lowercased first.
        dimension: length of a vector, in numbers.
    """

    pooling: Pooling
    max_tokens: int
    lower_case: bool
    dimension: int


def read_recipe(folder: ModelFolder, max_tokens: int | None = None) -> Recipe:
    """Read the recipe of a model.

    Args:
        folder: the model.
        max_tokens: in place of the model's own maximum (at most as many as it has
            positions).

    Raises:
        UnsupportedModelError: a part of it is unknown.
    """
    modules = folder.modules
    kinds = [str(module.get("type", "")).rsplit(".", 1)[-1] for module in modules]
    if kinds and kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise UnsupportedModelError(f"it is made of {', '.join(kinds)}")
    transformer = folder.json(f"{folder.body}sentence_bert_config.json")
    config = folder.json(f"{folder.body}config.json")
    dimension = config.get("hidden_size")
    if not isinstance(dimension, int):
        raise UnsupportedModelError("its config.json names no hidden_size")
    pooling_path = modules[1].get("path", "") if modules else ""
    return Recipe(
        pooling=_pooling(folder.json(f"{pooling_path}/config.json") if pooling_path else {}),
        max_tokens=_max_tokens(folder, config, transformer, max_tokens),
        lower_case=bool(transformer.get("do_lower_case", False)),
        dimension=dimension,
    )


def _pooling(config: dict[str, Any]) -> Pooling:
    if config.get("include_prompt", True) is False:
        raise UnsupportedModelError("it pools without its instruction")
    mode = config.get("pooling_mode")
    if mode is None:
        active = [name for key, name in _LEGACY_POOLING.items() if config.get(key)]
        mode = active[0] if len(active) == 1 else active or "mean"
    if mode == "mean":
        return "mean"
    if mode == "cls":
        return "cls"
    raise UnsupportedModelError(f"it pools by {mode}")


def _max_tokens(
    folder: ModelFolder, config: dict[str, Any], transformer: dict[str, Any], chosen: int | None
) -> int:
    positions = config.get("max_position_embeddings", 512)
    if config.get("model_type") in _OFFSET_POSITIONS:
        positions -= int(config.get("pad_token_id") or 0) + 1
    stated = transformer.get("max_seq_length")
    if stated is None:
        stated = folder.json(f"{folder.body}tokenizer_config.json").get("model_max_length")
    wanted = chosen or stated or positions
    return int(min(wanted, positions)) if positions > 0 else int(wanted)
