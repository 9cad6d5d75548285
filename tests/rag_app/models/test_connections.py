"""A connection is closed with its request, whatever way the request ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.llm import LLM

from pipelines.errors import LLMStreamError, LLMTimeoutError
from rag_app.answer.response import Answer
from rag_app.answer.streaming import AsyncStreamedAnswer
from rag_app.models.llm.calls import ReplyStream, achat
from rag_app.models.llm.client import load_llm
from rag_app.settings import Settings
from tests.support.connections import CancelledAt, run_closing
from tests.support.openai_server import OpenAIServer, Reply, Stall

ASK = [ChatMessage(content="?")]
MAX_STEPS = 200


def model(server: OpenAIServer, seconds: float = 600.0) -> LLM:
    llm = load_llm(
        Settings(
            llm="like:test",
            llm_base_url=server.url,
            llm_context_window=4096,
            llm_total_timeout=seconds,
        )
    )
    assert llm is not None
    return llm


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(Reply("two words")) as server:
        yield server


async def asked(llm: LLM) -> str:
    return (await achat(llm, ASK)).text


async def streamed(llm: LLM) -> str:
    return "".join([piece async for piece in ReplyStream(llm, ASK)])


async def streamed_in_part(llm: LLM) -> str:
    async with aclosing(aiter(ReplyStream(llm, ASK))) as pieces:
        return await anext(pieces)


async def streamed_by_llama_index(llm: LLM) -> str:
    async with aclosing(await llm.astream_chat(ASK)) as pieces:
        return str((await anext(pieces)).message.content)


async def answered_in_part(llm: LLM) -> str:
    async def deltas() -> AsyncGenerator[str, None]:
        async with aclosing(aiter(ReplyStream(llm, ASK))) as pieces:
            async for piece in pieces:
                yield piece

    answer = AsyncStreamedAnswer(deltas(), lambda text: Answer(response=text, question="?"), [])
    first = await anext(answer.response_gen)
    await answer.close()
    return str(first)


WAYS = [asked, streamed, streamed_in_part, streamed_by_llama_index, answered_in_part]


@pytest.mark.parametrize("way", WAYS)
def test_whole_or_left_early_it_is_closed_before_that_returns(server, way):
    run_closing(way(model(server)))


@pytest.mark.parametrize("times", [1, 2, MAX_STEPS])
@pytest.mark.parametrize("way", WAYS)
def test_cancelled_at_any_step_it_is_closed_before_the_task_ends(server, way, times):
    llm = model(server)
    for step in range(1, MAX_STEPS):
        work = CancelledAt(way(llm), step, times)
        try:
            run_closing(_awaited(work))
        except asyncio.CancelledError:
            continue
        if work.steps < step:
            assert step > 3
            return
    pytest.fail("it takes more steps than that")


async def _awaited(work: CancelledAt) -> object:
    return await work


@pytest.mark.parametrize("way", [asked, streamed])
def test_at_its_deadline_it_is_closed_before_the_error_is_raised(way):
    with OpenAIServer(Stall()) as server, pytest.raises(LLMTimeoutError):
        run_closing(way(model(server, 0.01)))


@pytest.mark.parametrize("ending", ["closed", "torn", "error"])
def test_stream_that_breaks_is_closed_before_the_error_is_raised(ending):
    with OpenAIServer(Reply("word " * 9, ending=ending)) as server, pytest.raises(LLMStreamError):
        run_closing(streamed(model(server)))


def test_stream_that_is_abandoned_is_closed_with_its_loop_at_the_latest():
    async def abandon(llm: LLM) -> str:
        async for piece in ReplyStream(llm, ASK):
            return piece
        return ""

    with OpenAIServer(Reply("word " * 50, ending="stall")) as server:
        assert run_closing(abandon(model(server)), at_once=False)
