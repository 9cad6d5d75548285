from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.text import count_tokens
from rag_app.answer.written.context import (
    CUT_NOTE,
    DROPPED_NOTE,
    ELLIPSIS,
    pack,
    sentences_by_distance,
    text_of,
)
from rag_app.passages import passages_of, sentences_of
from tests.support.passages import node

TEXT = " ".join(f"Sentence {n} says that pump {n} weighs {n * 7} kg." for n in range(60))


def size(_, text):
    return count_tokens(text) + 5


def packed(nodes, budget, anchors=None):
    passages = passages_of(nodes)
    sentences = [
        [s for s in sentences_of(passages) if s.passage == i] for i in range(len(passages))
    ]
    chosen, report = pack(passages, sentences, anchors or [[]] * len(passages), budget, size)
    return passages, chosen, report


def span(start, end, **more):
    return node(TEXT[start:end], start=start, **more)


def test_all_fits_whole_in_rank_order():
    passages, chosen, report = packed([span(500, 700), span(0, 300)], 10_000)
    assert [one.text for one in chosen] == [p.text for p in passages]
    assert all(one.whole for one in chosen)
    assert report.cut == []
    assert report.tokens == sum(one.tokens for one in chosen)


def test_a_parent_too_large_is_cut_around_what_hit():
    hit = TEXT.index("Sentence 30 ")
    _, (one,), report = packed([span(0, len(TEXT))], 80, [[(hit, hit + 20)]])
    assert "Sentence 30 " in one.text
    assert "Sentence 29 " in one.text
    assert "Sentence 0 " not in one.text
    assert not one.whole
    assert report.used[0].note == CUT_NOTE


def test_two_hits_far_apart_are_two_stretches():
    first, second = TEXT.index("Sentence 5 "), TEXT.index("Sentence 50 ")
    _, (one,), _ = packed([span(0, len(TEXT))], 60, [[(first, first + 9), (second, second + 9)]])
    assert one.text.count(ELLIPSIS) == 1
    assert "Sentence 5 " in one.text
    assert "Sentence 50 " in one.text


def test_what_has_no_room_is_reported_and_a_smaller_one_still_goes_in():
    big = node("word " * 300 + ".", document="big", start=0)
    small = node("Small one.", document="small", start=0)
    _, chosen, report = packed([big, small], 30)
    assert [one.text for one in chosen] == ["Small one."]
    assert [item.note for item in report.cut] == [DROPPED_NOTE]


def test_no_room_at_all_sends_nothing():
    _, chosen, report = packed([span(0, 300)], 3)
    assert chosen == []
    assert report.tokens == 0


@settings(max_examples=60)
@given(
    spans=st.lists(st.tuples(st.integers(0, 2000), st.integers(20, 900)), min_size=1, max_size=5),
    budget=st.integers(0, 600),
    anchor=st.integers(0, 800),
)
def test_the_budget_holds_no_sentence_comes_twice_and_all_is_verbatim(spans, budget, anchor):
    nodes = [span(start, min(start + length, len(TEXT))) for start, length in spans]
    count = len(passages_of(nodes))
    passages, chosen, report = packed(nodes, budget, [[(anchor, anchor + 30)]] * count)
    assert sum(size(None, one.text) for one in chosen) <= budget
    assert report.tokens <= budget
    places = [
        (passages[one.passage].start + s.start, s.text) for one in chosen for s in one.sentences
    ]
    assert len(places) == len(set(places))
    for one in chosen:
        assert all(part in passages[one.passage].text for part in one.text.split(ELLIPSIS))
    assert len(report.used) + len(report.cut) == len(passages)


def test_neighbours_follow_their_anchor():
    passages = passages_of([span(0, 500)])
    sentences = sentences_of(passages)
    hit = sentences[4]
    order = [s.position for s in sentences_by_distance(sentences, [(hit.start, hit.end)])]
    assert order[:3] == [4, 3, 5]
    assert sorted(order) == list(range(len(sentences)))


def test_neighbours_keep_what_stands_between_them():
    passages = passages_of([node("One.\n\nTwo.  Three.", start=0)])
    assert text_of(passages[0], sentences_of(passages)) == "One.\n\nTwo.  Three."
