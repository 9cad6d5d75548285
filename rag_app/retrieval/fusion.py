"""Several rankings → one. Pure: keys, ranks and scores, nothing of LlamaIndex.

Reciprocal rank fusion: G. V. Cormack, C. L. A. Clarke, S. Büttcher, "Reciprocal
Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR
2009. Convex combination of min-max-normalised scores: S. Bruch, S. Gai, A.
Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023.

Every function takes lists that are ordered best first and returns the keys of
all lists, best first, equal scores by key. A key counts once per list, with its
best place there: repetitions are taken out before ranks are counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pipelines.errors import FusionError
from rag_app import bounds
from rag_app.bounds import shown

Scored = tuple[str, float]


class Contribution(NamedTuple):
    """What one list added to one key's score.

    Attributes:
        source: position of the list among those given, from 0.
        rank: place of the key in that list, from 1.
        value: the amount added.
    """

    source: int
    rank: int
    value: float


class Fused(NamedTuple):
    """One key with its score and where the score comes from.

    ``factor`` is what the sum of them was multiplied by.
    ``flat`` holds source, rank and value of each contribution, one after the other: of
    the hundred and more keys of a query, few are asked for their contributions.
    """

    key: str
    score: float
    flat: tuple[float, ...]
    factor: float = 1.0

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each list added, in the order of the lists."""
        threes = zip(self.flat[::3], self.flat[1::3], self.flat[2::3], strict=True)
        return tuple(Contribution(int(source), int(rank), value) for source, rank, value in threes)


def reciprocal_rank_fusion(
    lists: Sequence[Iterable[str]], weights: Sequence[float] | None = None, *, k: float = 10.0
) -> list[Fused]:
    """Return the keys by the sum of ``weight / (k + rank)``, rank from 1.

    Sums are exactly rounded (``math.fsum``), so the order of the lists cannot
    change a score.

    Args:
        lists: keys, best first.
        weights: one per list, all 1 when left out; 0 is the same as leaving the list out.
        k: how slowly the value falls with the rank.

    Raises:
        FusionError: a negative, infinite or undefined weight or k, weights that
            are all 0, or another number of weights than of lists.
    """
    checked = _weights(weights, len(lists))
    if not bounds.WEIGHT.hold(k):
        raise FusionError(f"k of the fusion is {shown(k)}", hint=f"it must be {bounds.WEIGHT}")
    return _fuse(
        (weight, ((key, weight / (k + rank)) for rank, key in enumerate(_distinct(keys), 1)))
        for weight, keys in zip(checked, lists, strict=True)
    )


def convex_combination(
    lists: Sequence[Iterable[Scored]], weights: Sequence[float] | None = None
) -> list[Fused]:
    """Return the keys by the weighted mean of their scores, each list scaled to 0…1.

    A list whose scores are all equal counts 1 for each of its keys; a key that a
    list lacks counts 0 there.

    Raises:
        FusionError: as :func:`reciprocal_rank_fusion`, or a score that is no finite number.
    """
    checked = _weights(weights, len(lists))
    total = math.fsum(checked)
    return _fuse(
        (weight, ((key, weight / total * scaled) for key, scaled in _min_max(pairs)))
        for weight, pairs in zip(checked, lists, strict=True)
    )


def highest_score(lists: Sequence[Iterable[Scored]]) -> list[Fused]:
    """Return the keys by their highest raw score in any list (CombMAX).

    Only for lists whose scores are of one kind, such as cosines of one model.
    The contributions name each list that holds the key, with its raw score.

    Raises:
        FusionError: a score is no finite number.
    """
    weighted = [(1.0, _finite(pairs)) for pairs in lists]
    return _fuse(weighted, combine=max)


def _fuse(
    lists: Iterable[tuple[float, Iterable[Scored]]],
    combine: Callable[[Iterable[float]], float] = math.fsum,
) -> list[Fused]:
    found: dict[str, tuple[float, ...]] = {}
    for source, (weight, pairs) in enumerate(lists):
        if weight == 0:
            continue
        for rank, (key, value) in enumerate(pairs, 1):
            found[key] = (*found.get(key, ()), source, rank, value)
    # As tuples that sort by themselves: there are hundreds in each query.
    ordered = sorted([(-combine(flat[2::3]), key, flat) for key, flat in found.items()])
    return [Fused(key, -below, flat) for below, key, flat in ordered]


def _weights(weights: Sequence[float] | None, count: int) -> list[float]:
    checked = [1.0] * count if weights is None else list(weights)
    if len(checked) != count:
        raise FusionError(
            f"{len(checked)} weights for {count} lists", hint="give one weight for each list"
        )
    for weight in checked:
        if not bounds.WEIGHT.hold(weight):
            raise FusionError(
                f"a weight of the fusion is {shown(weight)}", hint=f"it must be {bounds.WEIGHT}"
            )
    if checked and not any(checked):
        raise FusionError("all weights of the fusion are 0", hint="give one arm a weight above 0")
    return checked


def _distinct(keys: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(keys)


def _finite(pairs: Iterable[Scored]) -> list[Scored]:
    best: dict[str, float] = {}
    for key, score in pairs:
        if not math.isfinite(score):
            raise FusionError(f"the score of {key} is {score}", hint="scores are finite numbers")
        best[key] = max(score, best.get(key, score))
    return sorted(best.items(), key=lambda item: (-item[1], item[0]))


def _min_max(pairs: Iterable[Scored]) -> list[Scored]:
    scored = _finite(pairs)
    if not scored:
        return []
    high, low = scored[0][1], scored[-1][1]
    if high == low:
        return [(key, 1.0) for key, _ in scored]
    return [(key, (score - low) / (high - low)) for key, score in scored]
