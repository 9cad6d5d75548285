"""Every exception of the libraries below is mapped to one of ours."""

from __future__ import annotations

import json

import httpx
import openai
import pytest

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
)
from rag_app.models.llm.errors import BY_NAME, as_llm_error, kind_of, kind_of_class, redact

PACKAGES = ("openai", "httpx")


def package_of(kind):
    return kind.__module__.partition(".")[0]


def exceptions_of(*packages):
    """Every exception class that the packages define, public or not, whatever module has it."""
    found, todo = set(), [Exception]
    while todo:
        kinds = todo.pop().__subclasses__()
        todo += (kind for kind in kinds if kind not in found)
        found.update(kinds)
    return {
        f"{kind.__module__}.{kind.__name__}": kind
        for kind in found
        if package_of(kind) in packages and is_raised_out(kind)
    }


def is_raised_out(kind):
    """Whether a request can end in it: not what a package catches itself, nor a wrong `parse()`."""
    return not kind.__name__.startswith("_") and kind.__name__ != "MissingStreamClassError"


THEIRS = exceptions_of(*PACKAGES)


def test_the_walk_finds_the_classes_that_the_clients_document():
    assert set(THEIRS.values()) >= {
        openai.RateLimitError,
        openai.LengthFinishReasonError,
        httpx.PoolTimeout,
        httpx.ResponseNotRead,
        httpx.CookieConflict,
    }


@pytest.mark.parametrize("name", sorted(THEIRS))
def test_each_exception_class_of_the_clients_is_mapped_to_one_of_ours(name):
    kind = kind_of_class(THEIRS[name])
    assert kind is not None, f"{name} has no mapped base class: say what it means"
    assert issubclass(kind, LLMError)


def test_the_table_names_no_class_that_is_gone():
    there = {f"{package_of(kind)}.{kind.__name__}" for kind in THEIRS.values()}
    assert set(BY_NAME) <= there


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_each_entry_says_something_else_than_the_base_class_above_it(name):
    kind = next(k for k in THEIRS.values() if f"{package_of(k)}.{k.__name__}" == name)
    above = [kind_of_class(base) for base in kind.__bases__]
    assert BY_NAME[name] not in above


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx.ReadTimeout("late"), LLMTimeoutError),
        (httpx.RemoteProtocolError("cut"), LLMConnectionError),
        (httpx.LocalProtocolError("a line break in a header"), LLMRequestError),
        (httpx.UnsupportedProtocol("no scheme"), LLMRequestError),
        (httpx.StreamClosed(), LLMStreamError),
        (openai.APITimeoutError(httpx.Request("POST", "http://h")), LLMTimeoutError),
        (openai.APIConnectionError(request=httpx.Request("POST", "http://h")), LLMConnectionError),
        (openai.OpenAIError("anything"), LLMError),
    ],
)
def test_the_nearest_base_class_decides(error, kind):
    assert kind_of(error) is kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, LLMRequestError),
        (401, LLMAuthError),
        (403, LLMAuthError),
        (404, LLMNotFoundError),
        (408, LLMTimeoutError),
        (413, LLMRequestError),
        (422, LLMRequestError),
        (429, LLMRateLimitError),
        (500, LLMServerError),
        (503, LLMServerError),
        (504, LLMTimeoutError),
        (529, LLMServerError),
    ],
)
def test_a_status_decides_whoever_raised_it(status, kind):
    class SomeClientError(Exception):
        status_code = status

    assert kind_of(SomeClientError()) is kind
    response = httpx.Response(status, request=httpx.Request("GET", "http://host"))
    assert kind_of(httpx.HTTPStatusError("", request=response.request, response=response)) is kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), LLMTimeoutError),
        (ConnectionRefusedError(), LLMConnectionError),
        (json.JSONDecodeError("", "", 0), LLMServerError),
        (AttributeError("'str' object has no attribute 'choices'"), LLMServerError),
        (IndexError(), LLMServerError),
        (ValueError("something else"), LLMError),
        (RuntimeError("something else"), LLMError),
    ],
)
def test_other_errors_are_mapped_by_what_they_mean(error, kind):
    assert kind_of(error) is kind


def test_an_error_of_ours_stays():
    error = LLMTimeoutError("late")
    assert as_llm_error(error, model="m") is error


def test_messages_name_the_model_and_what_to_do():
    error = as_llm_error(httpx.ConnectError("refused"), model="mine")
    assert str(error).startswith("mine: the server cannot be reached: refused")
    assert "llm_base_url" in error.hint
    assert error.retryable


@pytest.mark.parametrize(
    "text", ["key sk-abcdefghijk", "Bearer abc.def-ghi", "key: secret-value", "gsk_0123456789"]
)
def test_keys_are_blotted_out(text):
    shown = redact(f"Incorrect {text} provided", ["secret-value"])
    assert "***" in shown
    assert not any(part in shown for part in ("abcdef", "abc.def", "secret-value", "012345"))


def test_long_messages_are_cut_and_put_on_one_line():
    shown = redact("a\nb" + "x" * 9999)
    assert "\n" not in shown
    assert len(shown) < 400


class Refusal(Exception):
    """A refusal as the OpenAI client raises it: status, code, body (its inner "error")."""

    def __init__(self, body, status=400, code=None):
        super().__init__(str(body))
        self.status_code, self.body, self.code = status, body, code


@pytest.mark.parametrize(
    "body",
    [
        {"code": 400, "message": "model not found", "type": "invalid_request_error"},
        {"object": "error", "message": "The model `m` does not exist.", "code": 404},
        {"error": 'Invalid model identifier "m". Please specify a valid downloaded model'},
        {"message": "No models loaded. Please load a model in the developer page."},
        {"message": 'Model "m" not found. Please load it first.', "param": "model"},
        {"message": 'model "m" not found, try pulling it first'},
        {"message": "m is not a valid model ID", "code": 400},
        {"message": "Invalid model name passed in model=m. Call `/v1/models`."},
        {"detail": "Server is pinned to 'k'; requested 'm'."},
    ],
    ids=[
        "llama.cpp",
        "vllm",
        "lmstudio-1",
        "lmstudio-2",
        "lmstudio-3",
        "ollama",
        "openrouter",
        "litellm",
        "transformers",
    ],
)
@pytest.mark.parametrize("status", [400, 422, 404])
def test_an_unknown_model_is_recognised_by_what_the_common_servers_write(body, status):
    assert kind_of(Refusal(body, status)) is LLMNotFoundError


def test_an_unknown_model_is_recognised_by_its_code():
    assert kind_of(Refusal({"message": "no"}, code="model_not_found")) is LLMNotFoundError


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens.",
        "Unsupported value: 'temperature' does not support 0.0 with this model.",
        "the request exceeds the available context size, try increasing it",
        "Invalid request: messages must not be empty",
    ],
)
def test_other_refusals_are_not_taken_for_an_unknown_model(message):
    assert kind_of(Refusal({"message": message})) is LLMRequestError


def test_the_models_of_the_server_are_named_the_most_alike_first():
    known = ["other", "gpt-x", "smol-135m", "smol-360m", "a", "b", "smol-1b"]
    error = as_llm_error(
        Refusal({"message": "model not found"}), model="smol-135", known_models=lambda: known
    )
    assert error.hint.startswith("the server knows smol-135m, smol-1b, smol-360m, ")
    assert error.hint.endswith(" and 2 more")


def test_a_server_that_lists_nothing_leaves_the_hint():
    error = as_llm_error(Refusal({}, 404), model="m", known_models=list)
    assert "RAG_LLM" in error.hint


def test_a_time_out_names_the_seconds_and_the_setting():
    error = as_llm_error(httpx.ReadTimeout("timed out"), model="m", timeout=60.0)
    assert str(error).startswith("m: the server did not answer within 60 s (")
    assert "llm_timeout" in error.hint
    assert "RAG_LLM_TIMEOUT" in error.hint
