"""Fusion is exact: the properties hold without any tolerance."""

from __future__ import annotations

import copy
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import ConfigError, FusionError
from rag_app.retrieval.fusion import (
    convex_combination,
    highest_score,
    reciprocal_rank_fusion,
)

KEYS = st.sampled_from([f"n{i}" for i in range(12)])
RANKING = st.lists(KEYS, max_size=12, unique=True)
RANKINGS = st.lists(RANKING, min_size=1, max_size=5)
WEIGHT = st.floats(min_value=0.01, max_value=100)
K = st.floats(min_value=0, max_value=100)


def pairs(fused):
    return [(item.key, item.score) for item in fused]


def test_rrf_with_two_lists_gives_the_canonical_sum():
    fused = reciprocal_rank_fusion([["a", "b"], ["b", "c"]], k=60)
    assert pairs(fused) == [
        ("b", math.fsum([1 / 62, 1 / 61])),
        ("a", 1 / 61),
        ("c", 1 / 62),
    ]


def test_rrf_contributions_say_which_list_gave_what():
    first = reciprocal_rank_fusion([["a"], ["b", "a"]], [2.0, 1.0], k=10)[0]
    assert [(part.source, part.rank, part.value) for part in first.contributions] == [
        (0, 1, 2 / 11),
        (1, 2, 1 / 12),
    ]


def test_rrf_with_disjoint_lists_and_weight_zero_drops_the_second_list():
    """CASES 1: [1, 0] differs from [0.5, 0.5]; weight 0 contributes nothing."""
    lists = [["a", "b"], ["c", "d"]]
    assert [item.key for item in reciprocal_rank_fusion(lists, [1, 0])] == ["a", "b"]
    halves = reciprocal_rank_fusion(lists, [0.5, 0.5])
    assert [item.key for item in halves] == ["a", "c", "b", "d"]
    assert halves[0].score == 0.5 / 11


def test_rrf_with_one_key_four_times_counts_its_best_rank_once():
    """CASES 10: four chunks of one passage are one vote."""
    fused = reciprocal_rank_fusion([["b", "a", "a", "a", "a", "c"]])
    assert pairs(fused) == [("b", 1 / 11), ("a", 1 / 12), ("c", 1 / 13)]


@given(RANKINGS, K, st.randoms(use_true_random=False))
def test_rrf_is_the_same_for_any_order_of_the_lists(lists, k, random):
    weights = [random.uniform(0.1, 3) for _ in lists]
    order = list(range(len(lists)))
    random.shuffle(order)
    shuffled = reciprocal_rank_fusion([lists[i] for i in order], [weights[i] for i in order], k=k)
    assert pairs(shuffled) == pairs(reciprocal_rank_fusion(lists, weights, k=k))


@given(RANKINGS, RANKING, st.integers(0, 5), K)
def test_rrf_with_weight_zero_equals_absence(lists, extra, place, k):
    place = min(place, len(lists))
    weights = [1.0] * len(lists)
    with_zero = reciprocal_rank_fusion(
        [*lists[:place], extra, *lists[place:]], [*weights[:place], 0.0, *weights[place:]], k=k
    )
    assert pairs(with_zero) == pairs(reciprocal_rank_fusion(lists, weights, k=k))


@given(RANKINGS, st.data())
def test_rrf_with_repetitions_in_a_list_changes_nothing(lists, data):
    repeated = [
        [key for key in ranking for _ in range(data.draw(st.integers(1, 3)))] for ranking in lists
    ]
    later = [[*ranking, *data.draw(st.permutations(sorted(set(ranking))))] for ranking in repeated]
    assert reciprocal_rank_fusion(later) == reciprocal_rank_fusion(lists)


@given(RANKINGS, K, WEIGHT)
def test_rrf_with_an_arm_that_agrees_never_lowers_the_first(lists, k, weight):
    before = [item.key for item in reciprocal_rank_fusion(lists, k=k)]
    after = reciprocal_rank_fusion([*lists, before], [*[1.0] * len(lists), weight], k=k)
    assert [item.key for item in after][:1] == before[:1]


@given(RANKINGS, K)
def test_rrf_scores_fall_and_equal_scores_are_ordered_by_key(lists, k):
    fused = pairs(reciprocal_rank_fusion(lists, k=k))
    assert fused == sorted(fused, key=lambda pair: (-pair[1], pair[0]))
    assert {key for key, _ in fused} == {key for ranking in lists for key in ranking}


@given(RANKINGS, K)
def test_rrf_scores_are_the_exact_sum_rounded_once(lists, k):
    for item in reciprocal_rank_fusion(lists, k=k):
        exact = sum(
            Fraction(1.0 / (k + (ranking.index(item.key) + 1)))
            for ranking in lists
            if item.key in ranking
        )
        assert item.score == float(exact)


@given(RANKINGS)
def test_fusion_leaves_its_inputs_as_they_were(lists):
    scored = [[(key, 1 / place) for place, key in enumerate(ranking, 1)] for ranking in lists]
    weights = [1.0] * len(lists)
    before = copy.deepcopy((lists, scored, weights))
    reciprocal_rank_fusion(lists, weights)
    convex_combination(scored, weights)
    highest_score(scored)
    assert (lists, scored, weights) == before


@pytest.mark.parametrize("fuse", [reciprocal_rank_fusion, convex_combination])
@pytest.mark.parametrize(
    "weights", [[0.0, 0.0], [-1.0, 1.0], [math.nan, 1.0], [math.inf, 1.0], [1.0], [1.0, 1.0, 1.0]]
)
def test_fusion_with_impossible_weights_raises(fuse, weights):
    with pytest.raises(FusionError) as caught:
        fuse([[], []], weights)
    assert isinstance(caught.value, ConfigError)
    assert caught.value.hint


@pytest.mark.parametrize("k", [-1, math.nan, math.inf])
def test_rrf_with_an_impossible_k_raises(k):
    with pytest.raises(FusionError):
        reciprocal_rank_fusion([["a"]], k=k)


def test_fusion_of_no_lists_and_of_empty_lists_is_empty():
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []
    assert convex_combination([[], []]) == []
    assert highest_score([]) == []


def test_convex_combination_scales_each_list_to_one():
    fused = convex_combination([[("a", 9.0), ("b", 5.0), ("c", 1.0)], [("b", 0.4), ("c", 0.2)]])
    assert pairs(fused) == [("b", 0.75), ("a", 0.5), ("c", 0.0)]


def test_convex_combination_of_equal_scores_counts_each_fully():
    assert pairs(convex_combination([[("a", 2.0), ("b", 2.0)]])) == [("a", 1.0), ("b", 1.0)]


@pytest.mark.parametrize("fuse", [highest_score, convex_combination])
def test_fusion_of_scores_with_an_undefined_score_raises(fuse):
    with pytest.raises(FusionError, match="a is nan"):
        fuse([[("a", math.nan)]])


def test_highest_score_takes_the_best_of_all_lists():
    fused = highest_score([[("a", 0.9), ("b", 0.5)], [("b", 0.7), ("c", 0.7)]])
    assert pairs(fused) == [("a", 0.9), ("b", 0.7), ("c", 0.7)]
