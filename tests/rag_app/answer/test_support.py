"""Scores of texts by the words of a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.answer.support import ranks, share, subject_words, word_scores

WEIGHTS = {"pump": 2.0, "year": 1.0}
texts = st.lists(st.lists(st.sampled_from(["pump", "year", "valve"]), max_size=6), max_size=6)


@pytest.mark.parametrize(
    ("weights", "terms", "expected"),
    [
        (WEIGHTS, {"pump"}, 2 / 3),
        (WEIGHTS, {"pump", "year", "x"}, 1),
        (WEIGHTS, set(), 0),
        ({}, {"pump"}, 0),
    ],
)
def test_the_share_is_by_weight(weights, terms, expected):
    assert share(weights, terms) == pytest.approx(expected)


@given(texts)
def test_only_texts_with_a_common_term_score(some):
    for score, terms in zip(word_scores(WEIGHTS, some), some, strict=True):
        assert (score > 0) == bool(WEIGHTS.keys() & set(terms))


def test_rare_words_and_short_texts_score_higher():
    rare, common, long = word_scores(WEIGHTS, [["pump"], ["year"], ["pump", *["x"] * 9]])
    assert rare > common
    assert rare > long


def test_a_repeated_word_adds_less_each_time():
    one, two, three = word_scores({"a": 1.0}, [["a", *"xyz"], [*"aa", *"xy"], [*"aaa", "x"]])
    assert two - one > three - two > 0


def test_scores_become_ranks_and_zero_none():
    assert ranks([0.5, 0, 2, 0.5, -1]) == {2: 1, 0: 2, 3: 3}


def test_words_about_the_answer_are_not_its_subject():
    assert subject_words("According to the document, the answer is 38 tonnes.") == ["38", "tonn"]
    assert subject_words("It is in the document.") == ["document"]
