from __future__ import annotations

import asyncio
import gc

import httpx
import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from rag_app.models.llm.calls import ReplyStream
from rag_app.models.llm.client import load_llm
from rag_app.settings import Settings
from tests.support.openai_server import OpenAIServer, Reply

ASK = [ChatMessage(role=MessageRole.USER, content="?")]


@pytest.fixture(autouse=True)
def no_collector():
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def stream():
    """A stream of a model that never comes to its end."""
    with OpenAIServer(Reply("word " * 50, ending="stall")) as server:
        settings = Settings(llm="like:test", llm_base_url=server.url, llm_context_window=4096)
        yield ReplyStream(load_llm(settings), ASK)


def recorded(monkeypatch, name):
    closed = []
    close = getattr(httpx.Response, name)

    def record(response):
        closed.append(response)
        return close(response)

    monkeypatch.setattr(httpx.Response, name, record)
    return closed


def test_response_when_the_reader_stops_early_is_closed_at_once(stream, monkeypatch):
    closed = recorded(monkeypatch, "close")
    words = iter(stream)
    assert next(words)
    words.close()
    assert [response.is_closed for response in closed] == [True]


def test_response_when_the_async_reader_stops_early_is_closed_at_once(stream, monkeypatch):
    closed = recorded(monkeypatch, "aclose")

    async def read_one() -> None:
        words = aiter(stream)
        assert await anext(words)
        await words.aclose()
        assert [response.is_closed for response in closed] == [True]

    asyncio.run(read_one())
