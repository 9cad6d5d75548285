"""Replies of a language model, and the tokens that they cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of a model.

    Attributes:
        text: the whole answer, without lone surrogates and control characters.
        prompt_tokens, completion_tokens: counted by the server, else by cl100k.
        estimated: whether the counts are by cl100k.
        cut: whether the model stopped at its maximum of tokens.
        calls: requests that were sent, failed ones included.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    estimated: bool
    cut: bool
    calls: int


@dataclass
class Meter:
    """The cost of all calls within one ``with metered()``."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False

    def add(self, reply: Reply) -> None:
        """Count one more reply."""
        self.calls += reply.calls
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.estimated = self.estimated or reply.estimated


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """Count the cost of all calls in this context, by any code."""
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def count(reply: Reply) -> None:
    """Add a reply to the meter of this context, if there is one."""
    meter = _meter.get()
    if meter is not None:
        meter.add(reply)
