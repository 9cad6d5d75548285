"""Files of arrays: exact, mapped, and noticed when damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag_app.store.engine import array_files
from rag_app.store.engine.array_files import ArrayFileError, create_arrays, open_arrays


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "x.arrays"
    with create_arrays(file) as writer:
        with writer.array("matrix", "<f4", (3,)) as append:
            append(np.ones((2, 3), np.float32))
            append(np.zeros((0, 3), np.float32))
            append(np.full((1, 3), 2, np.float32))
        writer.put("rows", np.arange(5), "<i8")
        writer.put("none", np.empty(0), "<u4")
        writer.finish({"how": "test"})
    return file


def test_arrays_come_back(path: Path) -> None:
    arrays = open_arrays(path, check=True)
    assert arrays["matrix"].tolist() == [[1, 1, 1], [1, 1, 1], [2, 2, 2]]
    assert arrays["rows"].tolist() == [0, 1, 2, 3, 4]
    assert arrays["none"].tolist() == []
    assert not arrays["matrix"].flags.writeable


def test_arrays_outlive_their_file(path: Path) -> None:
    arrays = open_arrays(path)
    path.unlink()
    assert arrays["rows"].sum() == 10


def test_no_draft_is_left(path: Path) -> None:
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with create_arrays(tmp_path / "y.arrays") as writer:
            writer.put("rows", np.arange(5), "<i8")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cut", [1, 8, 31, 40, 100, 10_000])
def test_a_file_cut_short_is_noticed_without_reading_it(
    path: Path, cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(array_files, "MAX_CHECKED_BYTES", 0)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(ArrayFileError):
        open_arrays(path)


def test_every_flipped_byte_is_noticed_by_a_check(path: Path) -> None:
    data = path.read_bytes()
    used = open_arrays(path)
    for at in range(0, len(data), 3):
        harmed = bytearray(data)
        harmed[at] ^= 0x55
        path.write_bytes(harmed)
        try:
            arrays = open_arrays(path, check=True)
        except (ArrayFileError, ValueError):
            continue
        # Only the gaps between arrays may change unnoticed: nobody reads them.
        assert all(np.array_equal(arrays[name], used[name]) for name in used)


def test_a_small_file_is_checked_whole_on_opening(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArrayFileError, match="'matrix' does not match its checksum"):
        open_arrays(path)


def test_arrays_of_objects_are_never_read(path: Path) -> None:
    with pytest.raises(ArrayFileError, match="numbers of type"):
        array_files._view(None, array_files._ArrayEntry("|O8", (1,), 0, 0), path)  # type: ignore[arg-type]


def test_a_missing_file_is_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_arrays(tmp_path / "none")
