from __future__ import annotations

import pytest

from pipelines.errors import ConfigError
from rag_app.retrieval.queries import all_queries, clean_question


@pytest.mark.parametrize(
    ("given", "searched"),
    [
        ("  What\n is it? ", "What is it?"),
        ("Ｗｈａｔ　ｉｓ　ｉｔ？", "What is it?"),
        ("ﾎﾟﾝﾌﾟ", "ポンプ"),
        ("oﬃce\x00\ud800", "office"),
        ("\x1b[31mWhat\x1b[0m is it?", "What is it?"),
        ("\x9b1;31mWhat\x9bm is it?", "What is it?"),
        ("\x1b[200~What is it?\x1b[201~", "What is it?"),
        ("\x1b]0;a title\x07What is it?", "What is it?"),
        ("\x9d0;a title\x9cWhat is it?", "What is it?"),
        ("\x1b]8;;http://a.org\x1b\\What\x1b]8;;\x1b\\ is it?", "What is it?"),
        ("\x1bPq payload\x1b\\What\x1b(B is it?", "What is it?"),
    ],
)
def test_a_question_is_searched_in_one_form(given, searched):
    assert clean_question(given) == searched


def test_an_empty_question_raises():
    for question in ("\x00 \u3000", "\x1b[31m\x1b[0m", "\x1b]0;a title\x07"):
        with pytest.raises(ConfigError, match="empty"):
            clean_question(question)


def test_generated_queries_that_say_the_same_are_left_out():
    generated = ["WHAT is it?", "", "how  big", "How big", "ｈｏｗ ｂｉｇ", "why"]
    assert all_queries("What is it?", generated) == ["What is it?", "how big", "why"]
