"""Replies of the OpenAI protocol as servers send them: their text, and why there is none.

Servers send content as a text or as a list of parts, and failures as a status, as a body
with the status 200, or as a field of the reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import httpx
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole

from pipelines.errors import LLMRequestError, RagError
from rag_app.models.llm.errors import FailedReply, redact

# Marks a response that only says that the server said it had sent all.
FINISHED = "finished"

_CUT = frozenset({"length", "max_tokens", "model_length"})
_FILTERED = frozenset({"content_filter", "safety"})


def get(holder: Any, name: str) -> Any:
    """Return a field of an object or a JSON object; None where it has none."""
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


def choice_of(reply: Any) -> Any:
    """Return the first choice of a reply or an event, None where it has none.

    Raises:
        FailedReply: it is a failure.
    """
    error = get(reply, "error") or (reply if get(reply, "object") == "error" else None)
    choices = get(reply, "choices")
    choice = choices[0] if choices else None
    error = error or get(choice, "error")
    if error or get(choice, "finish_reason") == "error":
        raise FailedReply(_body_of(error))
    return choice


def said_of(choice: Any) -> Any:
    """Return the message of a whole reply, or the piece of one that an event brings."""
    message = get(choice, "message")
    return get(choice, "delta") if message is None else message


def text_of(said: Any) -> str:
    """Return the text of a message, without thoughts and refusals that are parts of it."""
    content = get(said, "content")
    return "".join(_text_of_part(part) for part in _parts(content))


def thoughts_of(said: Any) -> str:
    """Return the thoughts that a server has told from the text."""
    values = (get(said, "reasoning_content"), get(said, "reasoning"))
    return next((value for value in values if isinstance(value, str)), "")


def whole_response(reply: Any) -> ChatResponse:
    """Return LlamaIndex's form of a whole reply.

    Raises:
        FailedReply: it is a failure.
        LookupError: it has no choice.
    """
    choice = choice_of(reply)
    if choice is None:
        raise LookupError("no choice")
    return _response(reply, text_of(said_of(choice)))


def streamed_response(event: Any, before: str = "") -> ChatResponse:
    """Return LlamaIndex's form of one event of a stream.

    Args:
        event: the event, or the whole reply of a server that does not stream.
        before: the text of the events before it.

    Raises:
        FailedReply: it is a failure.
        LookupError: it is no event of the protocol.
    """
    choice = choice_of(event)
    if choice is None and get(event, "choices") is None:
        raise LookupError("no choices")
    delta = text_of(said_of(choice))
    return _response(event, before + delta, delta)


def finished_response(text: str) -> ChatResponse:
    """Return the response that says that the server said it had sent all of a text."""
    response = _response(None, text, "")
    response.additional_kwargs[FINISHED] = True
    return response


def is_json(response: httpx.Response) -> bool:
    """Tell whether a server answered a request for a stream with one JSON object."""
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower() == "application/json"


def without_system(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages with what the system says put before the user's first words."""
    said = [str(one.content) for one in messages if one.role == MessageRole.SYSTEM]
    others = [one for one in messages if one.role != MessageRole.SYSTEM]
    first = str(others[0].content) if others else ""
    return [
        ChatMessage(role=MessageRole.USER, content="\n\n".join(filter(None, [*said, first]))),
        *others[1:],
    ]


def _response(raw: Any, text: str, delta: str | None = None) -> ChatResponse:
    message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
    return ChatResponse(message=message, delta=delta, raw=raw)


class Ending:
    """How a reply ended, from its choices as they come."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._refusal = ""
        self._tools: list[str] = []

    @property
    def is_cut(self) -> bool:
        """Whether the model stopped at its maximum of tokens."""
        return (self.reason or "").lower() in _CUT

    def add(self, choice: Any) -> None:
        """Take a choice: a whole one, or a piece of one."""
        said = said_of(choice)
        self.reason = get(choice, "finish_reason") or self.reason
        self._refusal += get(said, "refusal") or ""
        for part in _parts(get(said, "content")):
            self._refusal += get(part, "refusal") or ""
        for call in get(said, "tool_calls") or ():
            self._tools.append(get(get(call, "function"), "name") or "")

    def error(self, text: str, model: str) -> RagError | None:
        """Return why a reply is no answer, None where its text is one."""
        if (self.reason or "").lower() in _FILTERED:
            return LLMRequestError(
                f"{model}: the server's content filter stopped the answer",
                hint="put another question, or use a model without this filter",
            )
        if text.strip():
            return None
        if self._refusal:
            return LLMRequestError(
                f"{model}: the model refused: {redact(self._refusal)}",
                hint="put the question in other words, or use another model",
            )
        if self._tools or self.reason in ("tool_calls", "function_call"):
            names = ", ".join(filter(None, self._tools)) or "unnamed"
            return LLMRequestError(
                f"{model}: the model called a tool ({redact(names)}) in place of an answer",
                hint="switch tools off at the server, or use another model",
            )
        return None


def _parts(content: Any) -> Iterable[Any]:
    return content if isinstance(content, list) else [content]


def _text_of_part(part: Any) -> str:
    if isinstance(part, str):
        return part
    text = get(part, "text")
    value = get(text, "value") if not isinstance(text, str) else text
    return value if isinstance(value, str) else ""


def _body_of(error: Any) -> dict[str, Any]:
    if isinstance(error, str):
        return {"message": error}
    if isinstance(error, dict):
        return error
    return {name: get(error, name) for name in ("message", "code")}
