"""A name → a language model; without a name there is none, whatever the environment holds."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    LLMMetadata,
)
from llama_index.core.llms.llm import LLM
from llama_index.llms.openai.utils import (
    ALL_AVAILABLE_MODELS,
    O1_MODELS,
    is_chatcomp_api_supported,
    to_openai_message_dicts,
)
from llama_index.llms.openai_like import OpenAILike  # type: ignore[import-untyped]
from pydantic import Field, PrivateAttr

from pipelines.errors import ConfigError, LLMAuthError, RagError
from rag_app.models.bounded_http import bounded_async_client, bounded_client, says_done
from rag_app.models.closing import aclosed_with_reader, closed_with_reader
from rag_app.models.llm.errors import SYSTEM_ROLE
from rag_app.models.llm.reasoning import Reasoning
from rag_app.models.llm.replies import (
    finished_response,
    is_json,
    streamed_response,
    whole_response,
    without_system,
)
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
)


class ChatModel(OpenAILike):  # type: ignore[misc]  # LlamaIndex ships no types for it
    """A chat model behind the OpenAI protocol; no representation shows its key.

    Attributes:
        known_window: context window in tokens; ``None``: the server is asked once,
            on first use.
        reasoning: tokens of thoughts.
    """

    api_key: str | None = Field(default=None, repr=False, exclude=True)
    default_headers: dict[str, str] | None = Field(default=None, repr=False, exclude=True)
    known_window: int | None = None

    reasoning: Reasoning

    _asked_window: int | None = PrivateAttr(default=None)
    _left_out: set[str] = PrivateAttr(default_factory=set)

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

    def leave_out(self, part: str) -> None:
        """Send what the server refused (see ``refused_part``) no more."""
        self._left_out.add(part)

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Stream an answer; whoever closes the stream closes its connection before that returns.

        LlamaIndex leaves the end of the generator within its own to the event loop.
        """
        return aclosed_with_reader(await super().astream_chat(messages, **kwargs))

    # LlamaIndex's own four take content for a text, and a reply for free of errors.

    def _chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return whole_response(self._completions().create(**self._request(messages, kwargs)))

    async def _achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return whole_response(await self._acompletions().create(**self._request(messages, kwargs)))

    def _stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        return closed_with_reader(self._responses(messages, kwargs))

    async def _astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        return aclosed_with_reader(self._aresponses(messages, kwargs))

    def _responses(
        self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]
    ) -> Generator[ChatResponse, None, None]:
        stream = self._completions().create(**self._request(messages, {**kwargs, "stream": True}))
        if is_json(stream.response):
            yield streamed_response(json.loads(stream.response.read()))
            return
        text = ""
        for event in stream:
            response = streamed_response(event, text)
            text += response.delta or ""
            yield response
        if says_done(stream.response):
            yield finished_response(text)

    async def _aresponses(
        self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]
    ) -> AsyncGenerator[ChatResponse, None]:
        request = self._request(messages, {**kwargs, "stream": True})
        stream = await self._acompletions().create(**request)
        if is_json(stream.response):
            yield streamed_response(json.loads(await stream.response.aread()))
            return
        text = ""
        async for event in stream:
            response = streamed_response(event, text)
            text += response.delta or ""
            yield response
        if says_done(stream.response):
            yield finished_response(text)

    def _completions(self) -> Any:
        return self._get_client().chat.completions

    def _acompletions(self) -> Any:
        return self._get_aclient().chat.completions

    def _request(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> dict[str, Any]:
        options = self._get_model_kwargs(**kwargs)
        if (tokens := kwargs.get("max_tokens")) is not None:
            # LlamaIndex prefers those of the model.
            options.pop("max_tokens", None)
            known = self.additional_kwargs.get("max_completion_tokens")
            options["max_tokens" if known is None else "max_completion_tokens"] = tokens
        sent = without_system(messages) if SYSTEM_ROLE in self._left_out else messages
        kept = {name: value for name, value in options.items() if name not in self._left_out}
        return {**kept, "messages": to_openai_message_dicts(sent, model=self.model)}

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
    """Return a model's context window as its server tells it; ``None``: unknown.

    A failure is not an error here: the call itself will raise it.
    """
    entries = ask_models(base_url, key, timeout)
    entry: dict[str, Any] = next((one for one in entries if one.get("id") == model), {})
    # llama.cpp serves less than a model was trained with, and takes any name of one.
    return _window_of(entry) or _served_window(base_url, key, timeout) or _trained_window(entry)


def ask_models(base_url: str, key: str | None, timeout: float) -> list[dict[str, Any]]:
    """Return a server's list of models; empty where it has none."""
    answer = _asked(f"{base_url}/models", key, timeout)
    entries = answer.get("data")
    return [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []


def _asked(url: str, key: str | None, timeout: float) -> dict[str, Any]:
    """Return the JSON object that a server gives; an empty one where it gives none."""
    headers = {"Authorization": f"Bearer {key}"} if key and key != _NO_KEY else {}
    try:
        with bounded_client(min(timeout, _PROBE_SECONDS), total=_PROBE_SECONDS) as client:
            answer = client.get(url, headers=headers).json()
    except (httpx.HTTPError, httpx.InvalidURL, RagError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _served_window(base_url: str, key: str | None, timeout: float) -> int | None:
    """Return the window that a llama.cpp server gives to one request."""
    props = _asked(f"{base_url.removesuffix('/v1')}/props", key, timeout)
    generation = props.get("default_generation_settings")
    return _number_in(generation, "n_ctx") or _number_in(props, "n_ctx")


def _window_of(entry: dict[str, Any]) -> int | None:
    holders = (entry, entry.get("meta"))
    found = (_number_in(holder, name) for holder in holders for name in _WINDOW_NAMES)
    return next(filter(None, found), None)


def _trained_window(entry: dict[str, Any]) -> int | None:
    return _number_in(entry, "n_ctx_train") or _number_in(entry.get("meta"), "n_ctx_train")


def _number_in(holder: Any, name: str) -> int | None:
    value = holder.get(name) if isinstance(holder, dict) else None
    is_number = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_number else None


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
    reasoning = _reasoning(settings, expected=name in O1_MODELS)
    return _model(
        name,
        settings,
        base_url=base_url,
        # A name that this version does not know yet is a newer model: its window is not smaller.
        known_window=settings.llm_context_window or known or OPENAI_WINDOW,
        # Reasoning models refuse every temperature but their default.
        temperature=0.0 if takes_temperature else 1.0,
        additional_kwargs={
            **_additional(settings),
            "max_completion_tokens": reasoning.answer_tokens
            + (reasoning.thought_tokens if reasoning.expected else 0),
        },
        reasoning=reasoning,
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
        additional_kwargs=_additional(settings),
        reasoning=_reasoning(settings),
    )


def _additional(settings: Settings) -> dict[str, Any]:
    effort = settings.llm_reasoning_effort
    asked = {} if effort is None else {"reasoning_effort": effort}
    return {"stream_options": {"include_usage": True}, **asked}


def _reasoning(settings: Settings, *, expected: bool = False) -> Reasoning:
    effort = settings.llm_reasoning_effort
    return Reasoning(
        settings.llm_max_tokens,
        settings.llm_reasoning_tokens,
        expected=effort != "none" and (expected or effort is not None),
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
