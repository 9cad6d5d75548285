"""The structure of one text, found once and shared by all that cut it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pipelines.lines import Kind, Line, classify
from pipelines.sentences import MAX_SENTENCE_TOKENS, bounded, inner_breaks, whole_sentences
from pipelines.splitting import Breaks, Span
from pipelines.tokens import TokenOffsets

_UNIT = re.compile(r"[(（](?:in|\$|€|£|¥|単位)", re.IGNORECASE)
# How many sections of one text may have the same heading.
_MAX_SECTIONS = 2
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True)
class Structure:
    """Tokens, sentences, headings and breaks of a text.

    Attributes:
        tokens: where each token starts.
        whole: spans of the sentences in order, however long each is.
        sentences: spans in order, of at most 128 tokens each.
        headings: spans of the headings of sections, in order; not those inside tables.
        ranks: where the text may be cut, the best kind of break first.
        lines: in order, each with its kind.
    """

    tokens: TokenOffsets
    whole: list[Span]
    sentences: list[Span]
    headings: list[Span]
    ranks: tuple[Breaks, ...]
    lines: Sequence[Line]

    def heading_at(self, text: str, offset: int) -> str:
        """Return the nearest heading that starts at or above an offset; ``""`` if none."""
        index = bisect_right(self.headings, (offset, len(text))) - 1
        return text[slice(*self.headings[index])] if index >= 0 else ""


@lru_cache(maxsize=2)
def structure_of(text: str) -> Structure:
    """Return the structure of a text; the last two are kept for the parsers that share one."""
    tokens = TokenOffsets(text)
    lines = classify(text)
    whole = whole_sentences(text, lines)
    sentences = bounded(text, whole, tokens, MAX_SENTENCE_TOKENS)
    ranks = _ranks(text, lines, sentences)
    return Structure(tokens, whole, sentences, _sections(text, lines), ranks, lines)


def _sections(text: str, lines: Sequence[Line]) -> list[Span]:
    """Return the headings of sections.

    A heading inside a table names some of its rows; one that recurs often is a running head.
    """
    visible = [line for line in lines if line.kind is not Kind.BLANK]
    spans = [
        (line.start, line.end)
        for previous, line, following in zip(
            [None, *visible], visible, [*visible[1:], None], strict=False
        )
        if line.kind is Kind.HEADING
        and _names_section(text[line.start : line.end])
        and not (_is_row(following) and (_is_row(previous) or text.count(" ", *line[:2]) < 3))
    ]
    often = Counter(text[start:end] for start, end in spans)
    return [(start, end) for start, end in spans if often[text[start:end]] <= _MAX_SECTIONS]


def _is_row(line: Line | None) -> bool:
    return line is not None and line.kind is Kind.ROW


def _names_section(heading: str) -> bool:
    """Tell whether a heading is words: "(in millions)" and a row of dates name no section."""
    letters = sum(c.isalpha() for c in heading)
    digits = sum(c.isdigit() for c in heading)
    return letters > 2 * digits and not _UNIT.match(heading)


def _ranks(text: str, lines: Sequence[Line], sentences: Sequence[Span]) -> tuple[Breaks, ...]:
    titles = {line.end for line in lines if line.kind is Kind.HEADING}
    starts = [
        line.start
        for before, line in pairwise(lines)
        if line.kind is Kind.HEADING and before.kind is not Kind.HEADING
    ]
    paragraphs = sorted({*starts, *(m.start() for m in _BLANK_LINE.finditer(text))} - titles)
    ends = [end for _, end in sentences if end not in titles]
    newlines, clauses, words = inner_breaks(text, 0, len(text))
    return Breaks(paragraphs, 0.5), Breaks(ends, 0.25), newlines, clauses, words
