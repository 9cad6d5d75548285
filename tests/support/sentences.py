"""Sentence tables with sentences wherever a test wants them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pipelines.sentence_table import SentenceTable


def sentence_table_at(text: str, starts: Sequence[int]) -> SentenceTable:
    """Return sentences that begin at these places of a text; each ends where the next begins."""
    return SentenceTable.of(text, list(pairwise([*starts, len(text)])))
