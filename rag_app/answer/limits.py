"""How many tokens a language model is sent, and may write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """Tokens of context and answer.

    Attributes:
        max_context_tokens: of the passages, at most; ``None``: what the window leaves.
        answer_tokens: kept free for the answer where the model does not say.
        window_share: part of the window that is filled: our tokens (cl100k) are not the
            model's own, and other tokenizers make more of the same text.
        other_scripts_share: the same where the text is not in Latin script: models made
            for English take up to twice as many tokens for Japanese.
    """

    max_context_tokens: int | None = None
    answer_tokens: int = 512
    window_share: float = 0.8
    other_scripts_share: float = 0.5
