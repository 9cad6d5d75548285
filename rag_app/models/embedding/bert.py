"""A BERT encoder built directly from its weights as an OpenVINO graph: no torch, no export.

Devlin et al. 2019 (https://arxiv.org/abs/1810.04805), post-norm as in the original;
RoBERTa (Liu et al. 2019) differs in how positions are counted. Shapes: B texts,
L tokens, H hidden numbers, A heads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_app.models.embedding.recipe import Pooling, UnsupportedModelError
from rag_app.models.embedding.runtime import import_openvino
from rag_app.models.embedding.weights import Array

if TYPE_CHECKING:
    import openvino

_BERT = frozenset({"bert"})
_ROBERTA = frozenset({"roberta", "xlm-roberta", "camembert"})
_PREFIXES = ("", "bert.", "roberta.", "model.")
_MASKED = -1e4  # far below any score of a head, and finite in bfloat16
_ACTIVATIONS = {"gelu": "erf", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh"}


def is_buildable(config: Mapping[str, Any]) -> bool:
    """Tell whether a ``config.json`` describes an encoder that this module builds."""
    return (
        config.get("model_type") in _BERT | _ROBERTA
        and config.get("position_embedding_type", "absolute") == "absolute"
        and config.get("hidden_act", "gelu") in _ACTIVATIONS
        and not config.get("is_decoder", False)
    )


def build_encoder(
    config: Mapping[str, Any], weights: Mapping[str, Array], pooling: Pooling
) -> openvino.Model:
    """Return the graph (input_ids, attention_mask; int32, B × L) → unit vectors, B × H.

    The graph refers to the arrays of ``weights``: they must live until it is compiled.

    Args:
        config: the model's ``config.json``.
        weights: its tensors, under transformers' names.
        pooling: which token vectors are combined into the text's.

    Raises:
        UnsupportedModelError: a tensor is missing or has another shape.
    """
    try:
        return _Builder(config, weights).build(pooling)
    except (KeyError, ValueError, RuntimeError) as error:
        raise UnsupportedModelError(f"its weights do not fit its config.json: {error}") from error


class _Builder:
    def __init__(self, config: Mapping[str, Any], weights: Mapping[str, Array]) -> None:
        self.ov = import_openvino()
        self.ops = self.ov.opset13
        self.config = config
        self.weights = weights
        word = "embeddings.word_embeddings.weight"
        self.prefix = next((prefix for prefix in _PREFIXES if prefix + word in weights), "")
        self.hidden = int(config["hidden_size"])
        self.heads = int(config["num_attention_heads"])

    def build(self, pooling: Pooling) -> openvino.Model:
        ids = self.ops.parameter([-1, -1], self.ov.Type.i32, "input_ids")
        mask = self.ops.parameter([-1, -1], self.ov.Type.i32, "attention_mask")
        bias = self._attention_bias(self.ops.convert(mask, "f32"))
        hidden = self._embed(ids, mask)
        for layer in range(int(self.config["num_hidden_layers"])):
            hidden = self._layer(hidden, bias, f"encoder.layer.{layer}.")
        pooled = pool(self.ov, hidden, mask, pooling)
        return self.ov.Model([pooled], [ids, mask], "encoder")

    def _embed(self, ids: Any, mask: Any) -> Any:
        ops, name = self.ops, "embeddings."
        words = ops.gather(self._tensor(name + "word_embeddings.weight"), ids, _ints(ops, 0))
        rows = self._tensor(name + "position_embeddings.weight")
        positions = ops.gather(rows, self._positions(mask), _ints(ops, 0))
        first_type = self.weights[f"{self.prefix}{name}token_type_embeddings.weight"][0]
        total = ops.add(ops.add(words, positions), ops.constant(np.array(first_type)))
        return self._norm(total, name + "LayerNorm")

    def _positions(self, mask: Any) -> Any:
        """Return the row of each token's position, from 0 (BERT) or after the padding id."""
        ops = self.ops
        counted = ops.cum_sum(mask, ops.constant(np.int64(1)))
        if self.config["model_type"] in _ROBERTA:
            padding = np.int32(self.config.get("pad_token_id", 1))
            return ops.add(ops.multiply(counted, mask), ops.constant(padding))
        # Padding is at the end: its rows are masked, and only have to exist.
        return ops.subtract(counted, ops.constant(np.int32(1)))

    def _attention_bias(self, mask: Any) -> Any:
        ops = self.ops
        absent = ops.subtract(ops.constant(np.float32(1)), mask)
        bias = ops.multiply(absent, ops.constant(np.float32(_MASKED)))
        return ops.unsqueeze(bias, _ints(ops, 1, 2))  # B, 1, 1, L

    def _layer(self, hidden: Any, bias: Any, name: str) -> Any:
        ops = self.ops
        query, key, value = (
            self._split_heads(self._linear(hidden, f"{name}attention.self.{part}"))
            for part in ("query", "key", "value")
        )
        mixed = ops.scaled_dot_product_attention(query, key, value, bias)
        joined = ops.reshape(
            ops.transpose(mixed, _ints(ops, 0, 2, 1, 3)), _ints(ops, 0, 0, self.hidden), True
        )
        attended = self._linear(joined, name + "attention.output.dense")
        hidden = self._norm(ops.add(attended, hidden), name + "attention.output.LayerNorm")
        inner = self._linear(hidden, name + "intermediate.dense")
        inner = ops.gelu(inner, _ACTIVATIONS[self.config.get("hidden_act", "gelu")])
        outer = self._linear(inner, name + "output.dense")
        return self._norm(ops.add(outer, hidden), name + "output.LayerNorm")

    def _split_heads(self, hidden: Any) -> Any:
        ops = self.ops
        parts = ops.reshape(hidden, _ints(ops, 0, 0, self.heads, self.hidden // self.heads), True)
        return ops.transpose(parts, _ints(ops, 0, 2, 1, 3))

    def _linear(self, hidden: Any, name: str) -> Any:
        product = self.ops.matmul(hidden, self._tensor(name + ".weight"), False, True)
        return self.ops.add(product, self._tensor(name + ".bias"))

    def _norm(self, hidden: Any, name: str) -> Any:
        ops, epsilon = self.ops, float(self.config.get("layer_norm_eps", 1e-12))
        scaled = ops.mvn(hidden, _ints(ops, -1), True, epsilon, "inside_sqrt")
        product = ops.multiply(scaled, self._tensor(name + ".weight"))
        return ops.add(product, self._tensor(name + ".bias"))

    def _tensor(self, name: str) -> Any:
        return self.ov.op.Constant(self.weights[self.prefix + name], shared_memory=True)


def pool(ov: Any, hidden: Any, mask: Any, pooling: Pooling) -> Any:
    """Return unit vectors (B × H) of token vectors (B × L × H), padding left out."""
    ops = ov.opset13
    if pooling == "cls":
        pooled = ops.gather(hidden, _ints(ops, 0), _ints(ops, 1))
        pooled = ops.squeeze(pooled, _ints(ops, 1))
    else:
        weight = ops.unsqueeze(ops.convert(mask, "f32"), _ints(ops, 2))
        total = ops.reduce_sum(ops.multiply(hidden, weight), _ints(ops, 1), False)
        pooled = ops.divide(total, ops.reduce_sum(weight, _ints(ops, 1), False))
    return ops.normalize_l2(pooled, _ints(ops, 1), 1e-12, "max")


def _ints(ops: Any, *values: int) -> Any:
    return ops.constant(np.array(values, dtype=np.int64))
