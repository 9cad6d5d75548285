"""Streamed answers: words as they come, and the same typed answer at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import ExitStack, aclosing
from typing import Any
from weakref import WeakMethod

from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.schema import NodeWithScore

from rag_app.answer.response import (
    Answer,
    AnswerSentence,
    Citation,
    ClosestPassage,
    Decision,
    Mode,
    Outcome,
    UnreadPages,
    Usage,
)

_UNFINISHED = "the answer is still being streamed: read response_gen to its end first"


class _StreamState:
    """How far a stream has come.

    What reads the stream knows this and not the response: a response that is dropped
    takes the stream with it at once, and all that it holds.
    """

    def __init__(self, held: ExitStack | None, on_end: Callable[[Answer], None]) -> None:
        self.held = held or ExitStack()
        self.partial = ""
        self.answer: Answer | None = None
        self.error: Exception | None = None
        self._on_end = WeakMethod(on_end)

    def end(self, answer: Answer) -> None:
        """Note the answer of the whole stream."""
        self.answer = answer
        if (tell := self._on_end()) is not None:
            tell(answer)


class _Finished:
    """The fields of the finished answer, on a streamed one."""

    _progress: _StreamState
    response_txt: str | None
    metadata: dict[str, Any] | None

    def _done(self) -> Answer:
        if self._progress.error is not None:
            raise self._progress.error
        if self._progress.answer is None:
            raise RuntimeError(_UNFINISHED)
        return self._progress.answer

    def _ended(self, answer: Answer) -> None:
        """Fill in what LlamaIndex's class shows."""
        self.response_txt = answer.response or ""
        self.metadata = answer.metadata

    @property
    def partial(self) -> str:
        """The words so far."""
        return self._progress.partial

    @property
    def finished(self) -> bool:
        """Whether the stream came to its own end."""
        return self._progress.answer is not None

    @property
    def outcome(self) -> Outcome:
        """As in :class:`Answer`."""
        return self._done().outcome

    @property
    def mode(self) -> Mode:
        """As in :class:`Answer`."""
        return self._done().mode

    @property
    def model(self) -> str | None:
        """As in :class:`Answer`."""
        return self._done().model

    @property
    def sentences(self) -> list[AnswerSentence]:
        """As in :class:`Answer`."""
        return self._done().sentences

    @property
    def citations(self) -> list[Citation]:
        """As in :class:`Answer`."""
        return self._done().citations

    @property
    def closest(self) -> list[ClosestPassage]:
        """As in :class:`Answer`."""
        return self._done().closest

    @property
    def unread_pages(self) -> list[UnreadPages]:
        """As in :class:`Answer`."""
        return self._done().unread_pages

    @property
    def decision(self) -> Decision | None:
        """As in :class:`Answer`."""
        return self._done().decision

    @property
    def degraded(self) -> list[Any]:
        """As in :class:`Answer`."""
        return self._done().degraded

    @property
    def queries(self) -> list[str]:
        """As in :class:`Answer`."""
        return self._done().queries

    @property
    def glossary(self) -> list[Any]:
        """As in :class:`Answer`."""
        return self._done().glossary

    @property
    def usage(self) -> Usage:
        """As in :class:`Answer`."""
        return self._done().usage

    @property
    def timings_ms(self) -> dict[str, float]:
        """As in :class:`Answer`."""
        return self._done().timings_ms

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ask --json`` prints."""
        return self._done().to_dict()


class StreamedAnswer(_Finished, StreamingResponse):
    """A LlamaIndex ``StreamingResponse`` that ends as an :class:`Answer`.

    Reading ``response_gen`` to its end finishes it; ``str()``, ``get_response()``
    and every field read what is left first. A broken stream raises
    ``LLMStreamError`` where it breaks and leaves ``finished`` false, the words
    so far in ``partial``. Until it is read, closed or dropped, it holds the
    generation of the index that it reads.

    Args:
        deltas: the text in pieces.
        finish: makes the answer of the whole text; called once, at the stream's end.
        source_nodes: the retrieved passages.
        held: what is let go when the stream ends, breaks or is closed.
    """

    def __init__(
        self,
        deltas: Iterator[str],
        finish: Callable[[str], Answer],
        source_nodes: list[NodeWithScore],
        held: ExitStack | None = None,
    ) -> None:
        self._progress = _StreamState(held, self._ended)
        stream = _read(deltas, finish, self._progress)
        super().__init__(response_gen=stream, source_nodes=source_nodes)

    def __str__(self) -> str:
        return str(self.get_response())

    def get_response(self) -> Answer:
        """Read what is left of the stream and return the answer.

        Raises:
            LLMStreamError: the stream broke, now or before.
        """
        return self._done()

    def print_response_stream(self) -> None:
        """Print the text as it comes, as LlamaIndex's class does."""
        import sys

        for delta in self.response_gen:
            sys.stdout.write(delta)
            sys.stdout.flush()

    def close(self) -> None:
        """Stop reading: the request to the model is given up."""
        self.response_gen.close()
        self._progress.held.close()

    def _done(self) -> Answer:
        if not self.finished:
            for _ in self.response_gen:
                pass
        return super()._done()


class AsyncStreamedAnswer(_Finished, AsyncStreamingResponse):
    """The same for ``aquery``: ``async_response_gen()`` gives the words.

    Its fields can be read once the stream is finished.

    Args:
        deltas: the text in pieces.
        finish: makes the answer of the whole text; called once, at the stream's end.
        source_nodes: the retrieved passages.
        held: what is let go when the stream ends, breaks or is closed.
    """

    def __init__(
        self,
        deltas: AsyncGenerator[str, None],
        finish: Callable[[str], Answer],
        source_nodes: list[NodeWithScore],
        held: ExitStack | None = None,
    ) -> None:
        self._progress = _StreamState(held, self._ended)
        stream = _aread(deltas, finish, self._progress)
        super().__init__(response_gen=stream, source_nodes=source_nodes)

    def __str__(self) -> str:
        return str(self._done())

    async def get_response(self) -> Answer:
        """Read what is left of the stream and return the answer.

        Raises:
            LLMStreamError: the stream broke, now or before.
        """
        async for _ in self.response_gen:
            pass
        return self._done()

    async def close(self) -> None:
        """Stop reading: the request to the model is given up."""
        await self.response_gen.aclose()
        self._progress.held.close()

    async def _yield_response(self) -> Any:
        if self.finished and self.response_txt is not None:
            yield self.response_txt
            return
        async for delta in self.response_gen:
            yield delta


def _read(deltas: Iterator[str], finish: Callable[[str], Answer], progress: _StreamState) -> Any:
    try:
        with progress.held:
            for delta in deltas:
                progress.partial += delta
                yield delta
            answer = finish(progress.partial)
    except Exception as error:
        progress.error = error
        raise
    progress.end(answer)


async def _aread(
    deltas: AsyncGenerator[str, None], finish: Callable[[str], Answer], progress: _StreamState
) -> Any:
    try:
        with progress.held:
            async with aclosing(deltas):
                async for delta in deltas:
                    progress.partial += delta
                    yield delta
            answer = await asyncio.to_thread(finish, progress.partial)
    except Exception as error:
        progress.error = error
        raise
    progress.end(answer)
