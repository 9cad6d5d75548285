"""Connections that end with their request, whatever way it ends.

The client closes a connection at a few awaits, and a request that is cancelled at one
of them leaves it open: between its connecting and its first byte, while it is closed
after an answer, or where a second cancellation meets the first one's closing. A
deadline is a cancellation. So a request whose client keeps no connections holds those
that were opened for it, and closes them itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore

_holder: ContextVar[AsyncExitStack | None] = ContextVar("holder", default=None)


@contextmanager
def held_by(connections: AsyncExitStack) -> Iterator[None]:
    """Give this stack every connection that is opened within; closing it closes them.

    Closing gives up each socket before anything is awaited, so that no cancellation
    comes between.
    """
    token = _holder.set(connections)
    try:
        yield
    finally:
        _holder.reset(token)


def holder() -> AsyncExitStack:
    """Return the stack of the request in progress; an empty one where there is none."""
    return _holder.get() or AsyncExitStack()


class HeldBackend(httpcore.AsyncNetworkBackend):
    """Opens connections as another backend does, and gives them to the request in progress."""

    def __init__(self, backend: httpcore.AsyncNetworkBackend) -> None:
        self._backend = backend

    async def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        """Connect to a host."""
        return _held(await self._backend.connect_tcp(*arguments, **options))

    async def connect_unix_socket(
        self, *arguments: Any, **options: Any
    ) -> httpcore.AsyncNetworkStream:
        """Connect to a socket of this machine."""
        return _held(await self._backend.connect_unix_socket(*arguments, **options))

    async def sleep(self, seconds: float) -> None:
        """Wait before the next try."""
        await self._backend.sleep(seconds)


def _held(stream: httpcore.AsyncNetworkStream) -> httpcore.AsyncNetworkStream:
    holder().push_async_callback(stream.aclose)
    return stream
