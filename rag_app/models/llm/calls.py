"""Calls to a language model: at most one retry, our errors, bounded answers.

Our own model object does not retry; a user's model that retries by its own setting
(``max_retries``) is not retried here, since retries of retries multiply.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms.llm import LLM

from pipelines.errors import (
    LLMConnectionError,
    LLMServerError,
    LLMStreamError,
    RagError,
)
from pipelines.text import count_tokens, sanitise
from rag_app.models.llm.errors import as_llm_error
from rag_app.models.retrying import delay_or_raise
from rag_app.models.usage import Reply, count

MAX_ANSWER_CHARACTERS = 100_000


def model_name(llm: LLM) -> str:
    """Return the model's name, for messages."""
    return str(getattr(llm, "model", "") or llm.metadata.model_name or llm.class_name())


def chat(llm: LLM, messages: Sequence[ChatMessage]) -> Reply:
    """Return the whole answer of one call.

    Raises:
        LLMError: its class says what failed; after one retry where that may help.
    """
    calls = _Calls(llm, messages)
    while True:
        calls.count += 1
        try:
            response = llm.chat(messages)
            return calls.reply(response)
        except Exception as error:
            time.sleep(calls.delay_or_raise(error))


async def achat(llm: LLM, messages: Sequence[ChatMessage]) -> Reply:
    """Do the same as :func:`chat` without blocking the loop."""
    calls = _Calls(llm, messages)
    while True:
        calls.count += 1
        try:
            response = await llm.achat(messages)
            return calls.reply(response)
        except Exception as error:
            await asyncio.sleep(await asyncio.to_thread(calls.delay_or_raise, error))


class ReplyStream:
    """One streamed call; iterate it once, sync or async, then read ``reply``.

    A failure before the first words is retried once; a later one is an
    ``LLMStreamError``, as is a stream of the OpenAI protocol that ends without a
    ``finish_reason``.

    Args:
        llm: the model.
        messages: what it is asked.
    """

    def __init__(self, llm: LLM, messages: Sequence[ChatMessage]) -> None:
        self._calls = _Calls(llm, messages)
        self._collected = _Collected()
        self._reply: Reply | None = None

    @property
    def reply(self) -> Reply:
        """The answer; only after the end of the stream."""
        if self._reply is None:
            raise RuntimeError("the stream is not finished")
        return self._reply

    def __iter__(self) -> Iterator[str]:
        while True:
            self._calls.count += 1
            try:
                yield from self._deltas()
                self._end()
                return
            except Exception as error:
                time.sleep(self._delay_or_raise(error))

    async def __aiter__(self) -> AsyncGenerator[str, None]:
        while True:
            self._calls.count += 1
            try:
                responses = await self._calls.llm.astream_chat(self._calls.messages)
                try:
                    async for response in responses:
                        if delta := self._collected.add(response):
                            yield delta
                finally:
                    await _aclose(responses)
                self._end()
                return
            except Exception as error:
                await asyncio.sleep(await asyncio.to_thread(self._delay_or_raise, error))

    def _deltas(self) -> Iterator[str]:
        responses = self._calls.llm.stream_chat(self._calls.messages)
        try:
            for response in responses:
                if delta := self._collected.add(response):
                    yield delta
        finally:
            # Ctrl-C or a reader that stops: close the connection at once.
            _close(responses)

    def _end(self) -> None:
        if self._collected.ended_early:
            raise LLMStreamError("the connection was closed too early", hint="ask again")
        self._reply = self._calls.reply_of(self._collected)

    def _delay_or_raise(self, error: Exception) -> float:
        if not self._collected.text:
            return self._calls.delay_or_raise(error)
        mapped = self._calls.mapped(error)
        reason = mapped.message.removeprefix(f"{self._calls.name}: ")
        if isinstance(mapped, LLMConnectionError):
            reason = "the connection was lost"
        raise LLMStreamError(
            f"{self._calls.name}: the answer broke off after "
            f"{len(self._collected.text)} characters: {reason}",
            hint="ask again" if isinstance(mapped, LLMConnectionError) else mapped.hint,
        ) from None


class _Calls:
    """The state of a call and its retry."""

    def __init__(self, llm: LLM, messages: Sequence[ChatMessage]) -> None:
        self.llm = llm
        self.messages = list(messages)
        self.count = 0
        self._retries = 0 if getattr(llm, "max_retries", 0) else 1

    @property
    def name(self) -> str:
        return model_name(self.llm)

    def mapped(self, error: Exception) -> RagError:
        return as_llm_error(
            error,
            model=self.name,
            secrets=_secrets(self.llm),
            timeout=_timeout(self.llm),
            known_models=getattr(self.llm, "known_models", tuple),
        )

    def delay_or_raise(self, error: Exception) -> float:
        """Return the seconds to wait before the retry, or raise our error."""
        return delay_or_raise(error, self.mapped(error), tried=self.count, retries=self._retries)

    def reply(self, response: ChatResponse) -> Reply:
        collected = _Collected()
        collected.add(response, whole=True)
        return self.reply_of(collected)

    def reply_of(self, collected: _Collected) -> Reply:
        counted = collected.usage
        if counted is None:
            prompt = sum(count_tokens(str(message.content or "")) for message in self.messages)
            counted = (prompt, count_tokens(collected.text))
            estimated = True
        else:
            estimated = False
        reply = Reply(
            text=collected.text,
            prompt_tokens=counted[0],
            completion_tokens=counted[1],
            estimated=estimated,
            cut=collected.finish_reason == "length",
            calls=self.count,
        )
        count(reply)
        return reply


class _Collected:
    """The pieces of one answer."""

    def __init__(self) -> None:
        self.text = ""
        self.usage: tuple[int, int] | None = None
        self.finish_reason: str | None = None
        self._says_when_finished = False

    @property
    def ended_early(self) -> bool:
        """Whether the protocol tells how an answer finished, and this one did not."""
        return self._says_when_finished and self.finish_reason is None

    def add(self, response: ChatResponse, *, whole: bool = False) -> str:
        """Take one piece and return its text."""
        raw = response.raw
        choices = _get(raw, "choices")
        if choices is not None:
            self._says_when_finished = True
            reason = _get(choices[0], "finish_reason") if choices else None
            self.finish_reason = reason or self.finish_reason
        self.usage = _usage(response) or self.usage
        delta = sanitise((response.message.content if whole else response.delta) or "")
        self.text += delta
        if len(self.text) > MAX_ANSWER_CHARACTERS:
            raise LLMServerError(
                f"the answer is longer than {MAX_ANSWER_CHARACTERS} characters",
                hint="set a lower llm_max_tokens",
            )
        return delta


def _usage(response: ChatResponse) -> tuple[int, int] | None:
    raw = _get(response.raw, "usage")
    prompt, completion = _get(raw, "prompt_tokens"), _get(raw, "completion_tokens")
    if prompt is None:
        prompt = response.additional_kwargs.get("prompt_tokens")
        completion = response.additional_kwargs.get("completion_tokens")
    if isinstance(prompt, int) and isinstance(completion, int) and prompt > 0:
        return prompt, completion
    return None


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


def _secrets(llm: LLM) -> list[str]:
    values = [getattr(llm, name, None) for name in ("api_key", "token")]
    return [value for value in values if isinstance(value, str) and len(value) > 3]


def _timeout(llm: LLM) -> float | None:
    seconds = getattr(llm, "timeout", None)
    return float(seconds) if isinstance(seconds, int | float) else None


def _close(responses: Any) -> None:
    close: Callable[[], None] | None = getattr(responses, "close", None)
    if close is not None:
        close()


async def _aclose(responses: Any) -> None:
    aclose: Callable[[], Awaitable[None]] | None = getattr(responses, "aclose", None)
    if aclose is not None:
        await aclose()
