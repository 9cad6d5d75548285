"""Sentences with one word, or two numbers, exchanged."""

from __future__ import annotations

from tests.rag_app.answer.written.comparing import compared

TEXT = (
    "The northern depot repaired 88 trams and 301 buses in the spring of last year. "
    "The southern garage was painted green."
)


def test_a_word_in_the_place_of_another_in_an_otherwise_equal_sentence_is_named():
    said = "The southern depot repaired 88 trams and 301 buses in the spring of last year."
    assert any("southern" in problem for problem in compared(said, TEXT).problems)


def test_two_numbers_the_other_way_round_are_a_problem():
    said = "The northern depot repaired 301 trams and 88 buses in the spring of last year."
    assert compared(said, TEXT).problems
