"""Requests of JSON to a server of models: bounded answers, one retry, our errors, no key shown."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr

from pipelines.errors import ConfigError
from rag_app.models.bounded_http import MAX_BODY_BYTES, bounded_async_client, bounded_client
from rag_app.models.llm.errors import as_llm_error
from rag_app.models.retrying import delay_or_raise
from rag_app.models.service import Service

Parsed = TypeVar("Parsed")
Parse = Callable[[Any], Parsed]


class StatusError(Exception):
    """The server answered with an error status.

    Attributes:
        response: its answer, read.
        body: the JSON in it; None: there is none.
        code: the error code that the JSON names, if any.
    """

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"HTTP {response.status_code}")
        self.response = response
        try:
            self.body = response.json()
        except (ValueError, RecursionError):
            self.body = None
        inner = self.body.get("error") if isinstance(self.body, dict) else None
        self.code = inner.get("code") if isinstance(inner, dict) else None


@dataclass(frozen=True)
class JsonServer:
    """A server of models, asked by POST requests of JSON; safe for several threads.

    Attributes:
        service: what it does, and the settings that its errors name.
        model: name of the model, for the requests and for messages.
        base_url: its address, without a slash at the end.
        timeout: seconds from a request to the end of its answer.
        key: sent to it, and shown nowhere.
        limit: largest answer in bytes.

    Raises:
        ConfigError: the address names no server.
    """

    service: Service
    model: str
    base_url: str
    timeout: float
    key: SecretStr | None = None
    limit: int = MAX_BODY_BYTES
    _clients: list[Any] = field(default_factory=list, repr=False, compare=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not urlsplit(self.base_url).hostname:
            raise ConfigError(f"{self.service.address} {self.base_url!r} names no server")

    def post(self, path: str, body: dict[str, Any], parse: Parse[Parsed]) -> Parsed:
        """Send a request and return its answer.

        Args:
            path: below the address, such as ``/embeddings``.
            body: what is sent.
            parse: JSON of the answer → what is returned; whatever it raises of
                ``TypeError``, ``LookupError``, ``AttributeError`` or an error of ours means
                that the answer is none of the protocol.

        Raises:
            LLMError: its class says what failed; after one retry where that may help.
        """
        tried = 0
        while True:
            tried += 1
            try:
                response = self._client().post(self._url(path), **self._request(body))
                return parse(_json_of(response))
            except Exception as error:
                time.sleep(self._delay_or_raise(error, tried))

    async def apost(self, path: str, body: dict[str, Any], parse: Parse[Parsed]) -> Parsed:
        """Do the same as :meth:`post` without blocking the loop."""
        tried = 0
        while True:
            tried += 1
            try:
                async with self._async_client() as client:
                    response = await client.post(self._url(path), **self._request(body))
                return parse(_json_of(response))
            except Exception as error:
                await asyncio.sleep(self._delay_or_raise(error, tried))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a server holds a key and is not written anywhere")

    def _delay_or_raise(self, error: Exception, tried: int) -> float:
        secret = self.key.get_secret_value() if self.key else ""
        mapped = as_llm_error(
            error,
            model=self.model,
            secrets=[secret] if len(secret) > 3 else [],
            timeout=self.timeout,
            service=self.service,
        )
        return delay_or_raise(error, mapped, tried=tried)

    def _url(self, path: str) -> str:
        return f"{self.base_url}{path}"

    def _request(self, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key.get_secret_value()}"
        return {"content": json.dumps(body).encode(), "headers": headers}

    def _client(self) -> httpx.Client:
        with self._guard:
            if not self._clients:
                self._clients.append(
                    bounded_client(self.timeout, self.limit, self.timeout, self.service)
                )
            client: httpx.Client = self._clients[0]
            return client

    def _async_client(self) -> httpx.AsyncClient:
        return bounded_async_client(self.timeout, self.limit, self.timeout, self.service)


def _json_of(response: httpx.Response) -> Any:
    if response.status_code >= 400:
        raise StatusError(response)
    try:
        return response.json()
    except RecursionError:
        # Its own message is about Python, not about the answer.
        raise TypeError("it is nested too deeply") from None
