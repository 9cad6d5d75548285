"""What an answer may show of a passage: sentences, and rows with what names their columns.

Running heads and feet, headings, captions and lines of the contents are no answer by
themselves: they are the context of what is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pipelines.lines import Kind, Line, classify, ends_sentence
from pipelines.splitting import Span
from rag_app.answer.evidence import Evidence, margin_line
from rag_app.passages import Passage, Sentence

UnitKind = Literal["sentence", "row", "heading", "margin", "contents"]

_CAPTION = re.compile(
    r"(?:table|figure|fig\.|chart|exhibit|schedule)\s+[\dA-Z]|(?:別表|表|図)\s*[\d０-９一二三四五]",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"§\s*[\d.]+|第\s*[\d０-９一二三四五六七八九十百]+\s*[章節条編]|(?:chapter|section|part|item|note|appendix)"
    r"\s+[\dA-Z]|\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+[^\W\d_]",
    re.IGNORECASE,
)
# "2. Rent. The tenant pays …": the heading of a clause, on the line of its text.
_RUN_IN_HEADING = re.compile(
    r"(?:§\s*)?\d{1,2}(?:\.\d{1,2}){0,3}[.)]?\s+[A-Z][^\W\d_]*(?:[ -][^\W\d_]+){0,4}\."
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|may|must|shall|will|can|do|does|not|no)\b", re.IGNORECASE
)
_LEADERS = re.compile(r"(?:\.\s?){5,}|[…‥・]{2,}")
_WIDE_GAP = re.compile(r"\S {2,}\S|\t")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DIGIT = re.compile(r"\d")
# What sums up the columns below: years, units, periods.
_COLUMN_HEAD = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?!\d)|\b(?:ended|months|year|fiscal|quarter|in (?:millions|thousands"
    r"|billions)|millions?|thousands?|billions?|except)\b|[$€£¥]|%|単位|円",
    re.IGNORECASE,
)
_MAX_ROW_CHARACTERS = 160
_MAX_HEAD_LINES = 4
_MAX_BETWEEN_ROWS = 2


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that an answer may show.

    Attributes:
        sentence: its place and text: a sentence, or one row of a table.
        kind: what it is; only sentences and rows answer by themselves.
        heads: the heading of its table and the heads of its columns, in the passage's text.
        section: the heading that it stands under (``""`` when unknown).
    """

    sentence: Sentence
    kind: UnitKind
    heads: tuple[Span, ...] = ()
    section: str = ""

    def whole(self, passage: Passage) -> str:
        """Return the text with the heads of its table before it."""
        return "\n".join([*(passage.text[slice(*head)] for head in self.heads), self.sentence.text])


@dataclass(frozen=True, slots=True)
class _TableLines:
    """Lines of a table: where they begin and end, and which of them name the rest."""

    first: int
    last: int
    heads: tuple[int, ...]


def units_of(
    passages: Sequence[Passage], sentences: Sequence[Sentence], evidence: Evidence
) -> list[Unit]:
    """Return what an answer may show of passages, in reading order."""
    found: list[Unit] = []
    for index, passage in enumerate(passages):
        own = [sentence for sentence in sentences if sentence.passage == index]
        found += _units(index, passage, own, evidence.margins(passage))
    return found


def _units(
    index: int, passage: Passage, sentences: Sequence[Sentence], margins: frozenset[str]
) -> Iterator[Unit]:
    lines = [line for line in _lines(passage.text) if line.kind is not Kind.BLANK]
    text = passage.text
    running = {line.start for line in lines if margin_line(text[line.start : line.end]) in margins}
    lines = [line for line in lines if line.start not in running]
    tables = list(_tables(text, lines))
    in_table = {at: table for table in tables for at in range(table.first, table.last + 1)}
    spans: list[tuple[int, int, UnitKind, tuple[Span, ...]]] = []
    for at, table in in_table.items():
        line = lines[at]
        heads = tuple((lines[n].start, lines[n].end) for n in table.heads)
        kind: UnitKind = "heading" if at in table.heads else "row"
        spans.append((line.start, line.end, kind, heads if kind == "row" else ()))
    taken = [(lines[t.first].start, lines[t.last].end) for t in tables]
    for sentence in sentences:
        for start, end in _outside(text, (sentence.start, sentence.end), taken):
            spans.append((start, end, _kind(text[start:end], start, lines, margins), ()))
    section = passage.heading
    for position, (start, end, kind, heads) in enumerate(_with_their_headings(text, spans)):
        if kind == "heading" and not _CAPTION.match(text[start:end]) and not heads:
            section = text[start:end]
        sentence = Sentence(index, position, start, end, text[start:end])
        yield Unit(sentence, kind, heads, section)


def _with_their_headings(
    text: str, spans: Sequence[tuple[int, int, UnitKind, tuple[Span, ...]]]
) -> Iterator[tuple[int, int, UnitKind, tuple[Span, ...]]]:
    """Yield spans in order; the heading of a clause with the sentence that it begins."""
    heading: Span | None = None
    for start, end, kind, heads in sorted(spans):
        begins = start
        if heading is not None and kind == "sentence" and not text[heading[1] : start].strip():
            begins = heading[0]
        elif heading is not None:
            yield *heading, "heading", ()
        heading = None
        if kind == "sentence" and begins == start and _is_run_in_heading(text[start:end]):
            heading = (start, end)
        else:
            yield begins, end, kind, heads
    if heading is not None:
        yield *heading, "heading", ()


def _is_run_in_heading(text: str) -> bool:
    return _RUN_IN_HEADING.fullmatch(text) is not None and _VERB.search(text) is None


@lru_cache(maxsize=64)
def _lines(text: str) -> tuple[Line, ...]:
    return tuple(classify(text))


def _outside(text: str, span: Span, taken: Sequence[Span]) -> Iterator[Span]:
    """Yield what of a span lies in no table, without white space at its ends."""
    at, end = span
    for first, last in taken:
        if last <= at or first >= end:
            continue
        if first > at:
            yield from _trimmed(text, at, first)
        at = max(at, last)
    if at < end:
        yield from _trimmed(text, at, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    part = text[start:end]
    first = start + len(part) - len(part.lstrip())
    last = start + len(part.rstrip())
    if first < last:
        yield first, last


def _kind(text: str, start: int, lines: Sequence[Line], margins: frozenset[str]) -> UnitKind:
    if margin_line(text) in margins:
        return "margin"
    if _LEADERS.search(text):
        return "contents"
    line = next((line for line in lines if line.start <= start < line.end), None)
    if line is None:
        return "margin"
    if ends_sentence(text) and not text.endswith((":", "：")):
        return "sentence"
    numbered = _SECTION.match(text) and not line.full
    if (line.kind is Kind.HEADING or numbered) and not _says_something(text):
        return "heading"
    if line.kind is Kind.ROW:
        return "row"
    letters = sum(char.isalpha() for char in text)
    return "sentence" if letters >= 2 else "heading"


def _says_something(text: str) -> bool:
    """Tell whether a line that looks like a heading holds a figure beside its own number."""
    rest = _SECTION.sub("", text, count=1) if _SECTION.match(text) else text
    rest = _CAPTION.sub("", rest, count=1) if _CAPTION.match(rest) else rest
    return _DIGIT.search(_YEAR.sub("", rest)) is not None or "：" in text


def _tables(text: str, lines: Sequence[Line]) -> Iterator[_TableLines]:
    at = 0
    while at < len(lines):
        words = text[lines[at].start : lines[at].end]
        if _CAPTION.match(words) and not ends_sentence(words):
            last = _end_of_captioned(text, lines, at + 1)
            if last > at + 1:
                heads = [at, *_column_heads(text, lines, at + 1, last)]
                yield _TableLines(at, last, tuple(heads))
                at = last + 1
                continue
        if _is_row(text, lines[at]):
            last = _end_of_rows(text, lines, at)
            if last > at:
                first = _first_head(text, lines, at)
                yield _TableLines(first, last, tuple(range(first, at)))
                at = last + 1
                continue
        at += 1


def _is_row(text: str, line: Line) -> bool:
    words = text[line.start : line.end]
    if _LEADERS.search(words):
        return False
    return line.kind is Kind.ROW or (
        _WIDE_GAP.search(words) is not None and not ends_sentence(words)
    )


def _end_of_captioned(text: str, lines: Sequence[Line], first: int) -> int:
    """Return the last line of a table that begins with its caption."""
    last = first - 1
    for at in range(first, len(lines)):
        words = text[lines[at].start : lines[at].end]
        new = _SECTION.match(words) or _CAPTION.match(words)
        gap = text.count("\n", lines[at - 1].end, lines[at].start) > 1
        if gap or new or (ends_sentence(words) and len(words.split()) > 5):
            break
        if lines[at].kind is Kind.PROSE and lines[at].full and len(words) > 80:
            break
        last = at
    while (
        last >= first
        and lines[last].kind is Kind.HEADING
        and not _DIGIT.search(text[lines[last].start : lines[last].end])
    ):
        last -= 1
    return last


def _end_of_rows(text: str, lines: Sequence[Line], first: int) -> int:
    last, apart = first, 0
    for at in range(first + 1, len(lines)):
        if _is_row(text, lines[at]):
            last, apart = at, 0
            continue
        words = text[lines[at].start : lines[at].end]
        apart += 1
        long = len(words) > _MAX_ROW_CHARACTERS or ends_sentence(words)
        if apart > _MAX_BETWEEN_ROWS or long or _SECTION.match(words):
            break
    return last


def _column_heads(text: str, lines: Sequence[Line], first: int, last: int) -> Iterator[int]:
    """Yield the lines below a caption that name the columns: the first, and further ones."""
    for at in range(first, min(first + _MAX_HEAD_LINES, last)):
        words = text[lines[at].start : lines[at].end]
        plain = _YEAR.sub("", words)
        if _DIGIT.search(plain) or lines[at].kind is Kind.PROSE:
            return
        yield at
        if at > first and not _COLUMN_HEAD.search(words):
            return
        following = text[lines[at + 1].start : lines[at + 1].end]
        if not _COLUMN_HEAD.search(following) or lines[at + 1].kind is Kind.ROW:
            return


def _first_head(text: str, lines: Sequence[Line], row: int) -> int:
    """Return the first of the lines above a row that name its table and its columns."""
    first = row
    for at in range(row - 1, max(-1, row - 1 - _MAX_HEAD_LINES), -1):
        words = text[lines[at].start : lines[at].end]
        long = len(words) > 100 or (ends_sentence(words) and not words.endswith((":", "：")))
        if long or lines[at].kind is Kind.ITEM:
            break
        if lines[at].kind is Kind.HEADING or _COLUMN_HEAD.search(words) or _is_row(text, lines[at]):
            first = at
            if lines[at].kind is Kind.HEADING and not _COLUMN_HEAD.search(words):
                break  # the heading of the table
            continue
        break
    return first
