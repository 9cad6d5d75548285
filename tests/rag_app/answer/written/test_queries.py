"""Further queries by a model over the real protocol."""

from __future__ import annotations

import pytest

from pipelines.errors import LLMAuthError
from rag_app.answer.written.queries import generate_queries
from rag_app.models.llm.client import load_llm
from rag_app.settings import Settings
from tests.support.openai_server import Failure, OpenAIServer, Reply


def ask(server: OpenAIServer, question: str, count: int) -> list[str]:
    llm = load_llm(Settings(llm="like:test", llm_base_url=server.url))
    assert llm is not None
    return generate_queries(llm, question, count)


def test_queries_when_model_lists_them_come_clean_without_the_question() -> None:
    """Case 16."""
    reply = "1. What is the lead time?\n2. delivery delay\n3. days until delivery\n4. more"
    with OpenAIServer(Reply(reply)) as server:
        assert ask(server, "what is the LEAD time?", 2) == ["delivery delay", "days until delivery"]
        assert len(server.chats) == 1


def test_queries_when_model_writes_nothing_are_none() -> None:
    with OpenAIServer(Reply("\n\n")) as server:
        assert ask(server, "What is the lead time?", 2) == []


def test_queries_for_a_japanese_question_are_asked_for_in_japanese() -> None:
    with OpenAIServer(Reply("納期")) as server:
        assert ask(server, "納期は何日ですか", 1) == ["納期"]
        assert "Japanese" in server.chats[0].prompt


def test_no_queries_wanted_asks_nobody() -> None:
    with OpenAIServer(Reply("x")) as server:
        assert ask(server, "q", 0) == []
        assert server.chats == []


def test_queries_when_key_is_refused_raise() -> None:
    with OpenAIServer(Failure(401)) as server, pytest.raises(LLMAuthError):
        ask(server, "What is the lead time?", 2)


def test_a_query_that_the_token_limit_cut_is_not_searched() -> None:
    reply = "1. delivery delay\n2. days until deliv"
    with OpenAIServer(Reply(reply, finish="length")) as server:
        assert ask(server, "What is the lead time?", 2) == ["delivery delay"]
