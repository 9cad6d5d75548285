"""HTTP clients whose answers have a size limit: what a server sends is not trusted."""

from __future__ import annotations

import ssl
import weakref
from collections.abc import AsyncIterator, Iterator
from functools import cache

import httpx

from pipelines.errors import LLMServerError
from rag_app.models.closing import note_response

MAX_BODY_BYTES = 16 * 1024 * 1024
# A compressed body has no size until it is unpacked.
_HEADERS = {"Accept-Encoding": "identity"}


def bounded_client(timeout: float, limit: int = MAX_BODY_BYTES) -> httpx.Client:
    """Return a client that raises ``LLMServerError`` when a body exceeds ``limit`` bytes.

    Args:
        timeout: seconds until a connection, and until the next bytes of an answer.
        limit: largest body in bytes.
    """

    def bound(response: httpx.Response) -> None:
        note_response(response)
        if isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _Counted(response.stream, limit)

    client = httpx.Client(
        timeout=timeout,
        headers=_HEADERS,
        event_hooks={"response": [bound]},
        verify=_certificates(),
    )
    # Gives its connections back when nobody holds it any more. Not by ``__del__``: in a
    # reference cycle, and the clients of models are in one, a socket may be collected first.
    transports = [client._transport, *filter(None, client._mounts.values())]
    weakref.finalize(client, _close, transports)
    return client


def bounded_async_client(timeout: float, limit: int = MAX_BODY_BYTES) -> httpx.AsyncClient:
    """Return the same without blocking.

    Args:
        timeout: seconds until a connection, and until the next bytes of an answer.
        limit: largest body in bytes.
    """

    async def bound(response: httpx.Response) -> None:
        note_response(response)
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _AsyncCounted(response.stream, limit)

    return httpx.AsyncClient(
        timeout=timeout,
        headers=_HEADERS,
        event_hooks={"response": [bound]},
        verify=_certificates(),
        # A kept connection belongs to its event loop; the client outlives one asyncio.run.
        limits=httpx.Limits(max_keepalive_connections=0),
    )


@cache
def _certificates() -> ssl.SSLContext:
    # Reading the certificates takes longer than a request: once is enough.
    return httpx.create_ssl_context()


def _close(transports: list[httpx.BaseTransport]) -> None:
    for transport in transports:
        transport.close()


class _Counted(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, limit: int) -> None:
        self._stream = stream
        self._left = limit

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise _too_long()
            yield chunk

    def close(self) -> None:
        self._stream.close()


class _AsyncCounted(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._left = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise _too_long()
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _too_long() -> LLMServerError:
    return LLMServerError("the server's answer does not end", hint="check llm_base_url")
