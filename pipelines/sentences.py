"""Where the sentences of a text lie, in English, Japanese and languages written like them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, repeat
from typing import TYPE_CHECKING

from pipelines.abbreviations import ALWAYS, BEFORE_NUMBER, MAYBE_LAST, STARTERS
from pipelines.lines import Kind, Line, classify, ends_open, ends_sentence
from pipelines.splitting import Breaks, Span, tile, trim
from pipelines.tokens import TokenOffsets

if TYPE_CHECKING:
    from pipelines.sentence_table import SentenceTable

MAX_SENTENCE_TOKENS = 128

_CLOSERS = "\"'”’)\\]»」』）】〉》"
# A run of marks is looked at once, from its first mark, so that leaders of dots stay linear.
_END = re.compile(
    rf"(?<![.!?…])[.!?…]++[{_CLOSERS}]*+(?=\s)|(?<![؟۔।॥])[؟۔।॥]++[{_CLOSERS}]*+(?=\s)"
    rf"|[。！？｡]++[{_CLOSERS}]*+"
    rf"|．[{_CLOSERS}]*+(?![0-9０-９])"
    rf"|(?<![!?])[!?]++[{_CLOSERS}]*+(?=[\u3040-\u30ff\u3400-\u9fff])"
)
_CLAUSE = re.compile(r"(?<=[;；:：])\s|(?<=[,])\s|(?<=[、，；：])|(?<=\s[–—-])\s|(?<=[)）])\s")
# A capital letter, an identifier, kana or han.
_STARTS_ANEW = re.compile(r"[^\W\d_a-z]|[^\W\d]\w*[_(\d]|[\u3041-\u30fa\u3400-\u9fff]")
_VISIBLE = re.compile(r"[^\W_]")
_NEWLINE = re.compile(r"\n")
_SPACE = re.compile(r"\s+")
_LAST_WORD = re.compile(r"(\S+)$")
_DOTTED = re.compile(r"[^\W\d_]{1,3}(?:\.[^\W\d_]{1,3})+")
_FIRST_WORD = re.compile(r"[^\s,;:.]*")
# “Item 1A. Risk Factors”: a number inside a quotation that has only begun.
_QUOTED_NUMBER = re.compile(r"[“\"](?:[^\W\d_]+\s)?\d+[A-Za-z]?$")
_OPENING = "\"'“‘([«「『（【〈《"
# A quotation that goes on after its closing mark: 「はい。」と言った。
_GOES_ON = re.compile(r"[」』）】〉》”\")]+(?:と|って|という|など|の|を|が|は|に|で|も|、|，)")
_CJK_OPEN, _CJK_CLOSE = "「『（【〈《", "」』）】〉》"
_MAX_QUOTE_CHARS = 160
_MAX_ABBREVIATION_CHARS = 64


def sentence_spans(
    text: str,
    *,
    max_tokens: int | None = MAX_SENTENCE_TOKENS,
    table: SentenceTable | None = None,
) -> list[Span]:
    """Return the spans of the sentences, sorted and disjoint; they cover all visible text.

    Headings, table rows and list items are sentences of their own. A sentence
    of more than ``max_tokens`` tokens is cut at line ends, then at clauses,
    then between words; None: it stays as it is.

    Args:
        text: what is cut.
        max_tokens: of one sentence.
        table: the sentences that begin within the text, where they are known: they are
            not looked for again.
    """
    if table is None:
        spans = whole_sentences(text, classify(text))
    else:
        spans = _parts(text, table.starts.tolist())
    if max_tokens is None:
        return spans
    bounds = None if table is None else table.token_bounds(spans)
    return bounded(text, spans, TokenOffsets(text), max_tokens, bounds)


def whole_sentences(text: str, lines: Sequence[Line]) -> list[Span]:
    """Return the spans of the sentences of a text whose lines are known, however long."""
    spans: list[Span] = []
    for kind, block in _blocks(text, lines):
        spans.extend([block] if kind in (Kind.HEADING, Kind.ROW) else _split(text, *block))
    return spans


def bounded(
    text: str,
    spans: Sequence[Span],
    tokens: TokenOffsets,
    max_tokens: int,
    bounds: Sequence[int] | None = None,
) -> list[Span]:
    """Return spans of at most ``max_tokens`` tokens: longer ones are cut.

    ``bounds`` are upper bounds of the tokens of each span, where they are known.
    """
    found: list[Span] = []
    few = max_tokens - 8
    for (start, end), known in zip(spans, bounds or repeat(few), strict=False):
        if known < few or tokens.fewer(start, end, few):
            found.append((start, end))
        else:
            ranks = inner_breaks(text, start, end)
            found.extend(tile(text, (start, end), max_tokens, ranks, tokens))
    return found


def _parts(text: str, starts: Sequence[int]) -> list[Span]:
    """Return what lies between places of a text, without white space at its ends."""
    inside = (start for start in starts if 0 < start < len(text))
    spans = (trim(text, *pair) for pair in pairwise([0, *inside, len(text)]))
    return [(start, end) for start, end in spans if start < end]


def inner_breaks(text: str, start: int, end: int) -> tuple[Breaks, Breaks, Breaks]:
    """Return the line ends, clause ends and word ends inside a span."""
    newlines = [m.start() for m in _NEWLINE.finditer(text, start, end)]
    clauses = [m.end() for m in _CLAUSE.finditer(text, start, end)]
    words = [m.start() for m in _SPACE.finditer(text, start, end)]
    return Breaks(newlines, 0.5), Breaks(clauses, 0.4), Breaks(words, 0.0)


def _blocks(text: str, lines: Sequence[Line]) -> Iterator[tuple[Kind, Span]]:
    """Yield runs of lines that belong together, with the kind of the first one."""
    first: Line | None = None
    last: Line | None = None
    gap = False
    for line in lines:
        if line.kind is Kind.BLANK:
            gap = True
            continue
        if first and last and (gap or _parted(text, last, line)):
            yield first.kind, (first.start, last.end)
            first = None
        first = first or line
        last = line
        gap = False
    if first and last:
        yield first.kind, (first.start, last.end)


def _parted(text: str, previous: Line, line: Line) -> bool:
    if line.kind is not Kind.PROSE or previous.kind in (Kind.HEADING, Kind.ROW):
        return not (line.kind is previous.kind is Kind.HEADING and _wrapped(text, previous, line))
    # A short line that ends by choice, and a new one that starts like a sentence.
    before = text[previous.start : previous.end]
    return (
        not previous.full
        and not ends_open(before)
        and not ends_sentence(before)
        and _STARTS_ANEW.match(text, line.start, line.end) is not None
    )


def _wrapped(text: str, previous: Line, line: Line) -> bool:
    """Tell whether a heading goes on in the next line."""
    return ends_open(text[previous.start : previous.end]) or text[line.start].islower()


def _split(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of one block; one without a letter or digit stays with its neighbour."""
    last = end
    while last > start and not text[last - 1].isalnum():
        last -= 1
    at = looked = start
    for match in _END.finditer(text, start, last):
        if match.end() <= at or not _is_end(text, match, at, end):
            continue
        visible = _VISIBLE.search(text, looked, match.end())
        looked = match.end()
        if visible:
            yield trim(text, at, match.end())
            at = match.end()
    yield trim(text, at, end)


def _is_end(text: str, match: re.Match[str], start: int, end: int) -> bool:
    if match.end() >= end:
        return True
    mark = match.group()
    if mark[0] in "。！？｡．":
        return not _inside_quotation(text, start, match, end)
    following = text[match.end() : min(end, match.end() + 64)].lstrip()
    first = following.lstrip(_OPENING)[:1]
    if first.islower():
        return False
    if mark[0] != "." or (len(mark) > 1 and mark[1] == "."):
        return True
    before = text[max(start, match.start() - _MAX_ABBREVIATION_CHARS) : match.start()]
    return not _abbreviates(before, mark, following)


def _abbreviates(before: str, mark: str, following: str) -> bool:
    """Tell whether a full stop belongs to an abbreviation, a title or an enumeration."""
    match = _LAST_WORD.search(before)
    if match is None:
        return False
    word = match.group().lstrip(_OPENING + "§$").replace("’", "'")
    lower = word.lower()
    if len(mark) > 1 or lower in ALWAYS:
        # "(… Inc.)": a closing mark follows, and so the sentence may end.
        return len(mark) == 1
    if len(before.strip()) == len(match.group()) and (word.isdigit() or len(word) == 1):
        return True
    if _QUOTED_NUMBER.search(before):
        return True
    if lower in BEFORE_NUMBER:
        return following[:1].isdigit() or following[:1] in ("(", "[")
    if lower in MAYBE_LAST or (len(word) == 1 and word.isupper()) or _DOTTED.fullmatch(word):
        return not _opens_sentence(following)
    return False


def _opens_sentence(following: str) -> bool:
    first = _FIRST_WORD.match(following.lstrip(_OPENING))
    return first is not None and first.group() in STARTERS


def _inside_quotation(text: str, start: int, match: re.Match[str], end: int) -> bool:
    mark = match.end() - 1
    if text[mark] in _CJK_CLOSE + '”")' and _GOES_ON.match(text, mark, end):
        return True
    sofar = text[max(start, match.start() - _MAX_QUOTE_CHARS) : match.end()]
    if text[mark] == "）" and sofar.rfind("（") > 0 and match.end() < end:
        return True
    depth = sum(sofar.count(c) for c in _CJK_OPEN) - sum(sofar.count(c) for c in _CJK_CLOSE)
    if depth <= 0:
        return False
    ahead = text[match.end() : min(end, match.end() + _MAX_QUOTE_CHARS)]
    return any(c in ahead for c in _CJK_CLOSE)
