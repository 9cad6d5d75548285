"""One answer written by a language model: context in, checked sentences out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from llama_index.core.llms.llm import LLM

from rag_app.answer.evidence import Evidence
from rag_app.answer.plan import Plan
from rag_app.answer.prompts import Prompts
from rag_app.answer.response import Answer


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens of context and answer."""

    max_context_tokens: int | None = None


class Generation:
    """One call to a language model."""

    def __init__(
        self,
        llm: LLM,
        plan: Plan,
        evidence: Evidence,
        prompts: Prompts,
        limits: Limits,
        on_first_token: Callable[[], None],
    ) -> None:
        raise NotImplementedError

    def complete(self) -> Answer:
        """Not built yet."""
        raise NotImplementedError

    async def acomplete(self) -> Answer:
        """Not built yet."""
        raise NotImplementedError

    def stream(self) -> Iterator[str]:
        """Not built yet."""
        raise NotImplementedError

    def astream(self) -> AsyncIterator[str]:
        """Not built yet."""
        raise NotImplementedError

    def answer(self, text: str) -> Answer:
        """Not built yet."""
        raise NotImplementedError
