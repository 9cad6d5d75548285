"""Document → sentences, each with the span of its window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import BaseNode, TransformComponent
from pydantic import Field

from pipelines.nodes import NodeMaker
from pipelines.sentences import MAX_SENTENCE_TOKENS, sentence_spans

WINDOW = 3


class SentenceWindowParser(TransformComponent):
    """One node for each sentence; the window is a span of the document, not a copy.

    Attributes:
        window: how many sentences before and after are read with a sentence.
        max_tokens: the most tokens of a sentence; what is longer is cut.
    """

    window: int = Field(default=WINDOW, ge=0)
    max_tokens: int = Field(default=MAX_SENTENCE_TOKENS, ge=16)

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        """Return the sentences of all documents, in order."""
        return [sentence for document in nodes for sentence in self._parse(document)]

    def _parse(self, document: BaseNode) -> list[BaseNode]:
        maker = NodeMaker(document)
        spans = maker.structure.sentences
        if self.max_tokens != MAX_SENTENCE_TOKENS:
            spans = sentence_spans(maker.text, max_tokens=self.max_tokens)
        settings = {"max_tokens": self.max_tokens, "window": self.window}
        made: list[BaseNode] = []
        for i, span in enumerate(spans):
            window = {
                "window_start": spans[max(0, i - self.window)][0],
                "window_end": spans[min(len(spans) - 1, i + self.window)][1],
            }
            made.append(maker.make(span, "sentence", settings, extra=window))
        return made
