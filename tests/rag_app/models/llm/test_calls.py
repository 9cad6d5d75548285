"""Calls against a server that misbehaves: our errors, one retry in all, bounded answers."""

from __future__ import annotations

import asyncio
import socket
import traceback
from contextlib import suppress

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockLLM
from llama_index.llms.openai_like import OpenAILike

from pipelines.errors import (
    LLMAuthError,
    LLMConnectionError,
    LLMError,
    LLMNotFoundError,
    LLMRateLimitError,
    LLMRequestError,
    LLMServerError,
    LLMStreamError,
    LLMTimeoutError,
)
from rag_app.models import retrying
from rag_app.models.llm import calls
from rag_app.models.llm.calls import ReplyStream, achat, chat
from rag_app.models.llm.client import load_llm
from rag_app.settings import Settings
from tests.support.hanging import MAX_HANG_S
from tests.support.openai_server import MODEL, Failure, Garbage, OpenAIServer, Reply, Stall

ASK = [ChatMessage(role="user", content="何が首都ですか")]
TEXT = "東京は日本の首都です。[1] It is big. 😀"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(retrying, "_DELAY_SECONDS", 0.0)


def model(server: OpenAIServer, **settings: object):
    options = {"llm_timeout": 5.0, "llm_context_window": 4096, **settings}
    return load_llm(Settings(llm=f"like:{MODEL}", llm_base_url=server.url, **options))


def stream(llm) -> list[str]:
    return list(ReplyStream(llm, ASK))


async def astream(llm) -> list[str]:
    return [delta async for delta in ReplyStream(llm, ASK)]


WAYS = {
    "chat": lambda llm: chat(llm, ASK),
    "achat": lambda llm: asyncio.run(achat(llm, ASK)),
    "stream": stream,
    "astream": lambda llm: asyncio.run(astream(llm)),
}
way = pytest.mark.parametrize("call", WAYS.values(), ids=WAYS)


@way
def test_a_good_answer_arrives_whole(call):
    with OpenAIServer(Reply(TEXT)) as server:
        answer = call(model(server))
    text = "".join(answer) if isinstance(answer, list) else answer.text
    assert text == TEXT
    assert len(server.chats) == 1


@pytest.mark.parametrize("border", [1, 2, 3, 5, 7])
def test_chunk_borders_inside_a_character_do_no_harm(border):
    with OpenAIServer(Reply(TEXT, chunk=1, border=border)) as server:
        assert "".join(stream(model(server))) == TEXT


@pytest.mark.parametrize(
    ("behaviour", "kind", "requests"),
    [
        (Failure(401), LLMAuthError, 1),
        (Failure(403), LLMAuthError, 1),
        (Failure(404), LLMNotFoundError, 1),
        (Failure(400), LLMRequestError, 1),
        (Failure(422), LLMRequestError, 1),
        (Failure(429), LLMRateLimitError, 2),
        (Failure(429, code="insufficient_quota"), LLMRateLimitError, 1),
        (Failure(500), LLMServerError, 2),
        (Failure(503), LLMServerError, 2),
        (Garbage(), LLMServerError, 2),
        (Garbage(b"{}", "application/json"), LLMServerError, 2),
        (Garbage(b'{"choices": []}', "application/json"), LLMServerError, 2),
        (Garbage(b"{not json", "application/json"), LLMServerError, 2),
    ],
    ids=str,
)
def test_failures_become_our_errors_after_at_most_one_retry(behaviour, kind, requests):
    with OpenAIServer(behaviour) as server, pytest.raises(kind) as caught:
        chat(model(server), ASK)
    assert type(caught.value) is kind
    assert len(server.chats) == requests


@way
@pytest.mark.parametrize(
    ("behaviour", "kind"), [(Failure(401), LLMAuthError), (Failure(500), LLMServerError)], ids=str
)
def test_every_way_of_calling_gives_the_same_errors(call, behaviour, kind):
    with OpenAIServer(behaviour) as server, pytest.raises(kind):
        call(model(server))


@way
def test_one_failure_is_made_good_by_the_retry(call):
    with OpenAIServer(Failure(503), Reply(TEXT)) as server:
        call(model(server))
    assert len(server.chats) == 2


@way
def test_a_stall_is_a_timeout_and_the_work_is_not_asked_for_twice(call):
    stalled = OpenAIServer(Stall(), Reply(TEXT))
    with stalled as server, pytest.raises(LLMTimeoutError, match=r"within 0\.15 s.*llm_timeout"):
        call(model(server, llm_timeout=0.15))
    assert len(server.chats) <= 1, "none: a busy machine had not read the question yet"


@way
def test_a_gateway_that_waited_in_vain_is_not_asked_again(call):
    with OpenAIServer(Failure(504), Reply(TEXT)) as server, pytest.raises(LLMTimeoutError):
        call(model(server))
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("asked", "waited"), [("3", 3.0), ("9999", 10.0), ("-1", 0.0), ("nan", 0.0), ("soon", 0.0)]
)
def test_the_wait_that_a_server_asks_for_is_kept_within_bounds(asked, waited, monkeypatch):
    waits = []
    monkeypatch.setattr(calls.time, "sleep", waits.append)
    busy = Failure(429, headers={"Retry-After": asked})
    with OpenAIServer(busy, Reply(TEXT)) as server:
        assert chat(model(server), ASK).text == TEXT
    assert waits == [waited]


@way
def test_an_unknown_model_is_told_the_names_of_the_known_ones(call):
    names = [{"id": "smol-135m"}, {"id": "qwen-7b"}, {"name": "odd"}, 3]
    unknown = OpenAIServer(Failure(400, "model not found"), models=names)
    with unknown as server, pytest.raises(LLMNotFoundError, match="smol-135m") as caught:
        call(model(server))
    assert len(server.chats) == 1
    assert "qwen-7b" in caught.value.hint


@pytest.mark.parametrize("models", [None, []])
def test_an_unknown_model_of_a_server_without_a_list_is_told_the_setting(models):
    unknown = OpenAIServer(Failure(404, "no such model"), models=models)
    with unknown as server, pytest.raises(LLMNotFoundError, match="RAG_LLM"):
        chat(model(server), ASK)


@way
def test_a_refused_connection_names_the_address_setting(call):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    llm = load_llm(Settings(llm="like:m", llm_base_url=url, llm_context_window=4096))
    with pytest.raises(LLMConnectionError, match="llm_base_url"):
        call(llm)


@pytest.mark.parametrize("call", [WAYS["stream"], WAYS["astream"]], ids=["sync", "async"])
@pytest.mark.parametrize("ending", ["closed", "torn", "error"])
def test_a_broken_stream_is_told_from_a_finished_one(call, ending):
    broken = OpenAIServer(Reply("words and words", ending=ending))
    with broken as server, pytest.raises(LLMStreamError, match="broke off after 15 characters"):
        call(model(server))
    assert len(server.chats) == 1, "words were shown already: no retry"


@pytest.mark.parametrize("call", [WAYS["stream"], WAYS["astream"]], ids=["sync", "async"])
def test_a_stream_that_stalls_after_words_is_a_broken_one(call):
    for seconds in (0.3, 3.0, MAX_HANG_S):
        broken = pytest.raises(LLMStreamError, match="broke off after 15 characters")
        stalled = OpenAIServer(Reply("words and words", ending="stall"))
        # A busy machine may let a short time pass before the first words.
        with stalled as server, suppress(LLMTimeoutError):
            with broken:
                call(model(server, llm_timeout=seconds))
            assert len(server.chats) == 1, "words were shown already: no retry"
            return
    pytest.fail("no words came")


def test_a_stream_without_its_last_mark_is_finished_when_the_model_said_so():
    with OpenAIServer(Reply(TEXT, ending="no_done")) as server:
        assert "".join(stream(model(server))) == TEXT


def test_the_words_before_the_break_were_given():
    got = []
    torn = OpenAIServer(Reply("words and words", ending="torn"))
    with torn as server, pytest.raises(LLMStreamError):
        got.extend(ReplyStream(model(server), ASK))
    assert "".join(got) == "words and words"


def test_closing_a_stream_ends_the_request():
    with OpenAIServer(Reply("word " * 50, ending="stall")) as server:
        deltas = iter(ReplyStream(model(server), ASK))
        assert next(deltas)
        deltas.close()


def test_usage_is_what_the_server_counted():
    with OpenAIServer(Reply("a b c")) as server:
        reply = chat(model(server), ASK)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.estimated) == (100, 20, False)


def test_usage_is_estimated_where_the_server_says_nothing():
    with OpenAIServer(Reply("a b c", usage=False)) as server:
        reply = chat(model(server), ASK)
    assert reply.estimated
    assert reply.completion_tokens == 3
    assert reply.prompt_tokens > 3


def test_an_answer_cut_at_its_limit_says_so():
    with OpenAIServer(Reply("a b c", finish="length")) as server:
        assert chat(model(server), ASK).cut
        source = ReplyStream(model(server), ASK)
        list(source)
        assert source.reply.cut


def test_an_endless_answer_is_an_error(monkeypatch):
    monkeypatch.setattr(calls, "MAX_ANSWER_CHARACTERS", 50)
    with OpenAIServer(Reply("x" * 60)) as server, pytest.raises(LLMServerError, match="longer"):
        chat(model(server), ASK)


def test_control_characters_of_an_answer_do_not_reach_a_terminal():
    with OpenAIServer(Reply("\x1b[31mred\x07")) as server:
        assert chat(model(server), ASK).text == "[31mred"


def test_a_users_model_that_retries_itself_is_not_retried_here():
    """Retries of retries multiply: 3 become 12."""
    with OpenAIServer(Failure(500)) as server:
        theirs = OpenAILike(
            model=MODEL, api_base=server.url, api_key="k", is_chat_model=True, max_retries=1
        )
        with pytest.raises(LLMServerError):
            chat(theirs, ASK)
        own = len(server.chats)
        with pytest.raises(LLMServerError):
            chat(model(server), ASK)
    # The client's own retry; ours adds none to it.
    assert own == 2
    assert len(server.chats) - own == 2


def test_any_llama_index_model_can_be_called():
    assert chat(MockLLM(), ASK).text
    source = ReplyStream(MockLLM(), ASK)
    assert "".join(source) == source.reply.text


def test_an_error_of_an_unknown_model_class_is_ours():
    class Broken(MockLLM):
        def chat(self, messages, **kwargs):
            raise RuntimeError("out of memory")

    with pytest.raises(LLMError, match="out of memory"):
        chat(Broken(), ASK)


def test_the_key_is_in_no_error_nor_its_traceback():
    """Case 23, for errors: a server may quote the key that it refused."""
    key = "sk-very-secret-0123456789"
    with OpenAIServer(Failure(401, f"Incorrect API key provided: {key}")) as server:
        try:
            chat(model(server, llm_api_key=key), ASK)
        except LLMAuthError as error:
            shown = "".join(traceback.format_exception(error)) + str(error) + repr(error)
    assert key not in shown
    assert "***" in shown
