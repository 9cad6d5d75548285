"""Sentences noted wherever a test wants them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pipelines.noted_sentences import NotedSentences


def noted_at(text: str, starts: Sequence[int]) -> NotedSentences:
    """Return sentences that begin at these places of a text; each ends where the next begins."""
    return NotedSentences.of(text, list(pairwise([*starts, len(text)])))
