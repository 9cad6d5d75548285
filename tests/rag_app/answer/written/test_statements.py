"""Which sentences of a model state something."""

from __future__ import annotations

import pytest

from rag_app.answer.written.marks import MarkedSentence
from rag_app.answer.written.statements import plain, statements_of

QUESTION = "What is the lead time of the valve?"


def test_a_statement_is_read_without_signs_of_lists_and_emphasis():
    assert plain("- The **valve** leaks.") == "The valve leaks."
    assert plain("The valve leaks.") == "The valve leaks."


def kept(*texts):
    found = statements_of([MarkedSentence(text, [], []) for text in texts], QUESTION)
    return [one.text for one in found]


@pytest.mark.parametrize("idle", ["Sure!", "Let me know if you need more.", "はい。"])
def test_openings_and_closings_are_left_out(idle):
    assert kept(idle, "It is twelve weeks.") == ["It is twelve weeks."]


def test_where_nothing_would_be_left_all_stay():
    assert kept("Sure!") == ["Sure!"]
