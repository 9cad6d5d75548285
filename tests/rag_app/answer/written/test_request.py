"""A request to a language model: passages between delimiters, as many as fit its window."""

from __future__ import annotations

import pytest

from pipelines.errors import LLMRequestError
from pipelines.text import count_tokens
from rag_app.answer.limits import TokenLimits
from rag_app.answer.prompts import load_prompts
from rag_app.answer.written.request import build_request
from tests.rag_app.answer.written.writer import PAGES, QUESTION, Writer, planned

LONG = tuple(f"Sentence {n} of the page is here. " * 40 for n in range(6))


def request(*pages, limits=None, **llm):
    plan, _ = planned(*pages)
    return build_request(
        plan, plan.sentences, Writer(**llm), load_prompts(), limits or TokenLimits()
    )


def text_of(built):
    return "\n".join(str(message.content) for message in built.messages)


def test_question_and_passages_are_sent_between_delimiters():
    built = request()
    user = str(built.messages[-1].content)
    assert QUESTION in user
    assert all(page in user for page in PAGES)
    assert user.count(built.delimiter) >= 2 * len(PAGES)
    assert [sent.passage for sent in built.sent] == [0, 1]
    assert all(item.whole for item in built.report.used)


def test_the_delimiter_is_another_one_each_time():
    assert request().delimiter != request().delimiter


def test_passages_beyond_the_window_are_cut_and_listed():
    built = request(*LONG, window=2500)
    assert count_tokens(text_of(built)) <= 2500 * TokenLimits().window_share
    assert len(built.report.used) < len(LONG)
    assert len(built.report.used) + len(built.report.cut) == len(LONG)


def test_a_limit_of_ones_own_is_kept():
    built = request(*LONG, window=100_000, limits=TokenLimits(max_context_tokens=400))
    assert built.report.budget == 400
    assert built.report.tokens <= 400


def test_room_is_kept_for_the_answer(monkeypatch):
    monkeypatch.setattr("rag_app.answer.written.request.new_delimiter", lambda _: "d1e2f3")
    wide, narrow = (request(*LONG, window=3000, outputs=n).report.budget for n in (100, 1000))
    assert wide - narrow == 900


def test_a_window_without_room_for_a_sentence_is_an_error_with_the_setting():
    with pytest.raises(LLMRequestError, match="no room") as caught:
        request(*LONG, window=100)
    assert "llm_context_window" in caught.value.hint
