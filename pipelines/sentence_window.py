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
    """One node for each sentence, which knows the window of sentences that is read with it.

    A node's metadata holds the window's span (``window_start``, ``window_end``) and, for
    LlamaIndex's ``MetadataReplacementPostProcessor``, its text (``window``) and the
    sentence (``original_text``).

    Attributes:
        window: how many sentences before and after are read with a sentence.
        max_tokens: maximum tokens of a sentence; a longer one is cut.
        window_text: whether the nodes carry the texts; an index reads them from its documents.
    """

    window: int = Field(default=WINDOW, ge=0)
    max_tokens: int = Field(default=MAX_SENTENCE_TOKENS, ge=16)
    window_text: bool = True

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
            start = spans[max(0, i - self.window)][0]
            end = spans[min(len(spans) - 1, i + self.window)][1]
            extra: dict[str, Any] = {"window_start": start, "window_end": end}
            if self.window_text:
                extra["window"] = maker.text[start:end]
                extra["original_text"] = maker.text[slice(*span)]
            made.append(maker.make(span, "sentence", settings, extra=extra))
        return made
