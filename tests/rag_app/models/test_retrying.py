"""Which failures are tried once more, and after how long."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pipelines.errors import LLMAuthError, LLMServerError, LLMTimeoutError
from rag_app.models.retrying import MAX_DELAY_SECONDS, delay_or_raise


def failure(**headers: str) -> Exception:
    error = RuntimeError("no")
    error.response = SimpleNamespace(headers=headers)  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("given", "seconds"), [("0", 0.0), ("3", 3.0), ("9999", MAX_DELAY_SECONDS), ("-5", 0.0)]
)
def test_a_server_says_how_long_to_wait_within_bounds(given: str, seconds: float) -> None:
    error = failure(**{"retry-after": given})
    assert delay_or_raise(error, LLMServerError("m"), tried=1) == seconds


@pytest.mark.parametrize("kind", [LLMAuthError, LLMTimeoutError])
def test_what_would_fail_again_is_raised_at_once(kind: type[Exception]) -> None:
    with pytest.raises(kind):
        delay_or_raise(failure(), kind("m"), tried=1)  # type: ignore[arg-type]


def test_after_the_last_try_our_error_is_raised() -> None:
    with pytest.raises(LLMServerError):
        delay_or_raise(failure(), LLMServerError("m"), tried=2)
