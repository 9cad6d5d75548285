"""A language model that writes what a test says, and plans to write about."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM

from rag_app.answer.plan import Plan, Retrieved, make_plan
from tests.support.passages import FixedEvidence, evidence_of, node

PAGES = ("The plant in Kobe was opened in 1998.", "It made 4,200 pumps in 2019.")
QUESTION = "How many pumps did the plant make in 2019?"


class Writer(CustomLLM):
    """Writes ``text``, at once or a word at a time."""

    text: str = ""
    window: int = 4000
    outputs: int = 256

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=self.window, num_output=self.outputs, is_chat_model=True, model_name="w"
        )

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.text)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise AssertionError("an answer is asked for as a chat")

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=ChatMessage(role="assistant", content=self.text))

    def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
        written = ""
        for word in self.text.split(" "):
            delta = word if not written else f" {word}"
            written += delta
            message = ChatMessage(role="assistant", content=written)
            yield ChatResponse(message=message, delta=delta)


def planned(*pages: str, question: str = QUESTION) -> tuple[Plan, FixedEvidence]:
    """A plan over pages of one document, a passage each."""
    pages = pages or PAGES
    nodes, start = [], 0
    for number, text in enumerate(pages, start=1):
        nodes.append(node(text, start=start, pages=[number]))
        start += len(text) + 1
    evidence = evidence_of(*pages)
    return make_plan(question, Retrieved(nodes), evidence), evidence
