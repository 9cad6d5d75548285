"""Errors of servers of models and their clients → our errors.

By HTTP status, else by the name of a base class, so that no client library has to be
imported. Messages of servers are shortened and keys in them masked: a server may quote
the key that it refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any

from pipelines.errors import (
    LLMAuthError,
    LLMConnectionError,
    LLMError,
    LLMNotFoundError,
    LLMRateLimitError,
    LLMRequestError,
    LLMServerError,
    LLMStreamError,
    LLMTimeoutError,
    RagError,
)
from rag_app.models.service import LANGUAGE_MODEL, Service

_MAX_MESSAGE_CHARS = 300
_MAX_SHOWN_MODELS = 5
_KEY = re.compile(r"\b(?:sk|pk|gsk|xai|key|hf)[-_][\w\-*.]{6,}|(?<=[Bb]earer )\S+")

# Base classes of the clients' errors; the nearest one along an error's inheritance decides.
# What carries an HTTP status is mapped by that.
BY_NAME: dict[str, type[LLMError]] = {
    "openai.OpenAIError": LLMError,
    "openai.APIError": LLMServerError,
    "openai.APIStatusError": LLMRequestError,
    "openai.APIConnectionError": LLMConnectionError,
    "openai.APITimeoutError": LLMTimeoutError,
    "openai.InvalidWebhookSignatureError": LLMError,
    "httpx.HTTPError": LLMConnectionError,
    "httpx.TimeoutException": LLMTimeoutError,
    "httpx.DecodingError": LLMServerError,
    "httpx.TooManyRedirects": LLMServerError,
    "httpx.CookieConflict": LLMServerError,
    "httpx.StreamError": LLMStreamError,
    "httpx.InvalidURL": LLMRequestError,
    "httpx.UnsupportedProtocol": LLMRequestError,
    "httpx.LocalProtocolError": LLMRequestError,
}

_BY_STATUS: dict[int, type[LLMError]] = {
    401: LLMAuthError,
    402: LLMAuthError,
    403: LLMAuthError,
    404: LLMNotFoundError,
    408: LLMTimeoutError,
    429: LLMRateLimitError,
    504: LLMTimeoutError,
}

# Many servers answer 400 for an unknown model. Their messages: llama.cpp
# "model not found"; vLLM and SGLang "The model `x` does not exist"; LM Studio "Invalid model
# identifier", "No models loaded"; Ollama 'model "x" not found, try pulling it first';
# OpenRouter "x is not a valid model ID"; LiteLLM "Invalid model name"; transformers serve
# "Server is pinned to 'x'".
_REFUSALS = (400, 422)
_UNKNOWN_MODEL = re.compile(
    r"""\b(?:invalid|unknown|no\ such|not\ a\ valid)\ model\b
      | \bmodels?\b(?!').{0,100}?\b
        (?:not\ (?:be\ )?(?:found|available|served|loaded)|(?:does\ not|doesn't)\ exist)\b
      | \bno\ models?\ (?:loaded|found|available)\b
      | \bserver\ is\ pinned\ to\b""",
    re.I | re.X,
)

# What a request can do without, and how servers say that they do not take it: chat templates
# (Gemma, early Mistral), Google, vLLM, llama.cpp; OpenAI, Azure, Groq, FastAPI.
SYSTEM_ROLE, STREAM_OPTIONS, TEMPERATURE = "system role", "stream_options", "temperature"
_REFUSED_PARTS = {
    SYSTEM_ROLE: re.compile(
        r"""\bsystem\b.{0,40}\b(?:not\ supported|unsupported|not\ allowed|not\ enabled)\b
          | \b(?:no|not\ support(?:ed)?|unsupported|invalid|unexpected)\b.{0,40}\bsystem\b
          | \bdeveloper\ instruction\ is\ not\ enabled\b
          | \broles\ must\ alternate\b
          | \bonly\ user\ and\ assistant\ roles\b""",
        re.I | re.X,
    ),
    STREAM_OPTIONS: re.compile(r"stream_options|include_usage"),
    TEMPERATURE: re.compile(r"\btemperature\b.{0,60}(?:support|default)|support.{0,60}temperature"),
}

_WHAT: dict[type[LLMError], str] = {
    LLMAuthError: "the server refused the key",
    LLMNotFoundError: "the server does not know this model or address",
    LLMRequestError: "the server refused the request",
    LLMRateLimitError: "the server takes no more requests for now",
    LLMServerError: "the server failed",
    LLMConnectionError: "the server cannot be reached",
    LLMTimeoutError: "the server did not answer in time",
    LLMStreamError: "the answer broke off before its end",
}


def _hint_of(kind: type[LLMError], service: Service) -> str:
    """Return what to do about a kind of failure, with the settings of the service."""
    hints: dict[type[LLMError], str] = {
        LLMAuthError: f"set {service.variable(service.key)} to a key of this server",
        LLMNotFoundError: f"check the model's name in {service.variable(service.model)}, and "
        f"{service.address}",
        LLMRequestError: service.shorter,
        LLMRateLimitError: "wait, or ask fewer questions at once",
        LLMServerError: "ask again later",
        LLMConnectionError: f"check that the server runs and that {service.address} is its address",
        LLMTimeoutError: f"a slow model needs a longer {service.variable(service.timeout)}, "
        "in seconds",
        LLMStreamError: "ask again",
    }
    return hints.get(kind, "")


class FailedReply(Exception):
    """A failure that a server sent as a reply.

    Attributes:
        body: what it said, as in the body of a failed request.
        status_code: the HTTP status that it meant, if it said one.
    """

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(str(body.get("message") or "the server says only that there was an error"))
        self.body = body
        code = body.get("code")
        self.status_code = code if isinstance(code, int) and 400 <= code < 600 else None


def as_llm_error(
    error: BaseException,
    *,
    model: str,
    secrets: Sequence[str] = (),
    timeout: float | None = None,
    known_models: Callable[[], Sequence[str]] = tuple,
    service: Service = LANGUAGE_MODEL,
) -> RagError:
    """Return our error for an error of a client.

    Args:
        error: what was raised; an error of ours comes back as it is.
        model: name of the model, for the message.
        secrets: strings that must not be in the message.
        timeout: seconds that were waited, where known.
        known_models: called when the server does not know the model; returns those it serves.
        service: what the server does, and the settings that the error names.
    """
    if (ours := _ours_within(error)) is not None:
        return ours
    kind = kind_of(error)
    if kind is LLMTimeoutError and timeout is not None and status_of(error) is None:
        return kind(
            f"{model}: the server did not answer within {timeout:g} s", hint=_hint_of(kind, service)
        )
    detail = redact(_detail(error, service), secrets)
    what = _WHAT.get(kind, f"{service.does} failed")
    message = f"{model}: {what}" + (f": {detail}" if detail else "")
    hint = _hint(error, kind, service)
    if kind is LLMNotFoundError and (known := known_models()):
        hint = redact(f"the server knows {_some_of(known, model)}", secrets)
    return kind(message, hint=hint)


def _ours_within(error: BaseException | None) -> RagError | None:
    """Return the error of ours that a client wrapped in its own, if any."""
    while error is not None and not isinstance(error, RagError):
        error = error.__cause__
    return error


def kind_of(error: BaseException) -> type[LLMError]:
    """Return our class for an error."""
    status = status_of(error)
    if status is not None and status >= 400:
        if status in _REFUSALS and is_unknown_model(error):
            return LLMNotFoundError
        return _BY_STATUS.get(status, LLMServerError if status >= 500 else LLMRequestError)
    if (kind := kind_of_class(type(error))) is not None:
        return kind
    if isinstance(error, TimeoutError):
        return LLMTimeoutError
    if isinstance(error, OSError):
        return LLMConnectionError
    if isinstance(error, FailedReply) or _is_no_answer(error):
        return LLMServerError
    return LLMError


def kind_of_class(theirs: type[BaseException]) -> type[LLMError] | None:
    """Return our class for a client's class; None: neither it nor a base class is mapped."""
    for base in theirs.__mro__:
        package = base.__module__.partition(".")[0].replace("httpx2", "httpx")
        if (kind := BY_NAME.get(f"{package}.{base.__name__}")) is not None:
            return kind
    return None


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that an error carries, if any."""
    response = getattr(error, "response", None)
    for holder in (error, response):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    # An error within a stream has no status of its own.
    body = getattr(error, "body", None)
    code = body.get("code") if isinstance(body, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else None


def is_unknown_model(error: BaseException) -> bool:
    """Tell whether a refusal says that the model is unknown, in the words of common servers.

    An error code decides where there is one, otherwise the wording, which differs by server.
    """
    if getattr(error, "code", None) == "model_not_found":
        return True
    return _UNKNOWN_MODEL.search(_detail(error, LANGUAGE_MODEL)) is not None


def refused_part(error: BaseException) -> str | None:
    """Return what a server says it does not take of a request that may go without it, if any."""
    status = status_of(error)
    if status is None or status not in (*_REFUSALS, 500, 501):
        return None
    detail = _detail(error, LANGUAGE_MODEL)
    return next((part for part, words in _REFUSED_PARTS.items() if words.search(detail)), None)


def is_filtered(error: BaseException) -> bool:
    """Tell whether a content filter refused the request."""
    return getattr(error, "code", None) in ("content_filter", "content_policy_violation")


def is_out_of_quota(error: BaseException) -> bool:
    """Tell whether a 429 means that the quota is used up, so that waiting does not help."""
    return getattr(error, "code", None) == "insufficient_quota"


def redact(text: str, secrets: Sequence[str] = ()) -> str:
    """Return a text without keys, on one line, of bounded length."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    line = " ".join(_KEY.sub("***", text).split())
    return line if len(line) <= _MAX_MESSAGE_CHARS else line[:_MAX_MESSAGE_CHARS] + "…"


def _some_of(names: Sequence[str], wanted: str) -> str:
    """Return the names that are most like the wanted one, and how many more there are."""
    likeness = {name: SequenceMatcher(None, name.casefold(), wanted.casefold()) for name in names}
    nearest = sorted(likeness, key=lambda name: -likeness[name].ratio())[:_MAX_SHOWN_MODELS]
    more = len(likeness) - len(nearest)
    return ", ".join(nearest) + (f" and {more} more" if more else "")


def _hint(error: BaseException, kind: type[LLMError], service: Service) -> str:
    if is_out_of_quota(error):
        return "the account of this key has nothing left: waiting does not help"
    if is_filtered(error):
        return "put another question, or use a model without this filter"
    if kind is LLMRequestError and "reasoning_effort" in _detail(error, service):
        return "leave llm_reasoning_effort (RAG_LLM_REASONING_EFFORT) out, or set another one"
    if _is_no_answer(error):
        return (
            f"check that {service.address} is an address of the {service.protocol} protocol; "
            "most end in /v1"
        )
    return _hint_of(kind, service)


def _detail(error: BaseException, service: Service) -> str:
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            inner = inner.get("message") or inner.get("detail")
        message = inner
        if isinstance(message, str) and message:
            return message
    if _is_no_answer(error):
        return f"what it sent is no answer of the {service.protocol} protocol"
    return str(error) or type(error).__name__


def _is_no_answer(error: BaseException) -> bool:
    # What clients raise for a body of an unexpected form.
    expected = (json.JSONDecodeError, UnicodeError, AttributeError, TypeError, LookupError)
    invalid = isinstance(error, expected) or type(error).__name__ == "ValidationError"
    return invalid and status_of(error) is None
