"""Scores of rows as the best passages: ties, margins, and each passage once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.store.engine.ranking import best_of, leading

rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=20)


def arrays(pairs):
    passages = np.array([passage for passage, _ in pairs])
    scores = np.array([score / 4 for _, score in pairs])
    return passages, np.arange(len(pairs)), scores


@given(rows, st.integers(1, 7))
def test_passages_are_ranked_by_their_best_node_and_ties_of_the_last_stay(pairs, depth):
    passages, nodes, scores = arrays(pairs)
    best = {p: max(s for q, s in pairs if q == p) / 4 for p in dict(pairs)}
    limit = sorted(best.values(), reverse=True)[:depth][-1]
    found = best_of(passages, nodes, scores, depth)
    assert {item.passage: item.score for item in found} == {
        passage: score for passage, score in best.items() if score >= limit
    }
    assert all(scores[item.node] == item.score for item in found)
    assert [item.score for item in found] == sorted((i.score for i in found), reverse=True)


@given(rows, st.integers(1, 7), st.sampled_from([0.0, 0.3]))
def test_no_row_of_the_best_passages_is_left_out(pairs, depth, margin):
    passages, nodes, scores = arrays(pairs)
    keep = leading(passages, scores, depth, margin)
    assert best_of(passages[keep], nodes[keep], scores[keep], depth) == best_of(
        passages, nodes, scores, depth
    )


@pytest.mark.parametrize(("margin", "kept"), [(0.0, 1), (0.2, 2), (0.5, 3)])
def test_a_margin_keeps_rows_whose_order_is_uncertain(margin, kept):
    scores = np.array([0.9, 0.8, 0.5])
    assert leading(np.arange(3), scores, 1, margin).sum() == kept
