"""Streamed answers: words as they come, and the same typed answer at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.schema import NodeWithScore

from rag_app.answer.response import Answer, AnswerSentence, Citation, Mode, Outcome, Usage

_UNFINISHED = "the answer is still being streamed: read response_gen to its end first"


class _Finished:
    """The fields of the finished answer, on a streamed one."""

    _answer: Answer | None

    def _done(self) -> Answer:
        if self._answer is None:
            raise RuntimeError(_UNFINISHED)
        return self._answer

    @property
    def finished(self) -> bool:
        """Whether the stream came to its own end."""
        return self._answer is not None

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
    def degraded(self) -> list[Any]:
        """As in :class:`Answer`."""
        return self._done().degraded

    @property
    def queries(self) -> list[str]:
        """As in :class:`Answer`."""
        return self._done().queries

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
    so far in ``partial``.

    Args:
        deltas: the text in pieces.
        finish: makes the answer of the whole text; called once, at the stream's end.
        source_nodes: the retrieved passages.
    """

    def __init__(
        self,
        deltas: Iterator[str],
        finish: Callable[[str], Answer],
        source_nodes: list[NodeWithScore],
    ) -> None:
        self.partial = ""
        self._answer = None
        self._error: Exception | None = None
        super().__init__(response_gen=self._read(deltas, finish), source_nodes=source_nodes)

    def __str__(self) -> str:
        return str(self.get_response())

    def get_response(self) -> Answer:
        """Read what is left of the stream and return the answer.

        Raises:
            LLMStreamError: the stream broke, now or before.
        """
        for _ in self.response_gen:
            pass
        if self._error is not None:
            raise self._error
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

    def _done(self) -> Answer:
        if self._answer is None:
            for _ in self.response_gen:
                pass
        if self._error is not None:
            raise self._error
        return super()._done()

    def _read(self, deltas: Iterator[str], finish: Callable[[str], Answer]) -> Any:
        try:
            for delta in deltas:
                self.partial += delta
                yield delta
            self._finish(finish(self.partial))
        except Exception as error:
            self._error = error
            raise

    def _finish(self, answer: Answer) -> None:
        self._answer = answer
        self.response_txt = str(answer)
        self.metadata = answer.metadata


class AsyncStreamedAnswer(_Finished, AsyncStreamingResponse):
    """The same for ``aquery``: ``async_response_gen()`` gives the words.

    Its fields can be read once the stream is finished.

    Args:
        deltas: the text in pieces.
        finish: makes the answer of the whole text; called once, at the stream's end.
        source_nodes: the retrieved passages.
    """

    def __init__(
        self,
        deltas: AsyncIterator[str],
        finish: Callable[[str], Answer],
        source_nodes: list[NodeWithScore],
    ) -> None:
        self.partial = ""
        self._answer = None
        self._error: Exception | None = None
        super().__init__(response_gen=self._read(deltas, finish), source_nodes=source_nodes)

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

    async def _yield_response(self) -> Any:
        if self._answer is not None and self.response_txt is not None:
            yield self.response_txt
            return
        async for delta in self.response_gen:
            yield delta

    def _done(self) -> Answer:
        if self._error is not None:
            raise self._error
        return super()._done()

    async def _read(self, deltas: AsyncIterator[str], finish: Callable[[str], Answer]) -> Any:
        try:
            async for delta in deltas:
                self.partial += delta
                yield delta
            self._answer = await asyncio.to_thread(finish, self.partial)
        except Exception as error:
            self._error = error
            raise
        self.response_txt = str(self._answer)
        self.metadata = self._answer.metadata
