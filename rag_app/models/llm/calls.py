"""Calls to a language model: at most one retry, our errors, bounded answers.

Our own model object does not retry; a user's model that retries by its own setting
(``max_retries``) is not retried here, since retries of retries multiply.
Apart from failures, a request is sent again without what the server says it does not
take, and once with room for thoughts when they used up the tokens of the answer.
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
    LLMRequestError,
    LLMServerError,
    LLMStreamError,
    RagError,
)
from pipelines.text import count_tokens, sanitise
from rag_app.models.llm.errors import as_llm_error, refused_part
from rag_app.models.llm.reasoning import Reasoning, may_think
from rag_app.models.llm.replies import FINISHED, Ending, choice_of, get, said_of, thoughts_of
from rag_app.models.llm.thoughts import IsAnswer, ThoughtFilter, always, never
from rag_app.models.retrying import delay_or_raise
from rag_app.models.usage import Reply, count

MAX_ANSWER_CHARACTERS = 100_000


def model_name(llm: LLM) -> str:
    """Return the model's name, for messages."""
    return str(getattr(llm, "model", "") or llm.metadata.model_name or llm.class_name())


def thinks(llm: LLM) -> bool:
    """Tell whether a model was seen to think, or may by its name."""
    reasoning: Reasoning | None = getattr(llm, "reasoning", None)
    return (reasoning is not None and reasoning.expected) or may_think(model_name(llm))


def chat(llm: LLM, messages: Sequence[ChatMessage], is_answer: IsAnswer = never) -> Reply:
    """Return the whole answer of one call, without thoughts.

    Args:
        llm: the model.
        messages: what it is asked.
        is_answer: as in :class:`ThoughtFilter`.

    Raises:
        LLMError: its class says what failed; after one retry where that may help.
    """
    calls = _Calls(llm, messages, is_answer)
    while True:
        try:
            options = calls.begin()
            response = llm.chat(calls.messages, **options)
            return calls.reply(response)
        except Exception as error:
            time.sleep(calls.delay_or_raise(error))


async def achat(llm: LLM, messages: Sequence[ChatMessage], is_answer: IsAnswer = never) -> Reply:
    """Do the same as :func:`chat` without blocking the loop."""
    calls = _Calls(llm, messages, is_answer)
    while True:
        try:
            options = await asyncio.to_thread(calls.begin)
            response = await llm.achat(calls.messages, **options)
            return calls.reply(response)
        except Exception as error:
            await asyncio.sleep(await asyncio.to_thread(calls.delay_or_raise, error))


class ReplyStream:
    """One streamed call; iterate it once, sync or async, then read ``reply``.

    A failure before the first words is retried once; a later one is an
    ``LLMStreamError``, as is a stream of the OpenAI protocol that ends without a
    ``finish_reason`` and without its end marker.

    Args:
        llm: the model.
        messages: what it is asked.
        is_answer: as in :class:`ThoughtFilter`.
    """

    def __init__(
        self, llm: LLM, messages: Sequence[ChatMessage], is_answer: IsAnswer = always
    ) -> None:
        self._calls = _Calls(llm, messages, is_answer)
        self._reply: Reply | None = None
        self._shown_characters = 0

    @property
    def reply(self) -> Reply:
        """The answer; only after the end of the stream."""
        if self._reply is None:
            raise RuntimeError("the stream is not finished")
        return self._reply

    def __iter__(self) -> Iterator[str]:
        while self._reply is None:
            try:
                yield from self._deltas(self._calls.begin())
                last, reply = self._end()
                if last:
                    yield last
                self._reply = reply
            except Exception as error:
                time.sleep(self._delay_or_raise(error))

    async def __aiter__(self) -> AsyncGenerator[str, None]:
        while self._reply is None:
            try:
                options = await asyncio.to_thread(self._calls.begin)
                responses = await self._calls.llm.astream_chat(self._calls.messages, **options)
                try:
                    async for response in responses:
                        if delta := self._shown(response):
                            yield delta
                finally:
                    await _aclose(responses)
                last, reply = self._end()
                if last:
                    yield last
                self._reply = reply
            except Exception as error:
                await asyncio.sleep(await asyncio.to_thread(self._delay_or_raise, error))

    def _deltas(self, options: dict[str, Any]) -> Iterator[str]:
        responses = self._calls.llm.stream_chat(self._calls.messages, **options)
        try:
            for response in responses:
                if delta := self._shown(response):
                    yield delta
        finally:
            # Ctrl-C or a reader that stops: close the connection at once.
            _close(responses)

    def _shown(self, response: ChatResponse) -> str:
        delta = self._calls.collected.add(response)
        self._shown_characters += len(delta)
        return delta

    def _end(self) -> tuple[str, Reply]:
        """Return the text that was held back, and the whole reply."""
        if self._calls.collected.ended_early:
            raise LLMStreamError("the connection was closed too early", hint="ask again")
        last = self._calls.collected.close()
        return last, self._calls.end()

    def _delay_or_raise(self, error: Exception) -> float:
        if not self._shown_characters:
            return self._calls.delay_or_raise(error)
        mapped = self._calls.mapped(error)
        reason = mapped.message.removeprefix(f"{self._calls.name}: ")
        if isinstance(mapped, LLMConnectionError):
            reason = "the connection was lost"
        raise LLMStreamError(
            f"{self._calls.name}: the answer broke off after "
            f"{self._shown_characters} characters: {reason}",
            hint="ask again" if isinstance(mapped, LLMConnectionError) else mapped.hint,
        ) from None


class _TooFewTokens(Exception):
    """The model stopped at its maximum of tokens before it wrote any answer."""


class _Calls:
    """The state of a call: its retries, and what the server made us change in the request.

    Attributes:
        messages: what the model is asked.
        collected: the answer to the last request.
    """

    def __init__(self, llm: LLM, messages: Sequence[ChatMessage], is_answer: IsAnswer) -> None:
        self.llm = llm
        self.messages = list(messages)
        self.collected = _Collected(is_answer)
        self._is_answer = is_answer
        self._count = self._failed = 0
        self._retries = 0 if getattr(llm, "max_retries", 0) else 1
        self._left_out: set[str] = set()
        # Ours alone: other models have settings of their own for it.
        self._reasoning: Reasoning | None = getattr(llm, "reasoning", None)
        self._widened = self._reasoning is not None and self._reasoning.expected
        # Tokens of requests that gave no answer: prompt, completion.
        self._spent = (0, 0)

    @property
    def name(self) -> str:
        return model_name(self.llm)

    def begin(self) -> dict[str, Any]:
        """Return the options of the next request."""
        self._count += 1
        self.collected = _Collected(self._is_answer)
        if self._reasoning is None or not self._widened:
            return {}
        window = self.llm.metadata.context_window
        return {"max_tokens": self._reasoning.budget(window, _tokens_of(self.messages))}

    def mapped(self, error: Exception) -> RagError:
        return as_llm_error(
            error,
            model=self.name,
            secrets=_secrets(self.llm),
            timeout=_timeout(self.llm),
            known_models=getattr(self.llm, "known_models", tuple),
        )

    def delay_or_raise(self, error: Exception) -> float:
        """Return the seconds to wait before the next request, or raise our error."""
        if isinstance(error, _TooFewTokens) or self._leaves_out(error):
            return 0.0
        self._failed += 1
        mapped = self.mapped(error)
        return delay_or_raise(error, mapped, tried=self._failed, retries=self._retries)

    def _leaves_out(self, error: Exception) -> bool:
        """Tell whether the request goes without what the server refused, once for each part."""
        part = refused_part(error)
        leave_out = getattr(self.llm, "leave_out", None)
        if part is None or leave_out is None or part in self._left_out:
            return False
        self._left_out.add(part)
        leave_out(part)
        return True

    def reply(self, response: ChatResponse) -> Reply:
        """Return the reply that a whole response is."""
        self.collected.add(response, whole=True)
        self.collected.close()
        return self.end()

    def end(self) -> Reply:
        """Return the reply, once all of it is collected.

        Raises:
            LLMError: it is no answer.
        """
        collected = self.collected
        prompt, completion = collected.usage or (_tokens_of(self.messages), collected.tokens)
        spent = (self._spent[0] + prompt, self._spent[1] + completion)
        if collected.ending.is_cut and not collected.text.strip() and self._reasoning is not None:
            self._spent = spent
            self._widen(self._reasoning)
        if (error := collected.ending.error(collected.text, self.name)) is not None:
            raise error
        reply = Reply(
            text=collected.text,
            prompt_tokens=spent[0],
            completion_tokens=spent[1],
            estimated=collected.usage is None,
            cut=collected.ending.is_cut,
            calls=self._count,
        )
        count(reply)
        return reply

    def _widen(self, reasoning: Reasoning) -> None:
        """Have the request sent again with room for thoughts; every later one has it too."""
        if self._widened:
            raise LLMRequestError(
                f"{self.name}: the model thought until its limit of tokens, and wrote no answer",
                hint="set a higher llm_reasoning_tokens or a lower llm_reasoning_effort; both "
                "need room in llm_context_window",
            )
        self._widened = reasoning.expected = True
        raise _TooFewTokens


class _Collected:
    """The pieces of one answer.

    Attributes:
        text: what is shown of it so far.
        usage: tokens of the prompt and of all that was written, as the server counted.
        ending: how it ended.
    """

    def __init__(self, is_answer: IsAnswer) -> None:
        self.text = ""
        self.usage: tuple[int, int] | None = None
        self.ending = Ending()
        self._written: list[str] = []
        self._filter = ThoughtFilter(is_answer)
        self._says_when_finished = False
        self._finished = False

    @property
    def ended_early(self) -> bool:
        """Whether the protocol tells when an answer is finished, and this one is not."""
        return self._says_when_finished and not (self._finished or self.ending.reason)

    @property
    def tokens(self) -> int:
        """Tokens that the model wrote, thoughts as well, as we count them."""
        return count_tokens("".join(self._written))

    def add(self, response: ChatResponse, *, whole: bool = False) -> str:
        """Take one piece and return what can be shown by now."""
        self._finished |= bool(response.additional_kwargs.get(FINISHED))
        choice = choice_of(response.raw)
        if get(response.raw, "choices") is not None:
            self._says_when_finished = True
        if choice is not None:
            self.ending.add(choice)
            self._written.append(thoughts_of(said_of(choice)))
        self.usage = _usage(response) or self.usage
        delta = sanitise((response.message.content if whole else response.delta) or "")
        self._written.append(delta)
        return self._show(self._filter.feed(delta))

    def close(self) -> str:
        """Return what was held back, at the end of the answer."""
        return self._show(self._filter.close())

    def _show(self, piece: str) -> str:
        self.text += piece
        if len(self.text) > MAX_ANSWER_CHARACTERS:
            raise LLMServerError(
                f"the answer is longer than {MAX_ANSWER_CHARACTERS} characters",
                hint="set a lower llm_max_tokens",
            )
        return piece


def _tokens_of(messages: Sequence[ChatMessage]) -> int:
    return sum(count_tokens(str(message.content or "")) for message in messages)


def _usage(response: ChatResponse) -> tuple[int, int] | None:
    raw = get(response.raw, "usage")
    prompt, completion = get(raw, "prompt_tokens"), get(raw, "completion_tokens")
    if prompt is None:
        prompt = response.additional_kwargs.get("prompt_tokens")
        completion = response.additional_kwargs.get("completion_tokens")
    if isinstance(prompt, int) and isinstance(completion, int) and prompt > 0:
        return prompt, completion
    return None


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
