"""Numbers and shares in words."""

from __future__ import annotations

import pytest

from rag_app.answer.written.spelled_numbers import shares, spelled


@pytest.mark.parametrize(
    ("text", "raw"),
    [("forty-one", 41), ("two and a half", 2.5), ("a hundred", 100), ("two dozen", 24)],
)
def test_a_number_in_words_has_its_value(text, raw):
    (found,) = spelled(text)
    assert found.raw == raw
    assert found.spelled


@pytest.mark.parametrize(
    ("text", "percent"), [("3割5分", 35), ("10分の1", 10), ("a quarter", 25), ("半数", 50)]
)
def test_a_share_in_words_is_a_percentage(text, percent):
    (found,) = shares(text)
    assert found.value == percent


def test_an_article_alone_and_a_fraction_of_nothing_are_no_numbers():
    assert list(spelled("a thing")) == []
    assert list(shares("0分の1")) == []
