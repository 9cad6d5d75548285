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
    ],
)
def test_a_question_is_searched_in_one_form(given, searched):
    assert clean_question(given) == searched


def test_an_empty_question_raises():
    with pytest.raises(ConfigError, match="empty"):
        clean_question("\x00 \u3000")


def test_generated_queries_that_say_the_same_are_left_out():
    generated = ["WHAT is it?", "", "how  big", "How big", "ｈｏｗ ｂｉｇ", "why"]
    assert all_queries("What is it?", generated) == ["What is it?", "how big", "why"]
