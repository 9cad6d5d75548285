"""Sentences and rows of a passage as units of evidence."""

from __future__ import annotations

from rag_app.answer.written.evidence_units import evidence_units
from rag_app.passages import passages_of, sentences_of
from tests.support.passages import node


def units(text):
    return evidence_units(sentences_of(passages_of([node(text)])))


def test_each_sentence_is_a_unit_with_its_facts():
    found = units("The plant opened in 1998. It made 4,200 pumps.")
    assert [unit.text for unit in found] == ["The plant opened in 1998.", "It made 4,200 pumps."]
    assert [q.text for segment in found[1].segments for q in segment.quantities] == ["4,200"]
    assert not any(unit.is_row for unit in found)


def test_no_sentence_is_no_unit():
    assert evidence_units([]) == []
