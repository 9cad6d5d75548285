"""Content words: question words and function words are left out, terms of content stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.content import content_words
from pipelines.terms import search_terms


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the lead time of the valve?", ["lead", "time", "valv"]),
        ("Please tell me about AX-450", ["ax450", "ax", "450"]),
        ("納期は何日ですか", ["納期", "日"]),
    ],
)
def test_words_of_content_stay_and_question_words_go(question, expected):
    assert sorted(content_words(question)) == sorted(expected)


@pytest.mark.parametrize("text", ["", "Who are you?", "ですか"])
def test_a_text_without_content_has_no_words(text):
    assert content_words(text) == []


@given(st.text(st.sampled_from("the valve What 450-B,. \n"), max_size=40))
def test_english_content_words_are_search_terms(text):
    assert set(content_words(text)) <= set(search_terms(text))
