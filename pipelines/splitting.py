"""Tiling a span with pieces of limited size in tokens, cut at the best breaks available.

Pure offsets: no text is copied or joined, so every piece is verbatim.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.tokens import TokenOffsets, count_tokens

Span = tuple[int, int]

# A piece that is encoded alone may differ from its count in context at its edges.
_SLACK_TOKENS = 16


@dataclass(frozen=True)
class Breaks:
    """Offsets at which a text may be cut, all of one rank.

    Attributes:
        at: offsets in ascending order.
        min_share: how full a piece must be, as a share of its size, to be cut here.
    """

    at: Sequence[int]
    min_share: float


def trim(text: str, start: int, end: int) -> Span:
    """Return the span without the white space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def tile(
    text: str, span: Span, size: int, ranks: Sequence[Breaks], tokens: TokenOffsets
) -> Iterator[Span]:
    """Yield pieces of at most ``size`` tokens that cover all visible text of the span.

    Args:
        text: the whole text that all offsets refer to.
        span: what to cover.
        size: maximum tokens of a piece, counted on the piece alone.
        ranks: where to cut, the best kind of break first.
        tokens: the token offsets of ``text``.
    """
    start, end = trim(text, *span)
    while start < end:
        if _fits(text, start, end, size, tokens):
            yield start, end
            return
        cut = _cut(text, start, end, size, ranks, tokens)
        yield trim(text, start, cut)
        start, end = trim(text, cut, end)


def _fits(text: str, start: int, end: int, size: int, tokens: TokenOffsets) -> bool:
    count = tokens.count(start, end)
    if abs(count - size) > _SLACK_TOKENS:
        return count < size
    return count_tokens(text[start:end]) <= size


def _cut(
    text: str, start: int, end: int, size: int, ranks: Sequence[Breaks], tokens: TokenOffsets
) -> int:
    limit = size
    left = tokens.count(start, end)
    if left < 1.5 * size:
        # The last two pieces share the rest, so that the last one is not tiny.
        limit = min(size, left // 2 + size // 8)
    while limit > 0:
        cut = _best(text, start, min(end, tokens.end_of(start, limit)), ranks, tokens, limit)
        if _fits(text, *trim(text, start, cut), size, tokens):
            return cut
        limit -= max(1, limit // 32)
    return start + 1


def _best(
    text: str,
    start: int,
    furthest: int,
    ranks: Sequence[Breaks],
    tokens: TokenOffsets,
    limit: int,
) -> int:
    for rank in ranks:
        index = bisect_right(rank.at, furthest) - 1
        if index < 0:
            continue
        least = tokens.end_of(start, int(limit * rank.min_share)) if rank.min_share else start
        if rank.at[index] > max(start, least):
            return rank.at[index]
    return _between_characters(text, start, max(furthest, start + 1))


def _between_characters(text: str, start: int, cut: int) -> int:
    """Return a cut that does not separate a character from its accents and joiners."""
    at = cut
    while start + 1 < at < len(text) and at > cut - 16 and _joins(text[at - 1], text[at]):
        at -= 1
    return at if not (at < len(text) and _joins(text[at - 1], text[at])) else cut


def _joins(left: str, right: str) -> bool:
    return "\u200d" in (left, right) or unicodedata.category(right) in ("Mn", "Mc", "Me")
