"""Stretches of a statement with their facts."""

from __future__ import annotations

from rag_app.answer.written.segments import joined_segments, segments_of, words_of

TEXT = "Sales rose by 12% in 2019, and costs fell by 3%"


def test_each_stretch_has_its_own_facts():
    segments = segments_of(TEXT)
    assert [[q.text for q in one.quantities] for one in segments] == [["12%"], ["3%"]]
    assert [[d.year for d in one.dates] for one in segments] == [[2019], []]


def test_joined_stretches_have_the_facts_of_both():
    one, other = segments_of(TEXT)
    both = joined_segments(one, other)
    assert [q.text for q in both.quantities] == ["12%", "3%"]
    assert both.words >= one.words | other.words


def test_words_are_those_of_content():
    assert words_of("what is the lead time") == {"lead", "time"}
