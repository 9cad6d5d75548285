"""Segments: live rows, joins, and postings that are merged a bounded number at a time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.store.engine import segments
from rag_app.store.engine.segments import VectorSegment, WordSegment, join_vectors, join_words, runs

counted = st.lists(st.dictionaries(st.integers(0, 5), st.integers(1, 3), max_size=4), max_size=4)


def word_segment(blob, texts):
    table = sorted((term, row, n) for row, text in enumerate(texts) for term, n in text.items())
    terms = sorted({term for term, _, _ in table})
    sizes = Counter(term for term, _, _ in table)
    return WordSegment(
        *(np.array([blob]), np.array([len(texts)])),
        *(100 * blob + np.arange(len(texts)), 100 * blob + np.arange(len(texts))),
        lengths=np.array([sum(text.values()) for text in texts], np.int64),
        terms=np.array(terms, np.int64),
        starts=np.cumsum([0, *(sizes[term] for term in terms)]),
        entries=np.array([row for _, row, _ in table], np.uint32),
        counts=np.array([n for _, _, n in table], np.uint32),
    )


def postings(segment):
    found = {}
    for term in segment.terms.tolist():
        rows, counts = segment.postings(term)
        for row, count in zip(segment.nodes[rows].tolist(), counts.tolist(), strict=True):
            found[term, row] = count
    return found


@given(st.lists(counted, min_size=1, max_size=4), st.sets(st.integers(1, 4)))
def test_joined_words_hold_the_postings_of_the_live_blobs(texts, live):
    parts = [word_segment(blob, some) for blob, some in enumerate(texts, start=1)]
    joined = join_words(parts, live)
    expected = {}
    for blob, part in enumerate(parts, start=1):
        if blob in live:
            expected |= postings(part)
    assert postings(joined) == expected
    assert joined.blobs.tolist() == sorted(live & set(range(1, len(parts) + 1)))


def test_the_size_of_a_merge_step_does_not_change_the_result(monkeypatch):
    parts = [word_segment(n, [{1: n, 2: 1}, {n: 1, 9: 2}]) for n in (1, 2, 3)]
    whole = postings(join_words(parts, {1, 2, 3}))
    monkeypatch.setattr(segments, "_MERGE_POSTINGS", 1)
    assert postings(join_words(parts, {1, 2, 3})) == whole


def test_joined_vectors_are_in_the_order_of_blobs():
    def part(blob):
        matrix = np.full((2, 3), blob, np.float32)
        return VectorSegment(np.array([blob]), np.array([2]), np.arange(2), np.arange(2), matrix)

    joined = join_vectors([part(7), part(3), part(5)], {3, 7})
    assert joined.blobs.tolist() == [3, 7]
    assert joined.matrix[:, 0].tolist() == [3, 3, 7, 7]
    assert join_vectors([part(7)], set()).rows == 0


def test_rows_of_removed_blobs_are_masked():
    joined = join_words([word_segment(1, [{1: 1}] * 2), word_segment(2, [{1: 1}])], {1, 2})
    assert joined.alive({1, 2}) is None
    assert joined.alive({2}).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("values", "starts"), [([], []), ([4], [0]), ([1, 1, 2, 2, 2, 1], [0, 2, 5])]
)
def test_runs_begin_where_the_value_changes(values, starts):
    assert runs(np.array(values, np.int64)).tolist() == starts


def test_rows_of_a_term_rise_however_blobs_are_spread_over_segments():
    parts = {blob: word_segment(blob, [{1: blob}]) for blob in (1, 2, 3)}
    apart = join_words([parts[1], parts[3]], {1, 3})
    joined = join_words([apart, parts[2]], {1, 2, 3})
    rows, counts = joined.postings(1)
    assert (rows.tolist(), counts.tolist()) == ([0, 1, 2], [1, 2, 3])
