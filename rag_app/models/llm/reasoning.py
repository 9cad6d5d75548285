"""Models that think before they answer: which may, and the tokens that they need."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Our tokens (cl100k) are not the model's own, and other tokenizers make more of the same text.
_WINDOW_SHARE = 0.9
# Names of models whose servers may pass thoughts on, with or without their opening tag.
_MAY_THINK = re.compile(
    r"(?<![a-z])(?:r1|qwq|qwen-?3|think|reason|magistral|gpt-oss|deepseek|glm-?[4-9]|kimi|seed-oss"
    r"|minimax|exaone|openthinker|nemotron|smollm-?3|hunyuan|ernie|phi-?4-(?:mini-)?reasoning"
    r"|command-a|o[1-9](?![a-z0-9]))",
    re.IGNORECASE,
)


def may_think(name: str) -> bool:
    """Tell by its name whether a model may write thoughts before its answer."""
    return _MAY_THINK.search(name) is not None


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
