"""What the words around a number make of it."""

from __future__ import annotations

import pytest

from rag_app.answer.written.number_context import bound_around, noun_after, period_around


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("at least 30 days", "least"),
        ("up to 30 days", "most"),
        ("about 30 days", "about"),
        ("exactly 30 days", ""),
        ("30日以内に", "most"),
        ("30名以上で", "least"),
    ],
)
def test_a_bound_is_read_from_the_words_around_a_number(text, bound):
    start = text.index("30")
    assert bound_around(text, start, start + 2) == bound


@pytest.mark.parametrize(
    ("text", "period"),
    [("30 a year", "year"), ("30 monthly", "month"), ("年30", "year"), ("30", "")],
)
def test_a_period_is_read_from_the_words_around_a_number(text, period):
    start = text.index("30")
    assert period_around(text, start, start + 2) == period


def test_the_noun_of_a_number_is_the_next_word_in_the_singular():
    assert noun_after("30 sailings left", 2) == "sailing"
    assert noun_after("30.", 2) == ""
