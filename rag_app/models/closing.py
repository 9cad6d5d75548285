"""Streams that close their connection when their reader stops, not when they are collected.

The client's stream object is part of a reference cycle: when a reader stops early,
the connection stays open until a garbage collection, and the model writes on for
nobody until then.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import AsyncExitStack, aclosing, closing, contextmanager
from contextvars import ContextVar
from typing import Any

import httpx

_noting_lists: ContextVar[tuple[list[httpx.Response], ...]] = ContextVar("noting", default=())


def note_response(response: httpx.Response) -> None:
    """Remember a response for the stream that is being opened, and for those around it."""
    for opened in _noting_lists.get():
        opened.append(response)


def closed_with_reader(pieces: Generator[Any, None, None]) -> Generator[Any, None, None]:
    """Yield the pieces of a response and close it at the end; the first one sends the request.

    Args:
        pieces: a client's iterator over a streamed response.
    """
    opened: list[httpx.Response] = []
    with closing(pieces):
        try:
            with _noting(opened):
                first = next(pieces, None)
            if first is not None:
                yield first
                yield from pieces
        finally:
            for response in opened:
                response.close()


async def aclosed_with_reader(pieces: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
    """Do the same as :func:`closed_with_reader` without blocking."""
    opened: list[httpx.Response] = []
    async with aclosing(pieces), AsyncExitStack() as responses:
        try:
            with _noting(opened):
                first = await anext(pieces, None)
            if first is not None:
                yield first
                async for piece in pieces:
                    yield piece
        finally:
            for response in opened:
                responses.push_async_callback(response.aclose)


@contextmanager
def _noting(opened: list[httpx.Response]) -> Iterator[None]:
    token = _noting_lists.set((*_noting_lists.get(), opened))
    try:
        yield
    finally:
        _noting_lists.reset(token)
