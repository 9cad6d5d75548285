"""Servers of language models that do harm: what they send is bounded in size and in time."""

from __future__ import annotations

import gzip
import json
import socket
import socketserver
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.llm import LLM

from pipelines.errors import LLMError, LLMServerError, LLMTimeoutError
from rag_app.models.bounded_http import MAX_BODY_BYTES
from rag_app.models.llm.calls import ReplyStream, achat, chat
from rag_app.models.llm.client import load_llm
from rag_app.settings import load_settings
from tests.support.connections import run_closing

MB = 1 << 20
KEY = "sk-secret-0123456789"
HELLO = [ChatMessage(content="hello")]
OK = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "test",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    ],
}
Script = Callable[[Callable[[bytes], None], threading.Event], None]


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    script: Script
    stop: threading.Event
    seen: list[bytes]


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.request.recv(65536)
            if not piece:
                return
            head += piece
        self.server.seen.append(head)
        with suppress(OSError):
            self.server.script(self.request.sendall, self.server.stop)
            self.request.shutdown(socket.SHUT_WR)
            while self.request.recv(65536):
                pass


@contextmanager
def serving(script: Script) -> Iterator[_Server]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.script, server.stop, server.seen = script, threading.Event(), []
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.stop.set()
            server.shutdown()
            thread.join()


def model(server: _Server, seconds: float = 600.0) -> LLM:
    llm = load_llm(
        load_settings(
            llm="like:test",
            llm_base_url=f"http://127.0.0.1:{server.server_address[1]}/v1",
            llm_api_key=KEY,
            llm_context_window=4096,
            llm_total_timeout=seconds,
        )
    )
    assert llm is not None
    return llm


def asked(llm: LLM) -> str:
    return chat(llm, HELLO).text


def asked_async(llm: LLM) -> str:
    async def ask() -> str:
        return (await achat(llm, HELLO)).text

    return run_closing(ask())


def streamed(llm: LLM) -> str:
    return "".join(ReplyStream(llm, HELLO))


def streamed_async(llm: LLM) -> str:
    async def collect() -> str:
        return "".join([piece async for piece in ReplyStream(llm, HELLO)])

    return run_closing(collect())


WAYS = [asked, asked_async, streamed, streamed_async]


def packed(coding: str, body: bytes) -> Script:
    def script(send: Callable[[bytes], None], stop: threading.Event) -> None:
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        head += f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n"
        send(head.encode() + body)

    return script


def bomb(pack: Callable[[int], zlib._Compress]) -> bytes:
    packer = pack(9)
    return b"".join(packer.compress(bytes(MB)) for _ in range(200)) + packer.flush()


GZIP = bomb(lambda level: zlib.compressobj(level, wbits=31))
DEFLATE = bomb(lambda level: zlib.compressobj(level, wbits=15))


@pytest.mark.parametrize(
    ("coding", "body"), [("gzip", GZIP), ("x-gzip", GZIP), ("deflate", DEFLATE)]
)
@pytest.mark.parametrize("way", WAYS)
def test_a_bomb_is_counted_as_it_unpacks(way, coding, body):
    with serving(packed(coding, body)) as server:
        llm = model(server)
        tracemalloc.start()
        try:
            with pytest.raises(LLMServerError, match="does not end"):
                way(llm)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most < 3 * MAX_BODY_BYTES


@pytest.mark.parametrize("coding", ["gzip, gzip", "gzip,deflate", "br", "zstd", "no\x07thing"])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_packed_twice_or_otherwise_is_refused(way, coding):
    with serving(packed(coding, gzip.compress(GZIP))) as server, pytest.raises(LLMError):
        way(model(server))


@pytest.mark.parametrize("way", [asked, asked_async])
def test_a_server_that_packs_a_good_answer_is_understood(way):
    body = json.dumps(OK).encode()
    for coding, data in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body))):
        with serving(packed(coding, data)) as server:
            assert way(model(server)) == "hi"


@pytest.mark.parametrize("way", [asked, asked_async])
def test_what_does_not_unpack_is_our_error(way):
    refused = pytest.raises(LLMServerError, match="cannot be decoded")
    with serving(packed("gzip", b"no gzip at all")) as server, refused:
        way(model(server))


def trickled(head: bytes, piece: bytes) -> Script:
    def script(send: Callable[[bytes], None], stop: threading.Event) -> None:
        send(head)
        while not stop.wait(0.01):
            send(piece)

    return script


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: "
_CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
TRICKLES = {
    "headers": trickled(b"HTTP/1.1 200 OK\r\n", b"x"),
    "a body": trickled(_HEAD + b"application/json\r\n\r\n", b" "),
    "chunks": trickled(_HEAD + b"application/json\r\n" + _CHUNKED, b"1\r\n \r\n"),
    "the head of a chunk": trickled(_HEAD + b"application/json\r\n" + _CHUNKED, b"0"),
    "pings": trickled(_HEAD + b"text/event-stream\r\n\r\n", b": ping\n\n"),
    "lines without an end": trickled(_HEAD + b"text/event-stream\r\n\r\n", b"data: x"),
    "empty packed blocks": trickled(
        _HEAD + b"application/json\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10],
        b"\x00\x00\x00\xff\xff",
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("script", TRICKLES.values(), ids=TRICKLES.keys())
def test_a_server_that_goes_on_and_on_is_left_at_the_deadline(script, way):
    with serving(script) as server:
        with pytest.raises(LLMTimeoutError, match=r"within 0\.4 s") as caught:
            way(model(server, seconds=0.4))
        assert "llm_total_timeout" in caught.value.hint
        assert len(server.seen) <= 1, "none: a busy machine had not read the question yet"


@pytest.mark.parametrize("way", [asked, asked_async])
def test_headers_without_an_end_are_an_error(way):
    def script(send: Callable[[bytes], None], stop: threading.Event) -> None:
        send(b"HTTP/1.1 200 OK\r\n")
        while not stop.is_set():
            send(b"X-A: " + b"a" * 10_000 + b"\r\n")

    with serving(script) as server, pytest.raises(LLMError):
        way(model(server))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_takes_the_key_nowhere(way, status):
    with serving(packed("identity", json.dumps(OK).encode())) as other:
        target = f"http://127.0.0.1:{other.server_address[1]}/v1/chat/completions"

        def script(send: Callable[[bytes], None], stop: threading.Event) -> None:
            send(
                f"HTTP/1.1 {status} Go\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()
            )

        with serving(script) as server, pytest.raises(LLMError) as caught:
            way(model(server))
        assert other.seen == []
        assert KEY not in str(caught.value)
