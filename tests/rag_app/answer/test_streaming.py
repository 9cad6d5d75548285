"""Streamed answers: words as they come, the answer at the end, and what is held let go."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest

from pipelines.errors import LLMStreamError
from rag_app.answer.response import Answer
from rag_app.answer.streaming import AsyncStreamedAnswer, StreamedAnswer
from tests.support.passages import node

NODES = [node("The plant.")]


class Held:
    def __init__(self):
        self.closed = 0
        self.stack = ExitStack()
        self.stack.callback(self._close)

    def _close(self):
        self.closed += 1


def finish(text):
    return Answer(response=text, question="q", source_nodes=NODES)


def broken():
    yield "one "
    raise LLMStreamError("it broke")


@pytest.fixture
def held():
    return Held()


def test_reading_to_the_end_finishes_the_answer(held):
    streamed = StreamedAnswer(iter(["one ", "two"]), finish, NODES, held.stack)
    assert next(streamed.response_gen) == "one "
    assert (streamed.partial, streamed.finished, held.closed) == ("one ", False, 0)
    assert list(streamed.response_gen) == ["two"]
    assert (streamed.finished, held.closed) == (True, 1)
    assert (streamed.response_txt, streamed.outcome) == ("one two", "answered")


def test_str_and_fields_read_the_rest_of_the_stream():
    streamed = StreamedAnswer(iter(["one ", "two"]), finish, NODES)
    next(streamed.response_gen)
    assert str(streamed) == "one two"
    assert streamed.to_dict()["answer"] == "one two"


def test_a_broken_stream_raises_now_and_later(held):
    streamed = StreamedAnswer(broken(), finish, NODES, held.stack)
    for _ in range(2):
        with pytest.raises(LLMStreamError):
            streamed.get_response()
    assert (streamed.partial, streamed.finished, held.closed) == ("one ", False, 1)


def test_closing_lets_go_of_what_is_held(held):
    streamed = StreamedAnswer(iter(["one ", "two"]), finish, NODES, held.stack)
    next(streamed.response_gen)
    streamed.close()
    assert (held.closed, streamed.finished) == (1, False)


def test_closing_before_the_first_word_lets_go_as_well(held):
    StreamedAnswer(iter(["one"]), finish, NODES, held.stack).close()
    assert held.closed == 1


async def words(*texts):
    for text in texts:
        yield text


def test_an_async_stream_ends_as_the_same_answer(held):
    async def run():
        streamed = AsyncStreamedAnswer(words("one ", "two"), finish, NODES, held.stack)
        with pytest.raises(RuntimeError, match="read response_gen"):
            _ = streamed.outcome
        got = [word async for word in streamed.response_gen]
        return got, str(streamed), (await streamed.get_response()).response

    assert asyncio.run(run()) == (["one ", "two"], "one two", "one two")
    assert held.closed == 1


def test_an_async_stream_that_is_closed_lets_go_of_what_is_held(held):
    async def run():
        streamed = AsyncStreamedAnswer(words("one ", "two"), finish, NODES, held.stack)
        async for _ in streamed.response_gen:
            break
        await streamed.close()

    asyncio.run(run())
    assert held.closed == 1
