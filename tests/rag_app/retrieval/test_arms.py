"""Rankings that a strategy plans, runs and fuses."""

from __future__ import annotations

import pytest

from rag_app.retrieval import arms
from rag_app.retrieval.rankings import IndexHit, QueryVectors, Ranking, View
from rag_app.retrieval.strategy import Arm, Strategy
from tests.support.embedding import hash_vector

WORDS, VECTORS = Arm("words", "parent"), Arm("vectors", "child-128", 2.0)


@pytest.fixture
def view(manual):
    with manual.snapshot() as snapshot:
        yield View("a", snapshot, hash_vector)


def strategy(*chosen, fusion="rrf"):
    return Strategy("own", chosen or (WORDS, VECTORS), fusion=fusion)


def test_each_arm_ranks_each_query_in_each_tier(view):
    pages = tuple(view.snapshot.select(None) for _ in range(2))
    narrowed = View("a", view.snapshot, hash_vector, preferred=pages)
    planned = arms.plan(strategy(), ["one", "two"], [narrowed])
    assert len(planned) == 2 * 2 * 3
    assert [r.generated for r in planned[:2]] == [False, True]
    assert {r.tier for r in planned} == {0, 1, 2}
    assert {(r.arm, r.weight) for r in planned} == {(WORDS, 1.0), (VECTORS, 2.0)}


def test_an_arm_without_weight_is_left_out(view):
    planned = arms.plan(strategy(WORDS, Arm("vectors", "parent", 0)), ["one"], [view])
    assert [ranking.arm for ranking in planned] == [WORDS]


def test_vectors_of_different_models_are_ranked_apart_and_words_together(view, build):
    other = build({"b": "The valve."}, scripts=("han",))
    with other.snapshot() as snapshot:
        views = [view, View("b", snapshot, hash_vector)]
        planned = arms.plan(strategy(), ["one"], views)
    by_words = [ranking for ranking in planned if ranking.arm is WORDS]
    assert [len(ranking.views) for ranking in by_words] == [2]


def test_the_same_search_is_run_once(view, monkeypatch):
    calls = []
    real = arms.rank

    def counted(*arguments):
        calls.append(1)
        return real(*arguments)

    monkeypatch.setattr(arms, "rank", counted)
    ranking = Ranking(WORDS, "valve", (view,))
    done = arms.run([ranking, ranking], 3, QueryVectors())
    assert len(calls) == 1
    assert done[0].found == done[1].found != ()


def hits(view, *names):
    return tuple(IndexHit(name, name, 1 / place, view) for place, name in enumerate(names, 1))


@pytest.mark.parametrize("fusion", ["rrf", "convex"])
def test_a_passage_that_more_arms_find_is_ahead(view, fusion):
    rankings = [
        Ranking(WORDS, "q", (view,), found=hits(view, "a", "b")),
        Ranking(VECTORS, "q", (view,), found=hits(view, "a", "c")),
    ]
    fused = arms.fuse(strategy(fusion=fusion), rankings)
    assert fused[0].key == "a"
    assert {one.key for one in fused} == {"a", "b", "c"}


def test_nothing_found_is_nothing_fused(view):
    assert arms.fuse(strategy(), [Ranking(WORDS, "q", (view,))]) == []


def test_a_passage_is_read_from_the_first_index_that_has_it(view):
    other = View("b", view.snapshot, None)
    rankings = [
        Ranking(WORDS, "q", (view,), found=hits(view, "a")),
        Ranking(WORDS, "q", (other,), found=hits(other, "a", "b")),
    ]
    owners = arms.owners_of(rankings)
    assert (owners["a"], owners["b"]) == (view, other)
