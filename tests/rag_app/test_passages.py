from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.passages import hull, overlap, passages_of, sentences_of
from tests.support.passages import node
from tests.support.sentences import sentence_table_at

TEXT = "".join(f"Sentence number {n} stands here. " for n in range(40))


def span(start, end, **more):
    return node(TEXT[start:end], start=start, **more)


def test_overlapping_windows_become_one_passage_each_sentence_once():
    """Case 19: merged into one passage, no sentence twice, verbatim."""
    merged = passages_of([span(60, 200), span(0, 100), span(400, 450)])
    assert [(p.start, p.end) for p in merged] == [(0, 200), (400, 450)]
    assert merged[0].text == TEXT[0:200]
    assert merged[0].rank == 1
    texts = [sentence.text for sentence in sentences_of(merged)]
    assert len(texts) == len(set(texts))


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(1, 300)), min_size=1, max_size=8))
def test_merged_passages_are_verbatim_disjoint_and_cover_the_same(spans):
    ends = [(start, min(start + length, len(TEXT))) for start, length in spans]
    merged = passages_of([span(start, end) for start, end in ends])
    assert all(p.text == TEXT[p.start : p.end] for p in merged)
    covered = {i for start, end in ends for i in range(start, end)}
    assert sorted(i for p in merged for i in range(p.start, p.end)) == sorted(covered)
    assert [p.rank for p in merged] == sorted(p.rank for p in merged)


def test_the_same_span_of_two_documents_stays_two_passages():
    found = passages_of([span(0, 50), span(0, 50, document="other")])
    assert len(found) == 2


def test_the_same_document_in_two_indexes_stays_two_passages():
    found = passages_of([span(0, 50, origin="a"), span(0, 50, origin="b")])
    assert [p.origin for p in found] == ["a", "b"]


def test_touching_passages_are_not_merged():
    assert len(passages_of([span(0, 50), span(50, 90)])) == 2


def test_wrong_offsets_are_not_believed():
    """SentenceSplitter's offsets are wrong for repeated text with overlap."""
    wrong = node("abc", start=0)
    wrong.node.end_char_idx = 99
    assert passages_of([wrong])[0].start is None


def test_a_passage_without_span_is_kept_once():
    found = passages_of([node("same", start=None), node("same", start=None)])
    assert [p.text for p in found] == ["same"]


def test_pages_matches_and_node_ids_of_both_are_kept():
    match = {"arm": "vectors:child-128", "score": 0.5, "start": 70, "end": 90}
    a, b = span(60, 200, pages=[2, 3], matched=[match]), span(0, 100, pages=[1, 2])
    (merged,) = passages_of([a, b])
    assert merged.pages == (1, 2, 3)
    assert (merged.page, merged.page_label) == (2, "2")
    assert merged.matches[0].score == 0.5
    assert merged.node_ids == (a.node.node_id, b.node.node_id)


def test_sentences_are_verbatim_in_their_passage():
    passages = passages_of([span(0, 300), span(500, 700)])
    for sentence in sentences_of(passages):
        assert passages[sentence.passage].text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip()


def test_a_node_that_is_not_ours_is_a_passage_too():
    from llama_index.core.schema import NodeWithScore, TextNode

    (found,) = passages_of([NodeWithScore(node=TextNode(text="Plain."))])
    assert (found.text, found.file, found.pages, found.matches) == ("Plain.", "", (), ())


def test_sentences_begin_where_it_is_known():
    passages = passages_of([span(0, 60)])
    told = sentences_of(passages, lambda passage: sentence_table_at(passage.text, [0, 8, 40]))
    assert [(s.start, s.end) for s in told] == [(0, 8), (9, 39), (40, 60)]


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [((0, 5), (4, 9), True), ((0, 9), (3, 4), True), ((0, 5), (5, 9), False)],
)
def test_spans_overlap_when_they_share_a_character(one, other, shared):
    assert overlap(one, other) is overlap(other, one) is shared


def test_the_hull_of_spans_covers_all_of_them():
    assert hull([(4, 9), (0, 5), (2, 3)]) == (0, 9)
