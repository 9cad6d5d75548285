"""Exact search by cosine: the best passages, each by its best node.

A first pass multiplies all rows, in float32 or quantised to eight bits. Its scores
are approximate, so they only choose candidates, with a margin that covers the error;
the best candidates in float32 are scored again in float64, each row by itself.
Order and scores therefore do not depend on how rows are spread over files.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from rag_app.store.array_types import Bools, Ints, Vector
from rag_app.store.engine.ranking import Scored, best_of, leading
from rag_app.store.engine.segments import VectorSegment

Floats = npt.NDArray[np.float64]
Q = TypeVar("Q")
N = TypeVar("N", bound=np.generic)
_CORES = os.cpu_count() or 1  # counting them takes a tenth of the time of a product
_MAX_GATHERED_SHARE = 0.25  # of rows that are selected: fewer are gathered before the product


class _VectorRows(Protocol[Q]):
    """Vectors, full or quantised."""

    share: ClassVar[int]

    def __len__(self) -> int: ...
    def prepared(self, unit: Vector) -> Q: ...
    def error(self, query: Q) -> float: ...
    def select(self, rows: slice | Bools) -> _VectorRows[Q]: ...
    def scores(self, query: Q, out: Vector) -> None: ...


class DenseIndex:
    """The vectors of one kind in one generation: segments, each with its live rows."""

    def __init__(self, segments: Sequence[tuple[VectorSegment, Bools | None]]) -> None:
        self.segments = [(segment, alive) for segment, alive in segments if segment.rows]
        passages = [segment.passages[segment.groups] for segment, _ in self.segments]
        self._passages = np.concatenate([np.empty(0, np.int64), *passages])
        unique, place = np.unique(self._passages, return_inverse=True)
        # Pieces of one passage may have come in several blobs; then groups are joined.
        self._place = place if len(unique) < len(self._passages) else None
        self._count = len(unique)

    def search(self, query: Vector) -> DenseSearch:
        """Return the search for a query of shape (dimension,), of any length above 0."""
        return DenseSearch(self, query)

    def kth(self, tops: npt.NDArray[np.float32], depth: int) -> float:
        """Return the score of rank ``depth`` among passages, from the best of each group."""
        if self._place is not None:
            joined = np.full(self._count, -np.inf, np.float32)
            np.maximum.at(joined, self._place, tops)
            tops = joined
        if depth >= len(tops):
            return -np.inf
        return float(np.partition(tops, len(tops) - depth)[len(tops) - depth])


class DenseSearch:
    """One query over an index: all rows are multiplied once, however many selections are ranked."""

    def __init__(self, index: DenseIndex, query: Vector) -> None:
        asked = query.astype(np.float64)
        norm = float(np.linalg.norm(asked))
        self._index = index
        self._unit = (asked / norm).astype(np.float32) if norm > 0.0 else None
        self._whole: dict[int, _Pass] = {}

    def best(self, depth: int, allowed: Bools | None) -> list[Scored]:
        """Return the ``depth`` best passages, and any that tie with the last one.

        Args:
            depth: how many passages.
            allowed: by passage row, which passages may be returned; ``None``: all.
        """
        unit = self._unit
        if depth < 1 or not self._index.segments or unit is None:
            return []
        passes = [self._pass(number, unit, allowed) for number in range(len(self._index.segments))]
        # No passage of a rank above ``depth`` scores less than this.
        least = self._index.kth(_joined([one.tops - one.error for one in passes]), depth)
        chosen = [(one.segment, _candidates(one, least)) for one in passes]
        passages = _joined([segment.passages[rows] for segment, rows in chosen])
        nodes = _joined([segment.nodes[rows] for segment, rows in chosen])
        vectors = _joined([segment.matrix[rows] for segment, rows in chosen])
        near = np.vecdot(vectors, unit)
        keep = leading(passages, near, depth, 2 * rounding_bound(len(unit)))
        return best_of(passages[keep], nodes[keep], _exact(vectors[keep], unit), depth)

    def _pass(self, number: int, unit: Vector, allowed: Bools | None) -> _Pass:
        """Return the first scores of a segment, of its live and allowed rows."""
        segment, alive = self._index.segments[number]
        if allowed is None:
            return self._all(number, unit)
        keep = allowed[segment.passages]
        sparse = np.count_nonzero(keep) < _MAX_GATHERED_SHARE * segment.rows
        if sparse and number not in self._whole:
            return _first_pass(segment, keep if alive is None else keep & alive, unit)
        whole = self._all(number, unit)
        sims = np.where(keep, whole.sims, np.float32(-np.inf))
        return _Pass(segment, sims, np.maximum.reduceat(sims, segment.groups), whole.error)

    def _all(self, number: int, unit: Vector) -> _Pass:
        if number not in self._whole:
            self._whole[number] = _first_pass(*self._index.segments[number], unit)
        return self._whole[number]


@dataclass(frozen=True, eq=False)
class FullVectors:
    """Unit vectors as they are, with the methods of :class:`QuantisedVectors`."""

    matrix: Vector
    share: ClassVar[int] = 20_000  # rows that a core takes at a time

    def __len__(self) -> int:
        return len(self.matrix)

    def prepared(self, unit: Vector) -> Vector:
        """Return a unit vector as :meth:`error` and :meth:`scores` take it."""
        return unit

    def error(self, unit: Vector) -> float:
        """Return how far a score of :meth:`scores` may be from the true product."""
        return rounding_bound(len(unit))

    def select(self, rows: slice | Bools) -> FullVectors:
        """Return some rows."""
        return FullVectors(self.matrix[rows])

    def scores(self, unit: Vector, out: Vector) -> None:
        """Write the product of each row with a unit vector into ``out`` of shape (n,)."""
        np.vecdot(self.matrix, unit, out=out)


@dataclass(frozen=True, slots=True, eq=False)
class _Pass:
    """The first scores of a segment: of each row, the best of each group, and their error.

    Rows that are not searched have -inf.
    """

    segment: VectorSegment
    sims: Vector
    tops: Vector
    error: float


def rounding_bound(dimension: int) -> float:
    """Return the largest error of a float32 score.

    The standard bound n·u / (1 - n·u) on the error of a dot product of unit
    vectors, u = 2⁻²⁴ (Higham, Accuracy and Stability of Numerical Algorithms,
    section 3.1), widened for lengths that are 1 only to 10⁻³ and for the sums
    and differences that are made with it.
    """
    unit = (dimension + 16) * 2.0**-24
    return 1.005 * unit / (1.0 - unit)


def _first_pass(segment: VectorSegment, keep: Bools | None, unit: Vector) -> _Pass:
    vectors: _VectorRows[Any] = segment.quantised or FullVectors(segment.matrix)
    query = vectors.prepared(unit)
    if keep is None:
        sims = _product(vectors, query)
    elif np.count_nonzero(keep) < _MAX_GATHERED_SHARE * segment.rows:
        sims = np.full(segment.rows, -np.inf, np.float32)
        sims[keep] = _product(vectors.select(keep), query)
    else:
        sims = _product(vectors, query)
        sims[~keep] = -np.inf
    return _Pass(segment, sims, np.maximum.reduceat(sims, segment.groups), vectors.error(query))


def _candidates(one: _Pass, least: float) -> Ints:
    """Return the rows that may be the best of a passage whose score may be ``least`` or more."""
    highest = one.tops + np.float32(one.error)
    groups = np.flatnonzero((highest >= least) & (highest > -np.inf))
    starts = one.segment.groups[groups]
    sizes = one.segment.bounds[groups + 1] - starts
    # All rows of these groups, one range after the other.
    rows: Ints = np.arange(int(sizes.sum())) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    lowest = np.repeat(one.tops[groups] - np.float32(2 * one.error), sizes)
    return rows[one.sims[rows] >= lowest]


def _product(vectors: _VectorRows[Q], query: Q) -> Vector:
    """Return the score of each row with a query."""
    rows = len(vectors)
    found = np.empty(rows, np.float32)
    if rows <= vectors.share:
        vectors.scores(query, found)
    else:
        _share_out(vectors, query, found)
    return found


def _share_out(vectors: _VectorRows[Q], query: Q, found: Vector) -> None:
    """Write the scores of a large number of rows, which the cores share.

    One core alone does not use the bandwidth of the memory. BLAS shares too, but its
    threads wait for one another in a busy loop: beside other work (queries in other
    threads, other programs) a product takes many times as long. Here a core that
    is busy elsewhere takes no share, and nothing waits for it.
    """
    lows = range(0, len(vectors), vectors.share)
    left = deque(slice(low, low + vectors.share) for low in lows)
    helpers = min(_CORES, len(left)) - 1

    def work() -> None:
        while True:
            try:
                share = left.popleft()
            except IndexError:  # nothing is left
                return
            vectors.select(share).scores(query, found[share])

    executor = ThreadPoolExecutor(helpers, "product") if helpers > 0 else None
    helping = [executor.submit(work) for _ in range(helpers)] if executor else []
    work()
    for helper in helping:
        if not helper.cancel():
            helper.result()
    if executor:
        executor.shutdown(wait=False)


def _joined(arrays: Sequence[npt.NDArray[N]]) -> npt.NDArray[N]:
    """Return arrays as one; most indexes have one segment, which is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _exact(vectors: Vector, unit: Vector) -> Floats:
    # The product of two float32 numbers is exact in float64, and the sum of a
    # row does not depend on the other rows.
    products = vectors.astype(np.float64) * unit.astype(np.float64)
    scores: Floats = np.clip(products.sum(axis=1), -1.0, 1.0)
    return scores
