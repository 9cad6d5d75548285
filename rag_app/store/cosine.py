"""Exact search by cosine: the best passages, each by its best node.

A first pass multiplies all rows in float32. How BLAS rounds depends on where
a row stands, so these scores only choose candidates, with a margin that covers
the rounding; the candidates are scored again in float64, each by itself. Order
and scores therefore do not depend on how rows are spread over files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rag_app.store.codec import Ints
from rag_app.store.protocol import Vector
from rag_app.store.segments import Bools, VectorSegment

_SPARSE = 0.25  # share of selected rows below which they are gathered before the product
_SHARE = 10_000  # rows that are worth a thread of their own


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage, its best node (both by row), and the node's score."""

    passage: int
    node: int
    score: float


class VectorView:
    """The vectors of one kind in one generation: segments, and which of their rows live."""

    def __init__(self, segments: Sequence[tuple[VectorSegment, Bools | None]]) -> None:
        self.segments = [(segment, alive) for segment, alive in segments if segment.rows]
        passages = [segment.passages[segment.groups] for segment, _ in self.segments]
        self._passages = np.concatenate([np.empty(0, np.int64), *passages])
        unique, place = np.unique(self._passages, return_inverse=True)
        # Pieces of one passage may have come in several parts; then groups are joined.
        self._place = place if len(unique) < len(self._passages) else None
        self._count = len(unique)

    def search(self, query: Vector, depth: int, allowed: Bools | None) -> list[Scored]:
        """Return the ``depth`` best passages, and any that tie with the last one.

        Args:
            query: shape (dimension,), any length above 0.
            depth: how many passages.
            allowed: by passage row, which passages may be returned; ``None``: all.
        """
        asked = query.astype(np.float64)
        norm = float(np.linalg.norm(asked))
        if depth < 1 or not self.segments or not norm > 0.0:
            return []
        unit = (asked / norm).astype(np.float32)
        sims = [_similarities(segment, alive, unit, allowed) for segment, alive in self.segments]
        tops = [
            np.maximum.reduceat(sim, segment.groups)
            for sim, (segment, _) in zip(sims, self.segments, strict=True)
        ]
        margin = rounding_bound(len(unit))
        least = self._kth(np.concatenate(tops), depth) - margin
        found: list[Scored] = []
        for sim, top, (segment, _) in zip(sims, tops, self.segments, strict=True):
            rows = _candidates(sim, top, segment, least, margin)
            exact = _exact(segment.matrix, rows, unit)
            passages, nodes = segment.passages[rows].tolist(), segment.nodes[rows].tolist()
            found += map(Scored, passages, nodes, exact)
        return best_of(found, depth)

    def _kth(self, tops: npt.NDArray[np.float32], depth: int) -> float:
        if self._place is not None:
            joined = np.full(self._count, -np.inf, np.float32)
            np.maximum.at(joined, self._place, tops)
            tops = joined
        if depth >= len(tops):
            return -np.inf
        return float(np.partition(tops, len(tops) - depth)[len(tops) - depth])


def rounding_bound(dimension: int) -> float:
    """Return how far apart two float32 scores may lie that are equal in truth.

    Twice the standard bound n·u / (1 − n·u) on the error of a dot product of
    unit vectors, u = 2⁻²⁴ (Higham, Accuracy and Stability of Numerical
    Algorithms, section 3.1), widened for lengths that are 1 only to 10⁻³.
    """
    unit = (dimension + 8) * 2.0**-24
    return 2.01 * unit / (1.0 - unit)


def best_of(found: Sequence[Scored], depth: int) -> list[Scored]:
    """Return each passage once, by its best node, down to the score of rank ``depth``."""
    best: dict[int, Scored] = {}
    for item in sorted(found, key=lambda item: (-item.score, item.node)):
        best.setdefault(item.passage, item)
    ranked = list(best.values())
    if len(ranked) <= depth:
        return ranked
    last = ranked[depth - 1].score
    return [item for item in ranked if item.score >= last]


def _similarities(
    segment: VectorSegment, alive: Bools | None, unit: Vector, allowed: Bools | None
) -> Vector:
    keep = alive
    if allowed is not None:
        chosen = allowed[segment.passages]
        keep = chosen if keep is None else chosen & keep
    if keep is None:
        return _product(segment.matrix, unit)
    if np.count_nonzero(keep) < _SPARSE * segment.rows:
        sims = np.full(segment.rows, -np.inf, np.float32)
        sims[keep] = _product(segment.matrix[keep], unit)
        return sims
    sims = _product(segment.matrix, unit)
    sims[~keep] = -np.inf
    return sims


def _candidates(
    sims: Vector, tops: Vector, segment: VectorSegment, least: float, margin: float
) -> Ints:
    """Return the rows that may be the best of a passage that may be among the best."""
    groups = np.flatnonzero((tops >= least) & (tops > -np.inf))
    starts = segment.groups[groups]
    sizes = np.append(segment.groups, segment.rows)[groups + 1] - starts
    # All rows of these groups, one range after the other.
    rows = np.arange(int(sizes.sum())) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    return rows[sims[rows] >= np.repeat(tops[groups] - margin, sizes)]


def _product(matrix: Vector, unit: Vector) -> Vector:
    """Return the dot product of each row with ``unit``, a large one shared among the cores.

    One core reads memory slower than memory gives. BLAS shares too, but its
    threads wait for one another in a busy loop: beside other work (queries in other
    threads, other programs) a product takes many times as long.
    """
    found = np.empty(len(matrix), np.float32)
    shares = min(os.cpu_count() or 1, len(matrix) // _SHARE)
    if shares < 2:
        return np.vecdot(matrix, unit, out=found)
    _, first, *bounds = np.linspace(0, len(matrix), shares + 1, dtype=int).tolist()
    with ThreadPoolExecutor(shares - 1, "product") as executor:
        others = [
            executor.submit(np.vecdot, matrix[low:high], unit, out=found[low:high])
            for low, high in pairwise([first, *bounds])
        ]
        np.vecdot(matrix[:first], unit, out=found[:first])
    for other in others:
        other.result()
    return found


def _exact(matrix: Vector, rows: Ints, unit: Vector) -> list[float]:
    # The product of two float32 numbers is exact in float64, and the sum of a
    # row does not depend on the other rows.
    products = matrix[rows].astype(np.float64) * unit.astype(np.float64)
    scores: list[float] = np.clip(products.sum(axis=1), -1.0, 1.0).tolist()
    return scores
