"""Tokens of models that think before they answer."""

from __future__ import annotations

from dataclasses import dataclass

# Our tokens (cl100k) are not the model's own, and other tokenizers make more of the same text.
_WINDOW_SHARE = 0.9


@dataclass(slots=True)
class Reasoning:
    """Whether a model needs room for thoughts, and how much.

    Attributes:
        answer_tokens: tokens of an answer.
        thought_tokens: tokens of the thoughts before it.
        expected: whether the model is known to think; noted once it was seen to.
    """

    answer_tokens: int
    thought_tokens: int
    expected: bool = False

    def budget(self, window: int, prompt_tokens: int) -> int:
        """Return the tokens for thoughts and answer that fit a window beside the prompt."""
        room = int(window * _WINDOW_SHARE) - prompt_tokens
        return max(min(self.answer_tokens + self.thought_tokens, room), self.answer_tokens)
