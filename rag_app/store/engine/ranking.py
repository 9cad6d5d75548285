"""Scores of rows → the best passages, each by its best node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rag_app.store.array_types import Bools, Ints
from rag_app.store.engine.segments import runs

Scores = npt.NDArray[np.float64] | npt.NDArray[np.float32]


class Scored(NamedTuple):
    """A passage, its best node (both by row), and the node's score."""

    passage: int
    node: int
    score: float


def leading(passages: Ints, scores: Scores, depth: int, margin: float = 0.0) -> Bools:
    """Return which rows may be among the best ``depth`` passages, ties of the last included.

    Args:
        passages: row of the passage that each node leads to, shape (n,).
        scores: shape (n,).
        depth: how many passages.
        margin: by how much two scores may be in the wrong order.
    """
    if len(scores) <= depth:
        return np.ones(len(scores), np.bool_)
    order = np.argsort(passages, kind="stable")
    best = np.maximum.reduceat(scores[order], runs(passages[order]))
    if len(best) <= depth:
        return np.ones(len(scores), np.bool_)
    least = np.partition(best, len(best) - depth)[len(best) - depth]
    found: Bools = scores >= least - margin
    return found


def best_of(passages: Ints, nodes: Ints, scores: Scores, depth: int) -> list[Scored]:
    """Return each passage once, by its best node, down to the score of rank ``depth``."""
    order = np.lexsort((nodes, -scores))
    first: dict[int, int] = {}
    for place, passage in enumerate(passages[order].tolist()):
        first.setdefault(passage, place)
    kept = order[list(first.values())]
    if len(kept) > depth:
        kept = kept[scores[kept] >= scores[kept[depth - 1]]]
    columns = (passages[kept].tolist(), nodes[kept].tolist(), scores[kept].tolist())
    return list(map(Scored, *columns))
