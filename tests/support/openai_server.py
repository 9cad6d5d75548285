"""A small HTTP server that speaks the OpenAI protocol, and misbehaves on request.

    with OpenAIServer(Reply("Berlin. [1]")) as server:
        llm = load_llm(Settings(llm="like:test", llm_base_url=server.url))

Each POST request takes the next behaviour of the script; the last one stays.
``server.requests`` keeps what was asked, ``server.chats`` the chat requests.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "test"


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """All messages as one text."""
        return "\n".join(str(message["content"]) for message in self.body["messages"])

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))


@dataclass(frozen=True)
class Reply:
    """A good answer; ``chunk`` characters a delta, the bytes sent ``border`` at a time.

    ``ending``: ``done`` is right; ``no_done`` leaves the last mark out; ``closed``
    shuts the connection after the deltas, ``torn`` in the middle of a chunk,
    ``error`` sends an error event, ``stall`` sends nothing more.
    """

    text: str
    chunk: int = 4
    border: int | None = None
    ending: str = "done"
    finish: str = "stop"
    usage: bool = True


@dataclass(frozen=True)
class Message:
    """A reply by its fields in the protocol; streamed, a text comes ``chunk`` characters a delta.

    ``finish`` and ``choice`` (more fields of the choice) come with the last event.
    """

    fields: dict[str, Any]
    finish: str | None = "stop"
    choice: dict[str, Any] = field(default_factory=dict)
    chunk: int = 4
    done: bool = True


@dataclass(frozen=True)
class Failure:
    """An error status."""

    status: int
    message: str = "no"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stall:
    """Nothing at all, for as long as the server runs."""


@dataclass(frozen=True)
class Garbage:
    """200, but no answer."""

    body: bytes = b"<html>login</html>"
    content_type: str = "text/html"


@dataclass(frozen=True)
class Json:
    """200, and this as JSON."""

    value: Any


Behaviour = Reply | Message | Failure | Stall | Garbage | Json
Script = Behaviour | Callable[[Request], Behaviour]


class OpenAIServer:
    """Runs on a free port of the loopback interface while its context is open.

    Args:
        script: what to do with the chat requests, one after the other.
        models: entries of ``/v1/models``; ``None``: that address answers 404.
        props: what llama.cpp says at ``/props``; ``None``: that address answers 404.
    """

    def __init__(
        self,
        *script: Script,
        models: Sequence[dict[str, Any]] | None = None,
        props: dict[str, Any] | None = None,
    ) -> None:
        self.script = list(script) or [Reply("ok")]
        self.models = models
        self.props = props
        self.requests: list[Request] = []
        self.stop = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.owner = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def chats(self) -> list[Request]:
        """The chat requests so far."""
        return [request for request in self.requests if request.path.endswith("/chat/completions")]

    def next(self, request: Request) -> Behaviour:
        with self._lock:
            script = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return script(request) if callable(script) else script

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> OpenAIServer:
        return self.server.owner  # type: ignore[attr-defined]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        self._record({})
        if self.owner.props is not None and self.path.partition("?")[0] == "/props":
            self._json(200, self.owner.props)
            return
        if self.owner.models is None or not self.path.endswith("/models"):
            self._json(404, {"error": {"message": "no such address"}})
            return
        self._json(200, {"object": "list", "data": list(self.owner.models)})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:
            return  # the client has gone
        request = self._record(json.loads(body))
        behaviour = self.owner.next(request)
        match behaviour:
            case Stall():
                self.owner.stop.wait(30)
                self.close_connection = True
            case Garbage():
                self._bytes(200, behaviour.body, behaviour.content_type)
            case Json():
                self._json(200, behaviour.value)
            case Failure():
                error = {"message": behaviour.message, "code": behaviour.code, "type": "test"}
                self._json(behaviour.status, {"error": error}, behaviour.headers)
            case Message() if request.streams:
                self._bytes(200, b"".join(_events_of(behaviour)), "text/event-stream")
            case Message():
                self._json(200, _completion_of(behaviour))
            case Reply() if request.streams:
                with suppress(ConnectionError):
                    self._stream(behaviour)
            case Reply():
                self._json(200, _completion(behaviour))

    def _record(self, body: dict[str, Any]) -> Request:
        request = Request(self.path, dict(self.headers.items()), body)
        self.owner.requests.append(request)
        return request

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value, ensure_ascii=False).encode()
        self._bytes(status, body, "application/json", headers)

    def _bytes(
        self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        framed = reply.ending == "torn"
        self.send_header(*(("Transfer-Encoding", "chunked") if framed else ("Connection", "close")))
        self.end_headers()
        self.close_connection = True
        data = b"".join(_events(reply))
        step = reply.border or len(data)
        for start in range(0, len(data), step):
            piece = data[start : start + step]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if framed else piece)
            self.wfile.flush()
        if framed:
            self.wfile.write(b"40\r\ndata: {")
        if reply.ending == "stall":
            self.owner.stop.wait(30)


def _events(reply: Reply) -> Iterator[bytes]:
    yield _event({"role": "assistant", "content": ""}, None)
    for start in range(0, len(reply.text), reply.chunk):
        yield _event({"content": reply.text[start : start + reply.chunk]}, None)
    if reply.ending == "error":
        yield b'data: {"error": {"message": "the model ran out of memory"}}\n\n'
    if reply.ending in ("done", "no_done"):
        yield _event({}, reply.finish)
        if reply.usage:
            usage = {**_chunk(), "choices": [], "usage": _usage(reply)}
            yield b"data: %s\n\n" % json.dumps(usage).encode()
    if reply.ending == "done":
        yield b"data: [DONE]\n\n"


def _events_of(message: Message) -> Iterator[bytes]:
    for name, value in message.fields.items():
        step = message.chunk
        cut = isinstance(value, str)
        parts = [value[i : i + step] for i in range(0, len(value), step)] if cut else [value]
        for part in parts:
            yield _event({name: part}, None)
    yield _event({}, message.finish, message.choice)
    if message.done:
        yield b"data: [DONE]\n\n"


def _completion_of(message: Message) -> dict[str, Any]:
    content = {"role": "assistant", "content": None, **message.fields}
    choice = {"index": 0, "message": content, "finish_reason": message.finish, **message.choice}
    return {**_chunk(), "object": "chat.completion", "choices": [choice]}


def _event(delta: dict[str, Any], finish: str | None, more: dict[str, Any] | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, **(more or {})}
    value = json.dumps({**_chunk(), "choices": [choice]}, ensure_ascii=False)
    return b"data: %s\n\n" % value.encode()


def _chunk() -> dict[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}


def _completion(reply: Reply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    value = {**_chunk(), "object": "chat.completion", "choices": [choice]}
    return {**value, "usage": _usage(reply)} if reply.usage else value


def _usage(reply: Reply) -> dict[str, int]:
    return {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
