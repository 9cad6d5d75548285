"""Weights as arrays over the file."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_app.models.embedding.recipe import UnsupportedModelError
from rag_app.models.embedding.weights import map_safetensors


def write(path: Path, kind: str, data: bytes, shape: list[int], **other: Any) -> Path:
    entry = {"dtype": kind, "shape": shape, "data_offsets": [0, len(data)], **other}
    header = json.dumps({"__metadata__": {"format": "pt"}, "w": entry}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)
    return path


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("F32", np.array([1.5, -2, 0, 8], np.float32).tobytes()),
        ("F16", np.array([1.5, -2, 0, 8], np.float16).tobytes()),
        ("BF16", np.array([1.5, -2, 0, 8], np.float32).view(np.uint16)[1::2].tobytes()),
    ],
)
def test_each_number_format_is_read_as_float32(tmp_path: Path, kind: str, data: bytes) -> None:
    weights = map_safetensors(write(tmp_path / "w", kind, data, [2, 2]))
    assert weights["w"].dtype == np.float32
    assert weights["w"].tolist() == [[1.5, -2], [0, 8]]


def test_writing_to_a_view_does_not_change_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "w", "F32", bytes(8), [2])
    before = path.read_bytes()
    map_safetensors(path)["w"][:] = 7
    assert path.read_bytes() == before


def test_pages_put_back_are_read_again(tmp_path: Path) -> None:
    data = np.arange(1 << 20, dtype=np.float32)
    weights = map_safetensors(write(tmp_path / "w", "F32", data.tobytes(), [len(data)]))
    assert (weights["w"] == data).all()
    before = _mapped_kb(tmp_path / "w")
    weights.put_back()
    assert before > 4000
    assert _mapped_kb(tmp_path / "w") == 0
    assert (weights["w"] == data).all()


def _mapped_kb(path: Path) -> int:
    """How much of a file's mapping lies in this process's memory."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.endswith(str(path)))
    resident = next(line for line in lines[start:] if line.startswith("Rss:"))
    return int(resident.split()[1])


def test_whole_numbers_are_left_out(tmp_path: Path) -> None:
    assert map_safetensors(write(tmp_path / "w", "I64", bytes(16), [2])) == {}


@pytest.mark.parametrize(
    ("data", "shape", "other"),
    [
        (bytes(8), [3], {}),
        (bytes(8), [2], {"data_offsets": [0, 6]}),
        (bytes(8), [2], {"data_offsets": None}),
    ],
)
def test_a_damaged_file_is_refused(
    tmp_path: Path, data: bytes, shape: list[int], other: dict[str, Any]
) -> None:
    with pytest.raises(UnsupportedModelError, match="cannot be read"):
        map_safetensors(write(tmp_path / "w", "F32", data, shape, **other))


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 16, struct.pack("<Q", 4) + b"nope"])
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(UnsupportedModelError, match="cannot be read"):
        map_safetensors(tmp_path / "w")
