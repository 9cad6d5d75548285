"""HTTP clients whose answers have a size and an end: what a server sends is not trusted.

A time-out of the client holds for each read, so that a server which sends a byte now
and then holds it for ever; here a request has a deadline too, for its headers, its
body and a streamed body alike. The size of a body is counted after unpacking.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
import weakref
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import httpcore
import httpx

from pipelines.errors import LLMServerError, LLMTimeoutError
from rag_app.models.closing import note_response
from rag_app.models.connections import HeldBackend, held_by, holder
from rag_app.models.service import LANGUAGE_MODEL, Service

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_SECONDS = 600.0
_HEADERS = {"Accept-Encoding": "identity"}
_UNPACKED_BYTES = 1 << 16
# Of a server-sent event: alone on its line, which no text in JSON can be.
_DONE = re.compile(rb"(?:^|[\r\n])data:\s*\[DONE\]")
_END_BYTES = 64
# Of zlib: read the header of gzip, or of zlib, whichever is there.
_ANY_HEADER = 32 + zlib.MAX_WBITS

_until: ContextVar[float | None] = ContextVar("until", default=None)


def bounded_client(
    timeout: float,
    limit: int = MAX_BODY_BYTES,
    total: float = MAX_SECONDS,
    service: Service = LANGUAGE_MODEL,
) -> httpx.Client:
    """Return a client whose answers end: ``LLMServerError`` and ``LLMTimeoutError`` say why.

    Args:
        timeout: seconds until a connection, and until the next bytes of an answer.
        limit: largest body in bytes, unpacked.
        total: seconds from the request to the end of the body.
        service: whose settings the errors name.
    """

    def bound(response: httpx.Response) -> None:
        note_response(response)
        if isinstance(response.stream, httpx.SyncByteStream):
            body = _Body(response, limit, total, service)
            response.stream = _Counted(response.stream, body)

    client = _Client(
        timeout=timeout,
        headers=_HEADERS,
        event_hooks={"request": [_begin], "response": [bound]},
        verify=_certificates(),
    )
    client.total, client.service = total, service
    _wrap_backends(client, _Backend)
    transports = [client._transport, *filter(None, client._mounts.values())]
    # Gives its connections back when nobody holds it any more. Not by ``__del__``: in a
    # reference cycle, and the clients of models are in one, a socket may be collected first.
    weakref.finalize(client, _close, transports)
    return client


def bounded_async_client(
    timeout: float,
    limit: int = MAX_BODY_BYTES,
    total: float = MAX_SECONDS,
    service: Service = LANGUAGE_MODEL,
) -> httpx.AsyncClient:
    """Return the same without blocking.

    Args:
        timeout: seconds until a connection, and until the next bytes of an answer.
        limit: largest body in bytes, unpacked.
        total: seconds from the request to the end of the body.
        service: whose settings the errors name.
    """

    async def begin(request: httpx.Request) -> None:
        _begin(request)

    async def bound(response: httpx.Response) -> None:
        note_response(response)
        if isinstance(response.stream, httpx.AsyncByteStream):
            body = _Body(response, limit, total, service)
            response.stream = _AsyncCounted(response.stream, body, holder())

    client = _AsyncClient(
        timeout=timeout,
        headers=_HEADERS,
        event_hooks={"request": [begin], "response": [bound]},
        verify=_certificates(),
        # A kept connection belongs to its event loop; the client outlives one asyncio.run.
        limits=httpx.Limits(max_keepalive_connections=0),
    )
    client.total, client.service = total, service
    _wrap_backends(client, HeldBackend)
    return client


def says_done(response: httpx.Response) -> bool:
    """Tell whether a streamed body that was read ended with the end marker of its protocol."""
    return _DONE.search(response.extensions.get("end", b"")) is not None


def _wrap_backends(client: httpx.Client | httpx.AsyncClient, wrap: Callable[[Any], Any]) -> None:
    for transport in [client._transport, *client._mounts.values()]:
        pool = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = wrap(pool._network_backend)


class _Client(httpx.Client):
    total = MAX_SECONDS
    service = LANGUAGE_MODEL

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request; its headers too must be there before the deadline."""
        until = time.monotonic() + self.total
        with _deadline(until, self.total, self.service):
            return super().send(request, **options)


class _AsyncClient(httpx.AsyncClient):
    total = MAX_SECONDS
    service = LANGUAGE_MODEL

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request; its headers too must be there before the deadline."""
        connections = AsyncExitStack()
        try:
            with held_by(connections):
                async with asyncio.timeout(self.total):
                    return await super().send(request, **options)
        except BaseException as error:
            await connections.aclose()
            if isinstance(error, TimeoutError):
                raise _too_late(self.total, self.service) from None
            raise


def _begin(request: httpx.Request) -> None:
    request.extensions["begun"] = time.monotonic()


@contextmanager
def _deadline(until: float, total: float, service: Service) -> Iterator[None]:
    """Let no read of a socket go on after a time."""
    token = _until.set(until)
    try:
        yield
    except (httpx.TimeoutException, httpcore.TimeoutException):
        if time.monotonic() < until:
            raise
        raise _too_late(total, service) from None
    finally:
        _until.reset(token)


class _Backend(httpcore.NetworkBackend):
    """Connections whose reads end at the deadline of the request in progress."""

    def __init__(self, backend: httpcore.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore.NetworkStream:
        return _Stream(self._backend.connect_tcp(*arguments, **options))

    def connect_unix_socket(self, *arguments: Any, **options: Any) -> httpcore.NetworkStream:
        return _Stream(self._backend.connect_unix_socket(*arguments, **options))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout=_left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout=_left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *arguments: Any, **options: Any) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(*arguments, **options))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(timeout: float | None, error: type[Exception]) -> float | None:
    until = _until.get()
    if until is None:
        return timeout
    left = until - time.monotonic()
    if left <= 0:
        raise error("the deadline of the request")
    return left if timeout is None else min(left, timeout)


@cache
def _certificates() -> ssl.SSLContext:
    # Reading the certificates takes longer than a request: once is enough.
    return httpx.create_ssl_context()


def _close(transports: list[httpx.BaseTransport]) -> None:
    for transport in transports:
        transport.close()


class _Body:
    """Counts and unpacks the pieces of one body.

    Raises:
        LLMServerError: it is packed in another way than gzip or deflate, once.
    """

    def __init__(
        self, response: httpx.Response, limit: int, total: float, service: Service
    ) -> None:
        self.total = total
        self.service = service
        self.until = response.request.extensions.get("begun", time.monotonic()) + total
        self._left = limit
        self._extensions = response.extensions
        self._extensions["end"] = b""
        self._inflate = None
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        if coding in ("gzip", "x-gzip", "deflate"):
            # Else the client would unpack it again, and each piece whole.
            del response.headers["content-encoding"]
            self._inflate = zlib.decompressobj(_ANY_HEADER)
        elif coding not in ("", "identity"):
            raise LLMServerError(
                f"the answer is compressed ({coding[:40]}), which was not requested",
                hint=f"check {service.address}",
            )

    def pieces(self, chunk: bytes) -> Iterable[bytes]:
        """Yield the chunk, decompressed, in pieces of bounded size."""
        if time.monotonic() > self.until:
            raise _too_late(self.total, self.service)
        for piece in self._unpacked(chunk) if self._inflate else (chunk,):
            self._left -= len(piece)
            if self._left < 0:
                raise LLMServerError(
                    "the server's answer does not end", hint=f"check {self.service.address}"
                )
            self._extensions["end"] = (self._extensions["end"] + piece)[-_END_BYTES:]
            yield piece

    def _unpacked(self, chunk: bytes) -> Iterator[bytes]:
        inflate = self._inflate
        piece = b""
        # An empty piece of input may still have output that did not fit the last time.
        while inflate is not None and (chunk or len(piece) == _UNPACKED_BYTES):
            try:
                piece = inflate.decompress(chunk, _UNPACKED_BYTES)
            except zlib.error:
                raise LLMServerError(
                    "the compressed answer cannot be decoded", hint=f"check {self.service.address}"
                ) from None
            chunk = b"" if inflate.eof else inflate.unconsumed_tail
            if piece:
                yield piece


class _Counted(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, body: _Body) -> None:
        self._stream = stream
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        chunks = iter(self._stream)
        while True:
            with _deadline(self._body.until, self._body.total, self._body.service):
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield from self._body.pieces(chunk)

    def close(self) -> None:
        self._stream.close()


class _AsyncCounted(httpx.AsyncByteStream):
    def __init__(
        self, stream: httpx.AsyncByteStream, body: _Body, connections: AsyncExitStack
    ) -> None:
        self._stream = stream
        self._body = body
        self._connections = connections

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = aiter(self._stream)
        try:
            while (chunk := await self._next(chunks)) is not None:
                for piece in self._body.pieces(chunk):
                    yield piece
        finally:
            # Now, while the loop runs: its end would find an open connection.
            await self.aclose()

    async def _next(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        try:
            async with asyncio.timeout(max(0.0, self._body.until - time.monotonic())):
                return await anext(chunks, None)
        except TimeoutError:
            raise _too_late(self._body.total, self._body.service) from None

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            await self._connections.aclose()


def _too_late(total: float, service: Service) -> LLMTimeoutError:
    return LLMTimeoutError(
        f"the server did not finish its answer within {total:g} s", hint=service.sooner
    )
