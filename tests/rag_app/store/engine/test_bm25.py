"""BM25 against bm25s, and its corners."""

from __future__ import annotations

from collections import Counter

import bm25s
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.store.engine.bm25 import K1, B, LexicalIndex
from rag_app.store.engine.segments import WordSegment, join_words

WORDS = ["a", "b", "c", "d", "e"]
documents = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), min_size=1, max_size=12
)


def segment(
    texts: list[list[str]], *, first: int = 0, blob: int = 1, passages: list[int] | None = None
) -> WordSegment:
    postings = sorted(
        (WORDS.index(term), row, count)
        for row, text in enumerate(texts)
        for term, count in Counter(text).items()
    )
    table = np.array(postings, np.int64).reshape(-1, 3)
    terms, starts = np.unique(table[:, 0], return_index=True)
    rows = np.arange(first, first + len(texts))
    return WordSegment(
        blobs=np.array([blob]),
        ends=np.array([len(texts)]),
        nodes=rows,
        passages=np.array(passages) if passages is not None else rows,
        lengths=np.array([len(text) for text in texts], np.int64),
        terms=terms,
        starts=np.append(starts, len(table)).astype(np.int64),
        entries=table[:, 1].astype(np.uint32),
        counts=table[:, 2].astype(np.uint32),
    )


@settings(max_examples=60)
@given(texts=documents, query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
def test_scores_equal_those_of_bm25s(texts: list[list[str]], query: list[str]) -> None:
    peer = bm25s.BM25(k1=K1, b=B, method="lucene")
    peer.index(texts, show_progress=False)
    known = [term for term in query if any(term in text for text in texts)]
    wanted = peer.get_scores(known) if known else np.zeros(len(texts))
    index = LexicalIndex([(segment(texts), None)])
    found = {
        item.node: item.score
        for item in index.search([WORDS.index(t) for t in query]).best(99, None)
    }
    assert set(found) == {row for row, score in enumerate(wanted) if score > 0}
    for row, score in found.items():
        assert np.isclose(score, wanted[row], rtol=1e-5)


@given(texts=documents, query=st.lists(st.sampled_from(WORDS), max_size=5), cut=st.integers(0, 12))
def test_scores_do_not_depend_on_segments(
    texts: list[list[str]], query: list[str], cut: int
) -> None:
    cut = min(cut, len(texts))
    halves = [segment(texts[:cut]), segment(texts[cut:], first=cut, blob=2)]
    terms = [WORDS.index(term) for term in query]
    whole = LexicalIndex([(segment(texts), None)]).search(terms).best(4, None)
    assert LexicalIndex([(half, None) for half in halves]).search(terms).best(4, None) == whole
    joined = join_words(halves, {1, 2})
    assert LexicalIndex([(joined, None)]).search(terms).best(4, None) == whole


@given(texts=documents, query=st.lists(st.sampled_from(WORDS), max_size=5), data=st.data())
def test_removed_rows_leave_no_trace_in_the_scores(
    texts: list[list[str]], query: list[str], data: st.DataObject
) -> None:
    alive = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))))
    kept = [text for text, lives in zip(texts, alive, strict=True) if lives]
    terms = [WORDS.index(term) for term in query]
    masked = LexicalIndex([(segment(texts), alive)])
    fresh = LexicalIndex([(segment(kept), None)])
    rows = np.flatnonzero(alive)
    wanted = [(int(rows[item.node]), item.score) for item in fresh.search(terms).best(99, None)]
    assert [(item.node, item.score) for item in masked.search(terms).best(99, None)] == wanted
    assert [masked.frequency(term) for term in range(5)] == [fresh.frequency(t) for t in range(5)]
    assert masked.count == fresh.count


def test_a_term_given_twice_counts_twice() -> None:
    index = LexicalIndex([(segment([["a", "b"], ["b", "c"]]), None)])
    (once,) = index.search([0]).best(5, None)
    (twice,) = index.search([0, 0]).best(5, None)
    assert twice.score == 2 * once.score


def test_pieces_of_one_passage_give_one_hit() -> None:
    """Case 10: a passage comes once, by its best node."""
    held = segment([["a"], ["a", "b", "c"], ["a", "b"]], passages=[7, 7, 8])
    found = LexicalIndex([(held, None)]).search([0]).best(5, None)
    assert [(item.passage, item.node) for item in found] == [(7, 0), (8, 2)]


def test_only_allowed_passages_are_found_and_statistics_stay() -> None:
    held = segment([["a"], ["a", "b"], ["c"]])
    index = LexicalIndex([(held, None)])
    everything = index.search([0]).best(5, None)
    allowed = np.array([False, True, True])
    assert index.search([0]).best(5, allowed) == [item for item in everything if item.passage == 1]


def test_an_empty_index_finds_nothing() -> None:
    assert LexicalIndex([]).search([1]).best(5, None) == []
    assert LexicalIndex([]).count == 0
    assert LexicalIndex([(segment([["a"]]), None)]).search([0]).best(0, None) == []
