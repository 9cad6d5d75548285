"""The runtime's own edges: tokenizer, import, precision, requests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_app.models.embedding import runtime
from rag_app.models.embedding.bert import build_encoder, is_buildable
from rag_app.models.embedding.folder import locate
from rag_app.models.embedding.recipe import UnsupportedModelError
from rag_app.models.embedding.runtime import (
    Batch,
    Runner,
    choose_precision,
    core_count,
    import_openvino,
)
from rag_app.models.embedding.tokenizer import TextTokenizer


def test_a_folder_without_tokenizer_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModelError, match=r"no tokenizer\.json"):
        TextTokenizer(tmp_path, max_tokens=8)


def test_a_damaged_tokenizer_is_unsupported(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UnsupportedModelError, match="does not load"):
        TextTokenizer(tmp_path, max_tokens=8)


def test_the_tokenizer_cuts_at_the_models_length_not_at_its_files() -> None:
    """The file of the default model cuts at 128 and pads to 128."""
    tokenizer = TextTokenizer(locate("minilm").path, max_tokens=200)
    assert [len(ids) for ids in tokenizer.encode(["word " * 300, "word"])] == [200, 3]
    assert tokenizer.count(["word " * 300]) == [302]


def test_lower_case_is_applied_when_the_model_says_so() -> None:
    class Cased(TextTokenizer):
        pass

    folder = locate("minilm").path
    assert Cased(folder, max_tokens=8, lower_case=True).encode(["WORD"]) == TextTokenizer(
        folder, max_tokens=8
    ).encode(["word"])


def test_openvino_that_is_not_installed_is_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(UnsupportedModelError, match="does not import"):
        import_openvino()
    assert sys.modules.get("openvino_telemetry", "absent") == "absent"


@pytest.mark.parametrize(
    ("capabilities", "expected"), [(["FP32", "BF16"], "bfloat16"), (["FP32"], "float32")]
)
def test_precision_is_what_the_cpu_computes_natively(
    monkeypatch: pytest.MonkeyPatch, capabilities: list[str], expected: str
) -> None:
    class Core:
        def get_property(self, *_: str) -> list[str]:
            return capabilities

    monkeypatch.setattr(runtime, "core", Core)
    assert choose_precision("auto") == expected
    assert choose_precision("float32") == "float32"


def test_core_count_without_affinity_is_that_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert core_count() >= 1
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    assert core_count() >= 1


def test_requests_come_back_after_a_caller_stops_half_way() -> None:
    ov = import_openvino()
    ops = ov.opset13
    ids = ops.parameter([-1, -1], ov.Type.i32, "input_ids")
    mask = ops.parameter([-1, -1], ov.Type.i32, "attention_mask")
    total = ops.convert(ops.add(ids, mask), "f32")
    model = ov.Model([total], [ids, mask], "sum")
    runner = Runner(model, precision="float32", threads=1)
    ones = np.ones((1, 4), dtype=np.int32)
    batches = [Batch(np.array([row]), ones * row, ones) for row in range(8)]
    for _ in range(4):
        stopped: Any = runner.run(batches)
        next(stopped)
        stopped.close()
    assert [rows.tolist() for rows, _ in runner.run(batches)] == [[row] for row in range(8)]
    assert [float(v[0, 0]) for _, v in runner.run(batches)] == [row + 1.0 for row in range(8)]


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
