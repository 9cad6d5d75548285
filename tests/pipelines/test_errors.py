"""Errors: message and hint, pickling across processes, and what may be retried."""

import pickle

import pytest

from pipelines import errors
from pipelines.errors import ConfigError, RagError

ALL = sorted(
    (e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, RagError)),
    key=lambda e: e.__name__,
)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_keeps_class_message_and_hint_across_processes(kind):
    again = pickle.loads(pickle.dumps(kind("a.pdf: it failed", hint="run it again")))
    assert (type(again), again.message, again.hint) == (kind, "a.pdf: it failed", "run it again")


def test_the_text_of_an_error_ends_with_its_hint():
    assert str(ConfigError("k is 0", hint="give 1 or more")) == "k is 0 (give 1 or more)"
    assert str(ConfigError("k is 0")) == "k is 0"


def test_a_message_cannot_steer_a_terminal():
    assert "\x1b" not in str(ConfigError("a\x1b[31m.pdf", hint="look at\x1b[0m it"))


def test_errors_that_may_pass_by_themselves_are_retryable_and_no_others():
    assert [kind.__name__ for kind in ALL if kind.retryable] == [
        "EmbeddingError",
        "IndexLockedError",
        "LLMConnectionError",
        "LLMRateLimitError",
        "LLMServerError",
        "LLMStreamError",
        "LLMTimeoutError",
    ]
