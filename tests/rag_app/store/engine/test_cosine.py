"""Exact search by cosine, against the plain definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.store.engine import cosine
from rag_app.store.engine.cosine import DenseIndex, rounding_bound
from rag_app.store.engine.ranking import Scored
from rag_app.store.engine.segments import VectorSegment


def segment(
    passages: list[int], rng: np.random.Generator, *, dimension: int = 8, first: int = 0
) -> VectorSegment:
    rows = len(passages)
    # Few different vectors, so that scores tie.
    choices = rng.standard_normal((max(1, rows // 2), dimension)).astype(np.float32)
    choices /= np.linalg.norm(choices, axis=1, keepdims=True)
    return VectorSegment(
        blobs=np.array([first + 1]),
        ends=np.array([rows]),
        nodes=np.arange(first, first + rows),
        passages=np.array(sorted(passages)),
        matrix=choices[rng.integers(0, len(choices), rows)],
    )


def plain(index: DenseIndex, query: np.ndarray, depth: int, allowed: np.ndarray | None):
    """Score every row by itself in float64 and keep the best of each passage."""
    exact = query.astype(np.float64)
    unit = (exact / np.linalg.norm(exact)).astype(np.float32)
    found = []
    for held, alive in index.segments:
        for row in range(held.rows):
            passage = int(held.passages[row])
            if (alive is not None and not alive[row]) or (
                allowed is not None and not allowed[passage]
            ):
                continue
            products = held.matrix[row].astype(np.float64) * unit.astype(np.float64)
            score = float(np.clip(products[None, :].sum(axis=1)[0], -1, 1))
            found.append(Scored(passage, int(held.nodes[row]), score))
    best: dict[int, Scored] = {}
    for item in sorted(found, key=lambda item: (-item.score, item.node)):
        best.setdefault(item.passage, item)
    ranked = list(best.values())
    return [item for item in ranked if item.score >= ranked[:depth][-1].score]


@given(
    seed=st.integers(0, 2**16),
    groups=st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=30), max_size=3),
    depth=st.integers(1, 15),
    masks=st.booleans(),
)
def test_search_equals_scoring_every_row(
    seed: int, groups: list[list[int]], depth: int, masks: bool
) -> None:
    rng = np.random.default_rng(seed)
    segments = [segment(rows, rng, first=100 * n) for n, rows in enumerate(groups)]
    alive = [rng.random(held.rows) < 0.7 if masks else None for held in segments]
    index = DenseIndex(list(zip(segments, alive, strict=True)))
    query = rng.standard_normal(8).astype(np.float32)
    allowed = rng.random(13) < 0.6 if masks else None
    assert index.search(query).best(depth, allowed) == plain(index, query, depth, allowed)


@given(
    seed=st.integers(0, 2**16),
    groups=st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=30), max_size=3),
    shares=st.lists(st.sampled_from([0.0, 0.1, 0.6, 1.0]), min_size=1, max_size=4),
    whole_at=st.integers(0, 4),
)
def test_one_search_of_several_selections_finds_in_each_what_a_new_one_finds(
    seed: int, groups: list[list[int]], shares: list[float], whole_at: int
) -> None:
    rng = np.random.default_rng(seed)
    segments = [segment(rows, rng, first=100 * n) for n, rows in enumerate(groups)]
    index = DenseIndex([(held, rng.random(held.rows) < 0.7) for held in segments])
    query = rng.standard_normal(8).astype(np.float32)
    selections: list[np.ndarray | None] = [rng.random(13) < share for share in shares]
    selections.insert(whole_at, None)
    search = index.search(query)
    for allowed in selections:
        assert search.best(5, allowed) == plain(index, query, 5, allowed)


def test_search_of_nothing_is_empty() -> None:
    rng = np.random.default_rng(0)
    assert DenseIndex([]).search(np.ones(8, np.float32)).best(5, None) == []
    index = DenseIndex([(segment([1, 2], rng), None)])
    assert index.search(np.zeros(8, np.float32)).best(5, None) == []
    assert index.search(np.full(8, np.nan, np.float32)).best(5, None) == []
    assert index.search(np.ones(8, np.float32)).best(0, None) == []


def test_k_passages_come_back_however_many_children_they_have() -> None:
    """Case 9: many children of one parent do not crowd the others out."""
    rng = np.random.default_rng(1)
    held = segment([1] * 200 + [2, 3, 4, 5, 6], rng)
    found = DenseIndex([(held, None)]).search(held.matrix[0]).best(5, None)
    assert len({item.passage for item in found}) >= 5


@pytest.mark.parametrize("cores", [1, 2, 7])
def test_a_product_shared_among_cores_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    rng = np.random.default_rng(2)
    held = segment(rng.integers(0, 99, 2000).tolist(), rng, dimension=384)
    query = rng.standard_normal(384).astype(np.float32)
    small = DenseIndex([(held, None)]).search(query).best(10, None)
    monkeypatch.setattr("rag_app.store.engine.cosine.FullVectors.share", 10)
    monkeypatch.setattr(cosine, "_CORES", cores)
    assert DenseIndex([(held, None)]).search(query).best(10, None) == small


@pytest.mark.parametrize("dimension", [8, 384, 1536])
def test_the_rounding_bound_holds(dimension: int) -> None:
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((500, dimension)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = rows[0]
    exact = (rows.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    assert np.abs((rows @ query) - exact).max() < rounding_bound(dimension)
