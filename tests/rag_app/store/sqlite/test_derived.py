"""Derived files: segments come back from a file, and a wrong file is refused or skipped."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from pipelines.errors import IndexDamagedError
from rag_app.store.engine.array_files import ArrayFileError, create_arrays
from rag_app.store.engine.segments import VectorSegment, WordSegment
from rag_app.store.sqlite import derived
from rag_app.store.sqlite.derived import DerivedFile, open_segment, vector_segment, word_segment

INFO = derived.about("an index", "vectors", 1, 3)


def vectors(count=5, blob=1):
    rows = np.random.default_rng(count).normal(size=(count, 4))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    numbers = np.arange(count)
    return VectorSegment(np.array([blob]), np.array([count]), numbers, numbers, rows)


def words():
    return WordSegment(
        *(np.array([1]), np.array([2]), np.array([7, 8]), np.array([7, 8])),
        lengths=np.array([3, 1]),
        terms=np.array([2, 5]),
        starts=np.array([0, 2, 3]),
        entries=np.array([0, 1, 0], np.uint32),
        counts=np.array([2, 1, 1], np.uint32),
    )


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in vars(one)
        if name != "quantised"
    )


def written(path, segment, live=(1,)):
    return derived.write_vectors(path, [segment], set(live), lambda _: None, 4, INFO)


def test_vectors_come_back_and_many_are_quantised_as_well(tmp_path, monkeypatch):
    for limit in (6, 5):
        monkeypatch.setattr(derived, "MIN_QUANTISED_ROWS", limit)
        path = tmp_path / f"{limit}.arrays"
        written(path, vectors())
        again = open_segment(vector_segment, path, check=True, info=INFO)
        assert same(vectors(), again)
        assert (again.quantised is not None) == (limit == 5)


def test_words_come_back(tmp_path):
    path = tmp_path / "words.arrays"
    derived.write_words(path, [words()], {1}, INFO)
    assert same(words(), open_segment(word_segment, path))


def test_only_live_blobs_are_written(tmp_path):
    path = tmp_path / "vectors.arrays"
    derived.write_vectors(path, [vectors(3, 1), vectors(2, 9)], {9}, lambda _: None, 4, INFO)
    again = open_segment(vector_segment, path)
    assert (again.blobs.tolist(), again.rows) == ([9], 2)


@pytest.mark.parametrize("missing", ["matrix", "parts", "passages"])
def test_a_file_without_an_array_is_refused_by_its_name(tmp_path, missing):
    path = tmp_path / "vectors.arrays"
    arrays = {"parts": [1], "ends": [2], "nodes": [1, 2], "passages": [1, 2]}
    with create_arrays(path) as file:
        if missing != "matrix":
            file.put("matrix", np.eye(2, 4, dtype=np.float32), "<f4")
        for name, values in arrays.items():
            if name != missing:
                file.put(name, np.array(values), "<i8")
        file.finish(INFO)
    with pytest.raises(ArrayFileError, match=missing):
        open_segment(vector_segment, path)


def test_arrays_of_other_lengths_are_refused(tmp_path):
    path = tmp_path / "vectors.arrays"
    with create_arrays(path) as file:
        file.put("matrix", np.eye(3, 4, dtype=np.float32), "<f4")
        for name, values in {
            "parts": [1],
            "ends": [2],
            "nodes": [1, 2],
            "passages": [1, 2],
        }.items():
            file.put(name, np.array(values), "<i8")
        file.finish(INFO)
    with pytest.raises(ArrayFileError, match="do not fit together"):
        open_segment(vector_segment, path)


def test_a_file_that_is_gone_or_another_one_is_not_used(tmp_path, caplog):
    identity = written(tmp_path / "a.arrays", vectors())
    written(tmp_path / "b.arrays", vectors(4))
    read = vector_segment
    assert derived.try_open(read, tmp_path, DerivedFile("a.arrays", identity, INFO)) is not None
    assert derived.try_open(read, tmp_path, DerivedFile("c.arrays", identity, INFO)) is None
    with caplog.at_level(logging.WARNING):
        assert derived.try_open(read, tmp_path, DerivedFile("b.arrays", identity, INFO)) is None
    assert "b.arrays is not used" in caplog.text


def test_files_are_listed_by_kind_and_none_lies_elsewhere(empty):
    row = "INSERT INTO derived VALUES (?, ?, ?, 1, 1, 1, 1)"
    good = "rag-derived/vectors-1-x-0000000001-000001-0a1b2c3d.arrays"
    empty.execute(row, (good, "vectors", 1))
    assert [listed.file for listed in derived.files_of(empty, "vectors", 1)] == [good]
    assert derived.files_of(empty, "words", 1) == derived.files_of(empty, "vectors", 2) == []
    empty.execute(row, ("../elsewhere.arrays", "vectors", 1))
    with pytest.raises(IndexDamagedError, match="elsewhere"):
        derived.all_files(empty)
