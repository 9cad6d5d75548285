"""The runtime's own edges: tokenizer, import, precision, requests."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from rag_app.models.embedding import runtime
from rag_app.models.embedding.recipe import UnsupportedModelError
from rag_app.models.embedding.runtime import (
    Batch,
    Runner,
    choose_precision,
    core_count,
    import_openvino,
)


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
