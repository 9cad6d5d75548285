"""Every exception of the libraries below is mapped to one of ours."""

from __future__ import annotations

import inspect
import json

import httpx
import openai
import openai._exceptions
import pytest

from pipelines.errors import (
    LLMAuthError,
    LLMConnectionError,
    LLMError,
    LLMNotFoundError,
    LLMRateLimitError,
    LLMRequestError,
    LLMServerError,
    LLMTimeoutError,
    RagError,
)
from rag_app.models.llm.errors import BY_NAME, as_llm_error, kind_of, redact


def exceptions_of(*modules):
    found = {}
    for module in modules:
        for name in dir(module):
            value = getattr(module, name, None)
            if inspect.isclass(value) and issubclass(value, Exception):
                root = value.__module__.partition(".")[0]
                if root in ("openai", "httpx") and not name.startswith("_"):
                    found[f"{root}.{value.__name__}"] = value
    return found


THEIRS = exceptions_of(openai, openai._exceptions, httpx)


def bare(kind):
    """An instance without the arguments of its constructor."""
    return kind.__new__(kind)


@pytest.mark.parametrize("name", sorted(THEIRS))
def test_each_class_of_the_clients_is_mapped_by_its_own_name(name):
    assert name in BY_NAME, f"{name} is new: say what it means"
    assert issubclass(kind_of(bare(THEIRS[name])), LLMError)


def test_the_table_names_no_class_that_is_gone():
    assert set(BY_NAME) == set(THEIRS)


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


def test_every_mapped_error_is_an_error_of_ours():
    assert all(issubclass(kind, RagError) for kind in BY_NAME.values())


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
