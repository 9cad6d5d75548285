"""The facts of a statement against its sources."""

from __future__ import annotations

import pytest

from pipelines.text import content_words
from rag_app.answer.written.comparison import Claim, SentPassage, compare
from rag_app.passages import passages_of, sentences_of
from tests.support.passages import node

TEXT = "The plant in Kobe was opened in 1998. It made 4,200 pumps in 2019."


def compared(said, text=TEXT):
    sentences = sentences_of(passages_of([node(text)]))
    weights = dict.fromkeys(content_words(said), 1.0)
    return compare(Claim(said, weights), [SentPassage(0, sentences, "a.pdf")])


@pytest.mark.parametrize("said", ["It made 4,200 pumps in 2019.", "The plant was opened in 1998."])
def test_a_statement_whose_facts_stand_in_its_source_has_no_problem(said):
    finding = compared(said)
    assert finding.problems == []
    assert finding.evidence


@pytest.mark.parametrize("said", ["It made 9,999 pumps in 2019.", "The plant was opened in 1975."])
def test_a_fact_that_stands_nowhere_is_a_problem(said):
    assert compared(said).problems


def test_a_sentence_word_for_word_is_a_quotation():
    assert compared("It made 4,200 pumps in 2019.").quoted
