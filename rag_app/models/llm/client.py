"""A name → a language model; without a name there is none, whatever the environment holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponseAsyncGen,
    ChatResponseGen,
    LLMMetadata,
)
from llama_index.core.llms.llm import LLM
from llama_index.llms.openai.utils import (
    ALL_AVAILABLE_MODELS,
    O1_MODELS,
    is_chatcomp_api_supported,
)
from llama_index.llms.openai_like import OpenAILike  # type: ignore[import-untyped]
from pydantic import Field, PrivateAttr

from pipelines.errors import ConfigError, LLMAuthError, RagError
from rag_app.models.bounded_http import bounded_async_client, bounded_client
from rag_app.models.closing import aclosed_with_reader, closed_with_reader
from rag_app.settings import OPENAI_URL, Settings

# Where the context window is unknown.
SMALL_WINDOW = 4096
OPENAI_WINDOW = 128_000

_NO_KEY = "none"
_PROBE_SECONDS = 5.0
# Names of the context window in servers: vLLM, OpenRouter, LM Studio, Groq, llama.cpp.
_WINDOW_NAMES = (
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
    "n_ctx",
    "n_ctx_train",
)


class ChatModel(OpenAILike):  # type: ignore[misc]  # LlamaIndex ships no types for it
    """A chat model behind the OpenAI protocol; no representation shows its key.

    Attributes:
        known_window: context window in tokens; ``None``: the server is asked once,
            on first use.
    """

    api_key: str | None = Field(default=None, repr=False, exclude=True)
    default_headers: dict[str, str] | None = Field(default=None, repr=False, exclude=True)
    known_window: int | None = None

    _asked_window: int | None = PrivateAttr(default=None)

    @property
    def metadata(self) -> LLMMetadata:
        """LlamaIndex's metadata of a model, with the real context window."""
        return LLMMetadata(
            context_window=self._window(),
            num_output=self.max_tokens or self.additional_kwargs.get("max_completion_tokens", -1),
            is_chat_model=True,
            is_function_calling_model=self.is_function_calling_model,
            model_name=self.model,
        )

    def _use_chat_completions(self, kwargs: dict[str, Any]) -> bool:
        # LlamaIndex would read ``metadata``, which may send a request.
        return bool(kwargs.get("use_chat_completions", True))

    def to_payload(self) -> dict[str, Any]:
        """Return what LlamaIndex reports to its observers, without a key or a request."""
        return {"class_name": self.class_name(), "model": self.model}

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Stream an answer; whoever closes the stream closes its connection before that returns.

        LlamaIndex leaves the end of the generator within its own to the event loop.
        """
        return aclosed_with_reader(await super().astream_chat(messages, **kwargs))

    def _stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        return closed_with_reader(super()._stream_chat(messages, **kwargs))

    async def _astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        return aclosed_with_reader(await super()._astream_chat(messages, **kwargs))

    def known_models(self) -> list[str]:
        """Ask the server which models it serves; empty where it does not answer."""
        entries = ask_models(str(self.api_base), self.api_key, self.timeout)
        return [name for entry in entries if isinstance(name := entry.get("id"), str)]

    def _window(self) -> int:
        if self.known_window is not None:
            return self.known_window
        if self._asked_window is None:
            asked = ask_window(str(self.api_base), self.model, self.api_key, self.timeout)
            self._asked_window = asked or SMALL_WINDOW
        return self._asked_window


def load_llm(settings: Settings) -> LLM | None:
    """Return the language model that the settings name, or ``None``; no request is sent yet.

    Raises:
        ConfigError: the name or the address cannot be used.
        LLMAuthError: a model of OpenAI's without a key.
    """
    if settings.llm is None:
        return None
    kind, _, name = settings.llm.partition(":")
    if kind == "openai":
        return _openai(name, settings)
    if kind == "like":
        return _like(name, settings)
    raise ConfigError(f"llm is {settings.llm!r}", hint="allowed are openai:MODEL and like:MODEL")


def ask_window(base_url: str, model: str, key: str | None, timeout: float) -> int | None:
    """Return a model's context window from the server's list of models; ``None``: unknown.

    A failure is not an error here: the call itself will raise it.
    """
    entries = ask_models(base_url, key, timeout)
    return next((_window_of(entry) for entry in entries if entry.get("id") == model), None)


def ask_models(base_url: str, key: str | None, timeout: float) -> list[dict[str, Any]]:
    """Return a server's list of models; empty where it has none."""
    headers = {"Authorization": f"Bearer {key}"} if key and key != _NO_KEY else {}
    try:
        with bounded_client(min(timeout, _PROBE_SECONDS), total=_PROBE_SECONDS) as client:
            response = client.get(f"{base_url}/models", headers=headers)
            return [entry for entry in response.json()["data"] if isinstance(entry, dict)]
    except (httpx.HTTPError, httpx.InvalidURL, RagError, ValueError, LookupError, TypeError):
        return []


def _window_of(entry: dict[str, Any]) -> int | None:
    meta = entry.get("meta")
    for holder in (entry, meta if isinstance(meta, dict) else {}):
        for name in _WINDOW_NAMES:
            value = holder.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None


def _openai(name: str, settings: Settings) -> LLM:
    if not is_chatcomp_api_supported(name):
        raise ConfigError(f"llm: OpenAI serves {name} by another protocol than chat completions")
    if settings.llm_api_key is None:
        raise LLMAuthError(
            f"openai:{name} needs a key", hint="set OPENAI_API_KEY or RAG_LLM_API_KEY"
        )
    base_url = settings.llm_base_url or OPENAI_URL
    known = ALL_AVAILABLE_MODELS.get(name)
    takes_temperature = known is not None and name not in O1_MODELS
    return _model(
        name,
        settings,
        base_url=base_url,
        # A name that this version does not know yet is a newer model: its window is not smaller.
        known_window=settings.llm_context_window or known or OPENAI_WINDOW,
        # Reasoning models refuse every temperature but their default.
        temperature=0.0 if takes_temperature else 1.0,
        additional_kwargs={
            "max_completion_tokens": settings.llm_max_tokens,
            "stream_options": {"include_usage": True},
        },
    )


def _like(name: str, settings: Settings) -> LLM:
    if settings.llm_base_url is None:
        raise ConfigError(
            f"llm like:{name} needs the address of its server",
            hint="set llm_base_url (RAG_LLM_BASE_URL), for example http://localhost:8000/v1",
        )
    return _model(
        name,
        settings,
        base_url=settings.llm_base_url,
        known_window=settings.llm_context_window,
        temperature=0.0,
        max_tokens=settings.llm_max_tokens,
    )


def _model(name: str, settings: Settings, *, base_url: str, **options: Any) -> ChatModel:
    host = urlsplit(base_url).hostname
    if not host:
        raise ConfigError(f"llm_base_url {base_url!r} names no server")
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else _NO_KEY
    timeout = settings.llm_timeout
    return ChatModel(
        model=name,
        api_base=base_url,
        api_key=key,
        timeout=timeout,
        # The one retry is ours: LlamaIndex's and the client's would multiply with it.
        max_retries=0,
        is_chat_model=True,
        http_client=bounded_client(timeout, total=settings.llm_total_timeout),
        async_http_client=bounded_async_client(timeout, total=settings.llm_total_timeout),
        **options,
    )
