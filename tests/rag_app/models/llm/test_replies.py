"""Replies as today's models and servers send them: the text that is shown, or the right error.

Each case is asked four ways (streaming or not, sync or async), which must agree.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.llm import LLM

from pipelines.errors import (
    LLMAuthError,
    LLMError,
    LLMRateLimitError,
    LLMRequestError,
    LLMServerError,
    LLMStreamError,
)
from rag_app.models import retrying
from rag_app.models.llm.calls import ReplyStream, achat, chat
from rag_app.models.llm.client import load_llm
from rag_app.models.llm.thoughts import never
from rag_app.models.usage import Reply as Given
from rag_app.settings import Settings
from tests.support.openai_server import (
    MODEL,
    Behaviour,
    Failure,
    Garbage,
    Message,
    OpenAIServer,
    Reply,
    Request,
)

ASK = [
    ChatMessage(role="system", content="Answer from the passages."),
    ChatMessage(role="user", content="What is the capital?"),
]
ANSWER = "Berlin is the capital. [1]"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "_DELAY_SECONDS", 0.0)


def model(server: OpenAIServer, **settings: object) -> LLM:
    options = {"llm_timeout": 5.0, "llm_context_window": 16_384, **settings}
    llm = load_llm(Settings(llm=f"like:{MODEL}", llm_base_url=server.url, **options))
    assert llm is not None
    return llm


def streamed(llm: LLM) -> Given:
    stream = ReplyStream(llm, ASK, is_answer=never)
    shown = "".join(stream)
    assert shown == stream.reply.text
    return stream.reply


async def astreamed(llm: LLM) -> Given:
    stream = ReplyStream(llm, ASK, is_answer=never)
    shown = "".join([delta async for delta in stream])
    assert shown == stream.reply.text
    return stream.reply


Ask = Callable[[LLM], Given]
WAYS: dict[str, Ask] = {
    "chat": lambda llm: chat(llm, ASK),
    "achat": lambda llm: asyncio.run(achat(llm, ASK)),
    "stream": streamed,
    "astream": lambda llm: asyncio.run(astreamed(llm)),
}
way = pytest.mark.parametrize("ask", WAYS.values(), ids=WAYS)


def body(value: object) -> Garbage:
    """200 with a JSON body, whether a stream was asked for or not."""
    return Garbage(json.dumps(value).encode(), "application/json")


THOUGHTS = {
    "think": f"<think>Is it Bonn?</think>{ANSWER}",
    "think without its opening": f"Is it Bonn?\n</think>\n\n{ANSWER}",
    "thinking": f"<thinking>Is it Bonn?</thinking>\n{ANSWER}",
    "thinking without its opening": f"Is it Bonn?</thinking>\n{ANSWER}",
    "capitals": f"<THINK>Is it Bonn?</THINK>\n{ANSWER}",
    "square brackets": f"[THINK]Is it [1] Bonn?[/THINK]{ANSWER}",
    "two blocks": f"<think>Is it Bonn?</think>\n<think>Was it?</think>\n\n{ANSWER}",
    "a block within": f"Berlin is <think>sure?</think>the capital. [1]{'<think>done</think>'}",
    "an empty block": f"<think>\n\n</think>\n\n{ANSWER}",
    "a block that does not end": f"{ANSWER}<think>Or is it Bonn?",
    "a mark named within a thought": f"<think>I am in <think> now.</think>{ANSWER}",
    "channels": (
        "<|channel|>analysis<|message|>Is it Bonn?<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{ANSWER}<|return|>"
    ),
    "channels with a commentary": (
        "<|channel|>analysis<|message|>Bonn?<|end|><|start|>assistant<|channel|>commentary"
        "<|message|>I look it up.<|end|><|start|>assistant<|channel|>final<|message|>" + ANSWER
    ),
    "channels whose marks were stripped": f"analysisIs it Bonn?assistantfinal{ANSWER}",
    "channels without their first mark": (
        f"Is it Bonn?<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}"
    ),
    "words like marks": ANSWER,
    "begin of thought": f"<|begin_of_thought|>Bonn?<|end_of_thought|>\n\n{ANSWER}",
    "Cohere's": (
        "<|START_THINKING|>Bonn?<|END_THINKING|><|START_RESPONSE|>" + ANSWER + "<|END_RESPONSE|>"
    ),
    "Seed's": f"<seed:think>Bonn?</seed:think>{ANSWER}",
    "Kimi's": f"◁think▷Bonn?◁/think▷{ANSWER}",
}

RIGHT: dict[str, tuple[Behaviour, str]] = {
    **{name: (Message({"content": text}, chunk=3), ANSWER) for name, text in THOUGHTS.items()},
    "reasoning_content": (
        Message({"reasoning_content": "Is it Bonn?", "content": ANSWER}),
        ANSWER,
    ),
    "reasoning": (Message({"reasoning": "Is it Bonn?", "content": ANSWER}), ANSWER),
    "parts": (
        Message(
            {"content": [{"type": "text", "text": "Berlin "}, {"type": "text", "text": "is it."}]}
        ),
        "Berlin is it.",
    ),
    "parts with thoughts": (
        Message(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Bonn?"}]},
                    {"type": "text", "text": ANSWER},
                ]
            }
        ),
        ANSWER,
    ),
    "parts with a text object": (
        Message({"content": [{"type": "text", "text": {"value": ANSWER}}, "!"]}),
        f"{ANSWER}!",
    ),
    "a tool call beside the answer": (
        Message({"content": ANSWER, "tool_calls": [{"index": 0, "id": "1", "type": "function"}]}),
        ANSWER,
    ),
    "done without a reason": (Message({"content": ANSWER}, finish=None), ANSWER),
    "a server that does not stream": (
        body(
            {"choices": [{"index": 0, "message": {"content": ANSWER}, "finish_reason": "stop"}]},
        ),
        ANSWER,
    ),
}


@way
@pytest.mark.parametrize("case", RIGHT)
def test_what_is_shown_is_the_answer_alone(ask: Ask, case: str) -> None:
    behaviour, expected = RIGHT[case]
    with OpenAIServer(behaviour) as server:
        reply = ask(model(server))
    assert reply.text == expected
    assert len(server.chats) == 1


CALL = {
    "index": 0,
    "id": "1",
    "type": "function",
    "function": {"name": "search_web", "arguments": "{}"},
}
FAILED: dict[str, tuple[Behaviour, type[LLMError], str]] = {
    "a refusal": (
        Message({"refusal": "I cannot help with weapons."}),
        LLMRequestError,
        "the model refused: I cannot help with weapons",
    ),
    "a refusal as a part": (
        Message({"content": [{"type": "refusal", "refusal": "Not that."}]}),
        LLMRequestError,
        "the model refused: Not that",
    ),
    "a content filter": (
        Message({}, finish="content_filter"),
        LLMRequestError,
        "content filter",
    ),
    "a content filter before the call": (
        Failure(400, "The response was filtered", code="content_filter"),
        LLMRequestError,
        "another question",
    ),
    "a tool call in place of an answer": (
        Message({"tool_calls": [CALL]}, finish="tool_calls"),
        LLMRequestError,
        "search_web",
    ),
    "a finish that is an error": (
        Message({}, finish="error", choice={"error": {"code": 502, "message": "upstream died"}}),
        LLMServerError,
        "upstream died",
    ),
    "a finish that is an error without words": (
        Message({}, finish="error"),
        LLMServerError,
        "error",
    ),
    "an error in a body with 200": (
        body({"error": {"message": "out of memory"}}),
        LLMServerError,
        "out of memory",
    ),
    "an error as a text with 200": (body({"error": "out of memory"}), LLMServerError, "memory"),
    "an error with a code with 200": (
        body({"error": {"message": "slow down", "code": 429}}),
        LLMRateLimitError,
        "slow down",
    ),
    "a key refused with 200": (
        body({"error": {"message": "bad key", "code": 401}}),
        LLMAuthError,
        "bad key",
    ),
    "an error object of vLLM with 200": (
        body({"object": "error", "message": "prompt too long", "code": 400}),
        LLMRequestError,
        "prompt too long",
    ),
}


@way
@pytest.mark.parametrize("case", FAILED)
def test_what_is_no_answer_is_the_right_error(ask: Ask, case: str) -> None:
    behaviour, kind, words = FAILED[case]
    with OpenAIServer(behaviour) as server, pytest.raises(kind, match=words) as caught:
        ask(model(server))
    assert type(caught.value) is kind
    assert len(server.chats) == (2 if kind.retryable else 1)


@pytest.mark.parametrize("ask", [WAYS["stream"], WAYS["astream"]], ids=["stream", "astream"])
def test_a_filter_after_words_were_shown_breaks_the_stream_and_says_why(ask: Ask) -> None:
    filtered = Message({"content": "Berlin"}, finish="content_filter")

    def shown_at_once(llm: LLM) -> None:
        list(ReplyStream(llm, ASK))

    with OpenAIServer(filtered) as server, pytest.raises(LLMStreamError, match="content filter"):
        shown_at_once(model(server))
    with OpenAIServer(filtered) as server, pytest.raises(LLMRequestError, match="content filter"):
        ask(model(server))


def takes_no_system(request: Request) -> Behaviour:
    if any(message["role"] == "system" for message in request.body["messages"]):
        return Failure(400, "System role not supported")
    return Message({"content": ANSWER})


@way
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "System role not supported"),
        (500, "Jinja Exception: System role not supported at row 1"),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (422, "Only user and assistant roles are supported!"),
    ],
)
def test_a_model_without_a_system_role_is_asked_without_from_then_on(
    ask: Ask, status: int, message: str
) -> None:
    def behave(request: Request) -> Behaviour:
        refused = isinstance(takes_no_system(request), Failure)
        return Failure(status, message) if refused else Message({"content": ANSWER})

    with OpenAIServer(behave) as server:
        llm = model(server)
        assert ask(llm).text == ANSWER
        assert ask(llm).text == ANSWER
    assert [[m["role"] for m in chat.body["messages"]] for chat in server.chats] == [
        ["system", "user"],
        ["user"],
        ["user"],
    ]
    assert server.chats[1].prompt == "Answer from the passages.\n\nWhat is the capital?"


@way
def test_a_server_that_refuses_the_role_in_any_case_is_asked_twice_and_no_more(ask: Ask) -> None:
    refusing = OpenAIServer(Failure(400, "System role not supported"))
    with refusing as server, pytest.raises(LLMRequestError, match="System role"):
        ask(model(server))
    assert len(server.chats) == 2


@pytest.mark.parametrize("ask", [WAYS["stream"], WAYS["astream"]], ids=["stream", "astream"])
@pytest.mark.parametrize(
    "words",
    [
        "Unrecognized request argument supplied: stream_options",
        "Extra inputs are not permitted: body.stream_options",
        "property 'stream_options' is unsupported",
    ],
)
def test_a_server_that_refuses_stream_options_is_asked_without_from_then_on(
    ask: Ask, words: str
) -> None:
    def behave(request: Request) -> Behaviour:
        return Failure(400, words) if "stream_options" in request.body else Reply(ANSWER)

    with OpenAIServer(behave) as server:
        llm = model(server)
        assert ask(llm).text == ask(llm).text == ANSWER
    assert ["stream_options" in chat.body for chat in server.chats] == [True, False, False]


@way
def test_a_server_that_takes_only_its_own_temperature_is_asked_without(ask: Ask) -> None:
    refusal = "Unsupported value: 'temperature' does not support 0.0 with this model."

    def behave(request: Request) -> Behaviour:
        return Failure(400, refusal) if "temperature" in request.body else Reply(ANSWER)

    with OpenAIServer(behave) as server:
        assert ask(model(server)).text == ANSWER
    assert len(server.chats) == 2


@pytest.mark.parametrize("ask", [WAYS["stream"], WAYS["astream"]], ids=["stream", "astream"])
def test_usage_is_asked_for_while_streaming_and_reported(ask: Ask) -> None:
    def behave(request: Request) -> Behaviour:
        wanted = request.body.get("stream_options", {}).get("include_usage", False)
        return Reply(ANSWER, usage=wanted)

    with OpenAIServer(behave) as server:
        reply = ask(model(server))
    assert (reply.prompt_tokens, reply.completion_tokens, reply.estimated) == (100, 20, False)


@way
@pytest.mark.parametrize("fields", [{"content": "<think>Is it"}, {"reasoning_content": "Is it"}])
def test_thoughts_that_used_up_the_budget_are_given_a_larger_one_once(
    ask: Ask, fields: dict[str, str]
) -> None:
    def behave(request: Request) -> Behaviour:
        enough = request.body["max_tokens"] >= 4_000
        return Message({"content": f"<think>Bonn?</think>{ANSWER}"}) if enough else thinking

    thinking = Message(fields, finish="length")
    with OpenAIServer(behave) as server:
        llm = model(server)
        reply = ask(llm)
        assert (reply.text, reply.calls, reply.cut) == (ANSWER, 2, False)
        assert reply.completion_tokens > 0
        assert ask(llm).calls == 1
    budgets = [chat.body["max_tokens"] for chat in server.chats]
    assert budgets == [512, 512 + 8192, 512 + 8192]


@way
def test_thoughts_that_use_up_the_larger_budget_too_are_an_error_that_names_it(ask: Ask) -> None:
    thinking = OpenAIServer(Message({"content": "<think>Is it"}, finish="length"))
    with thinking as server, pytest.raises(LLMError, match="llm_reasoning_tokens"):
        ask(model(server))
    assert len(server.chats) == 2


@way
def test_the_larger_budget_fits_the_window(ask: Ask) -> None:
    thinking = OpenAIServer(Message({"content": "<think>Is it"}, finish="length"))
    with thinking as server, pytest.raises(LLMError, match="llm_reasoning_tokens"):
        ask(model(server, llm_context_window=4096))
    assert 512 < server.chats[-1].body["max_tokens"] < 4096


@way
def test_the_cost_of_a_call_that_gave_no_text_is_counted(ask: Ask) -> None:
    counted = body(
        {
            "choices": [{"index": 0, "message": {"content": ""}, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 512, "total_tokens": 519},
        }
    )
    with OpenAIServer(counted, Reply(ANSWER)) as server:
        reply = ask(model(server))
    assert (reply.prompt_tokens, reply.completion_tokens) == (107, 532)


@way
def test_the_effort_of_reasoning_is_sent_and_brings_its_budget(ask: Ask) -> None:
    with OpenAIServer(Reply(ANSWER)) as server:
        ask(model(server, llm_reasoning_effort="low"))
        ask(model(server))
    with_effort, without = (chat.body for chat in server.chats)
    assert (with_effort["reasoning_effort"], with_effort["max_tokens"]) == ("low", 512 + 8192)
    assert ("reasoning_effort" in without, without["max_tokens"]) == (False, 512)


def test_no_reasoning_needs_no_budget_of_its_own() -> None:
    with OpenAIServer(Reply(ANSWER)) as server:
        chat(model(server, llm_reasoning_effort="none"), ASK)
    assert server.chats[0].body["max_tokens"] == 512


def test_a_refused_effort_is_an_error_that_names_the_setting() -> None:
    refusing = OpenAIServer(Failure(400, "Unknown parameter: 'reasoning_effort'."))
    with refusing as server, pytest.raises(LLMRequestError, match="llm_reasoning_effort"):
        chat(model(server, llm_reasoning_effort="low"), ASK)
    assert len(server.chats) == 1
