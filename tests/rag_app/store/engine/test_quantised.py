"""Quantised vectors: the bound on their error, and searches that keep to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.store.engine import cosine
from rag_app.store.engine.array_files import ArrayFileError, create_arrays
from rag_app.store.engine.cosine import DenseIndex, FullVectors
from rag_app.store.engine.quantised import QuantisedVectors, quantise
from rag_app.store.engine.segments import VectorSegment
from rag_app.store.sqlite import derived
from rag_app.store.sqlite.schema import DERIVED
from rag_app.store.sqlite.store import create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared, vector


def rows_of(seed: int, count: int, dimension: int, sort: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((count, dimension)).astype(np.float32)
    if sort == "one number stands out":
        rows[:, 0] *= 100
    elif sort == "few directions":
        rows = rows[rng.integers(0, min(2, count), count)]
    elif sort == "one number each":
        rows = np.eye(dimension, dtype=np.float32)[rng.integers(0, dimension, count)]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


SORTS = ("even", "one number stands out", "few directions", "one number each")


@given(
    seed=st.integers(0, 2**16),
    dimension=st.sampled_from([1, 8, 384, 1536]),
    sort=st.sampled_from(SORTS),
)
def test_no_score_of_quantised_vectors_is_farther_off_than_the_bound(
    seed: int, dimension: int, sort: str
) -> None:
    rows = rows_of(seed, 40, dimension, sort)
    query = rows_of(seed + 1, 1, dimension, sort)[0]
    quantised = QuantisedVectors(*quantise(rows))
    scores = np.empty(len(rows), np.float32)
    prepared_query = quantised.prepared(query)
    quantised.scores(prepared_query, scores)
    exact = rows.astype(np.float64) @ query.astype(np.float64)
    assert np.abs(scores - exact).max() <= quantised.error(prepared_query)


@given(
    seed=st.integers(0, 2**16),
    sort=st.sampled_from(SORTS),
    depth=st.integers(1, 30),
    chosen=st.sampled_from([None, 0.1, 0.7]),
)
def test_a_search_by_quantised_vectors_finds_what_a_search_of_the_vectors_finds(
    seed: int, sort: str, depth: int, chosen: float | None
) -> None:
    rng = np.random.default_rng(seed)
    rows = rows_of(seed, 200, 32, sort)
    passages = np.sort(rng.integers(0, 60, len(rows)))
    plain = VectorSegment(
        np.array([1]), np.array([len(rows)]), np.arange(len(rows)), passages, rows
    )
    quantised = VectorSegment(
        plain.blobs, plain.ends, plain.nodes, passages, rows, QuantisedVectors(*quantise(rows))
    )
    allowed = None if chosen is None else rng.random(60) < chosen
    query = rows_of(seed + 1, 1, 32, sort)[0]
    expected = DenseIndex([(plain, None)]).search(query).best(depth, allowed)
    assert DenseIndex([(quantised, None)]).search(query).best(depth, allowed) == expected


def test_a_long_list_of_quantised_vectors_shared_among_cores_gives_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = rows_of(0, 2000, 64, "even")
    numbers = np.arange(len(rows))
    segment = VectorSegment(
        np.array([1]),
        np.array([len(rows)]),
        numbers,
        numbers,
        rows,
        QuantisedVectors(*quantise(rows)),
    )
    index = DenseIndex([(segment, None)])
    whole = index.search(rows[5]).best(10, None)
    monkeypatch.setattr(QuantisedVectors, "share", 7)
    monkeypatch.setattr(cosine, "_CORES", 5)
    assert index.search(rows[5]).best(10, None) == whole


def test_a_share_that_fails_fails_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(0, 30, 8, "even")
    numbers = np.arange(len(rows))
    segment = VectorSegment(np.array([1]), np.array([len(rows)]), numbers, numbers, rows)
    monkeypatch.setattr(FullVectors, "share", 7)

    def failing(self: FullVectors, unit: np.ndarray, out: np.ndarray) -> None:
        raise IndexError("out of range")

    monkeypatch.setattr(FullVectors, "scores", failing)
    with pytest.raises(IndexError):
        DenseIndex([(segment, None)]).search(rows[0]).best(5, None)


def test_a_file_below_the_limit_has_no_quantised_vectors_and_one_above_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [f"Sentence {n} of the page. And another one, {n}." for n in range(20)]
    found = []
    for least in (10_000, 1):
        monkeypatch.setattr(derived, "MIN_QUANTISED_ROWS", least)
        store = create_store(tmp_path / str(least), CONFIG)
        with store.writer() as writer:
            writer.put(prepared("/a.pdf", pages))
        (file,) = (tmp_path / str(least) / DERIVED).glob("vectors-*")
        segment = derived.open_segment(derived.vector_segment, file, check=True)
        assert (segment.quantised is not None) == (least == 1)
        assert store.verify() == []
        store.close()
        with open_store(tmp_path / str(least)).snapshot() as snapshot:
            found.append(snapshot.search_vectors("child-128", vector("Sentence 7"), 5))
    assert found[0] == found[1]


def test_quantised_vectors_that_do_not_fit_their_vectors_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.arrays"
    rows = rows_of(0, 6, 8, "even")
    values, scales, error = quantise(rows[:5])
    with create_arrays(path) as file:
        file.put("matrix", rows, "<f4")
        for name, rows_of_name in (("parts", [1]), ("ends", [6]), ("nodes", range(6))):
            file.put(name, np.array(rows_of_name), "<i8")
        file.put("passages", np.arange(6), "<i8")
        file.put("codes", values, "|i1")
        file.put("scales", scales, "<f4")
        file.put("rest", np.array([error]), "<f4")
        file.finish({"how": "vectors"})
    with pytest.raises(ArrayFileError, match="quantised vectors do not fit"):
        derived.open_segment(derived.vector_segment, path)
