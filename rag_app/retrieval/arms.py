"""A strategy over views: which arms search for what, all of them, and their fusion."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from rag_app.retrieval.fusion import (
    Fused,
    convex_combination,
    highest_score,
    reciprocal_rank_fusion,
)
from rag_app.retrieval.glossary import GLOSSARY_WEIGHT
from rag_app.retrieval.rankings import QueryVectors, Ranking, View, model_of, rank
from rag_app.retrieval.strategy import Strategy


def plan(
    strategy: Strategy, queries: Sequence[str], views: Sequence[View], printed: str = ""
) -> list[Ranking]:
    """Return the rankings to make, still empty.

    One for each arm that counts, each query and each tier of documents that the
    question names. Indexes of different models have rankings of their own: their
    cosines cannot be compared.

    Args:
        strategy: which arms.
        queries: the question, and further ones of the same weight.
        views: the indexes.
        printed: what documents print in place of words of the question; searched with less
            weight, so that it adds passages and hides none. Empty: nothing.
    """
    asked = [(query, position > 0, 1.0, False) for position, query in enumerate(queries)]
    if printed:
        asked.append((printed, True, GLOSSARY_WEIGHT, True))
    tiers = max(len(view.preferred) for view in views)
    return [
        Ranking(arm, query, group, generated, tier, weight * arm.weight, of_glossary)
        for arm in strategy.arms
        if arm.weight
        for tier in range(tiers + 1)
        for query, generated, weight, of_glossary in asked
        for group in _groups(arm.how == "vectors", [v for v in views if len(v.preferred) >= tier])
    ]


def run(rankings: Sequence[Ranking], depth: int, vectors: QueryVectors) -> list[Ranking]:
    """Return the rankings with what their arms find, one after the other.

    What is asked of the same passages once more, in a further tier, is found once.
    Searching words while a model of this machine embeds the question saves nothing: the
    two threads wait for each other longer than either takes.

    Raises:
        ConfigError, StoreError: the configuration or an index is wrong.
    """
    done: dict[Hashable, Ranking] = {}
    return [_run(ranking, depth, vectors, done) for ranking in rankings]


def _run(
    ranking: Ranking, depth: int, vectors: QueryVectors, done: dict[Hashable, Ranking]
) -> Ranking:
    scopes = tuple(id(view.scope(ranking.tier)) for view in ranking.views)
    key = (ranking.arm, ranking.query, ranking.views, scopes)
    if key in done:
        return replace(done[key], tier=ranking.tier, seconds=0.0)
    done[key] = rank(ranking, depth, vectors)
    return done[key]


def fuse(strategy: Strategy, rankings: Sequence[Ranking]) -> list[Fused]:
    """Return all passage ids, best first; contributions name rankings by their position."""
    if not any(ranking.found for ranking in rankings):
        return []
    weights = [ranking.weight for ranking in rankings]
    if strategy.fusion == "rrf":
        ids = [[found.passage_id for found in ranking.found] for ranking in rankings]
        return reciprocal_rank_fusion(ids, weights, k=strategy.fusion_k)
    scored = [[(f.passage_id, f.score) for f in ranking.found] for ranking in rankings]
    if strategy.fusion == "max":
        return highest_score(scored)
    return convex_combination(scored, weights)


def owners_of(rankings: Iterable[Ranking]) -> dict[str, View]:
    """Return the index that each passage is read from; the first that has it."""
    owners: dict[str, View] = {}
    for ranking in rankings:
        for found in ranking.found:
            owners.setdefault(found.passage_id, found.view)
    return owners


def _groups(by_model: bool, views: Sequence[View]) -> list[tuple[View, ...]]:
    groups: dict[str, list[View]] = {}
    for view in views:
        groups.setdefault(model_of(view) if by_model else "", []).append(view)
    return [tuple(group) for group in groups.values()]
