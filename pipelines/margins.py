"""What stands on every page: page numbers, running heads and feet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipelines.lines import ends_open, ends_sentence

# How many lines from an edge may be marginal, and how deep one may lie under a footnote.
_MAX_MARGIN_LINES = 3
_MAX_FOOTNOTE_LINES = 6
# How far away the pages are that are compared, and how many and which share of them must
# agree: heads of left and right pages alternate, so half of them need not.
_MAX_DISTANCE_PAGES = 8
_MIN_PAGES = 3
_MIN_PAGES_SHARE = 0.4
_MIN_PAGES_IN_STEP = 3
# Fewer letters are a footnote's mark or a cell, however often they stand at an edge.
_MIN_LETTERS = 3
# A line of so many words that ends in a full stop is a sentence; "Acme Inc." is not.
_MIN_SENTENCE_WORDS = 5
_MAX_WORDS = 16

_DASHES = r"[\s\-–—－|•·.]*"
_LABEL = r"\d{1,4}|[ivxlcdm]{1,7}|[A-Z]{1,2}[-–]?\d{1,3}"
_PAGE = r"(?:page|p\.|seite|頁|ページ)?\s*"
_BARE = re.compile(
    rf"{_DASHES}+{_PAGE}(?P<label>{_LABEL})"
    rf"(?:\s*+(?:(?:/|of|von|／)\s*\d{{1,4}}|頁|ページ))?{_DASHES}+",
    re.IGNORECASE,
)
_FIRST = re.compile(r"[\-–—|\s]*(?:page\s+)?(?P<label>\d{1,4}|[A-Z]-\d{1,3})(?=[\s|\-–—])", re.I)
_LAST = re.compile(r"(?<=[\s|\-–—])(?:page\s+)?(?P<label>\d{1,4}|[A-Z]-\d{1,3})[\-–—|\s]*$", re.I)
# What is counted by a heading, and not by the page: "Chapter 3" on page 3.
_SERIES = re.compile(r"(\D*)(\d+)")
_COUNTED = re.compile(
    r"\b(?:chapter|section|part|article|table|figure|appendix|annex|note|item|step|question|case"
    r"|exercise|lesson|example|day|week)\W*$",
    re.IGNORECASE,
)
_ROMAN = [
    *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv"),
    *("xv", "xvi", "xvii", "xviii", "xix", "xx", "xxi", "xxii", "xxiii", "xxiv", "xxv", "xxvi"),
]


class _Edge(NamedTuple):
    """The outermost line of a page, read as a possible margin.

    ``heads``: pairs of the number that it begins or ends with ("" for none)
    and the rest of the line; ``bare``: the number of a line that is only a number.
    """

    bare: str
    heads: tuple[tuple[str, str], ...]


@dataclass
class PageLines:
    """The lines of one page.

    Attributes:
        body: its text.
        head: running heads above it, in reading order.
        foot: running feet below it, in reading order.
    """

    body: list[str]
    head: list[str] = field(default_factory=list)
    foot: list[str] = field(default_factory=list)

    def take(self, index: int, edge: int, *, keep: bool) -> None:
        """Take one line out of the body; keep it as a head (``edge`` 0) or a foot (-1)."""
        line = self.body.pop(index)
        if keep and edge == 0:
            self.head.append(line)
        elif keep:
            self.foot.insert(0, line)
        self.body = _trimmed(self.body)


def split_margins(pages: Sequence[str], labels: Sequence[str]) -> list[PageLines]:
    """Return the lines of each page, running heads and feet apart; page numbers are left out.

    A line is marginal when it is a bare page number (the page's label, or in
    step with a page beside it), when enough pages around have the same line at
    the same edge, or the same but for a number that counts the pages. A page
    that has nothing else keeps its head as its text.
    """
    bodies = [PageLines(_trimmed([line.rstrip() for line in page.split("\n")])) for page in pages]
    for edge in (0, -1):
        running = _peel(bodies, labels, edge)
        _take_running(bodies, running, edge)
    return bodies


def _trimmed(lines: list[str]) -> list[str]:
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return lines[start:end]


def _peel(pages: list[PageLines], labels: Sequence[str], edge: int) -> list[set[str]]:
    """Take marginal lines away, outermost first; return for each page the running ones."""
    running: list[set[str]] = [set() for _ in pages]
    candidates = list(range(len(pages)))
    for _ in range(_MAX_MARGIN_LINES):
        edges = [_read_edge(page.body[edge] if page.body else "") for page in pages]
        heads: list[int] = []
        numbers: list[int] = []
        for i in candidates:
            head = next((rest for n, rest in edges[i].heads if _is_head(edges, i, n, rest)), None)
            if head is not None and len(pages[i].body) > 1:
                running[i].add(head)
                heads.append(i)
            elif edges[i].bare and _is_page_number(edges, labels, i):
                numbers.append(i)
        for i in heads:
            pages[i].take(edge, edge, keep=True)
        for i in numbers:
            pages[i].take(edge, edge, keep=False)
        candidates = sorted(heads + numbers)
    return running


def _take_running(pages: list[PageLines], running: Sequence[set[str]], edge: int) -> None:
    """Take a running line away that lies a little deeper, under a footnote for example."""
    for i, page in enumerate(pages):
        known = (
            set().union(*running[max(0, i - _MAX_DISTANCE_PAGES) : i + _MAX_DISTANCE_PAGES + 1])
            - running[i]
        )
        size = len(page.body)
        reach = range(min(_MAX_FOOTNOTE_LINES, size)) if known else range(0)
        places = reach if edge == 0 else [size - 1 - k for k in reach]
        taken = {k for k in places if any(rest in known for _, rest in _heads(page.body[k]))}
        if not taken or len(taken) == size:
            continue
        lines = [page.body[k] for k in sorted(taken)]
        page.body = _trimmed([line for k, line in enumerate(page.body) if k not in taken])
        if edge == 0:
            page.head.extend(lines)
        else:
            page.foot[:0] = lines


def _read_edge(line: str) -> _Edge:
    bare = _BARE.fullmatch(line)
    return _Edge(_label(bare) if bare else "", _heads(line))


def _heads(line: str) -> tuple[tuple[str, str], ...]:
    line = line.strip()
    if not _may_run(line):
        return ()
    heads = [("", " ".join(line.casefold().split()))]
    for match in (_FIRST.match(line), _LAST.search(line)):
        if match:
            rest = f"{line[: match.start()]} # {line[match.end() :]}"
            if len(rest.split()) > 2 and not _COUNTED.search(line[: match.start("label")]):
                heads.append((_label(match), " ".join(rest.casefold().split())))
    return tuple(heads)


def _label(match: re.Match[str]) -> str:
    return match["label"].casefold().replace("–", "-")


def _may_run(line: str) -> bool:
    """Tell whether a line may be a running head: some letters, and not a part of a sentence."""
    line = line.rstrip(" -–—－|•·")
    words = len(line.split())
    if words > _MAX_WORDS or sum(map(str.isalpha, line)) < _MIN_LETTERS:
        return False
    is_sentence = words >= _MIN_SENTENCE_WORDS and ends_sentence(line)
    return not is_sentence and not ends_open(line)


def _is_head(edges: Sequence[_Edge], index: int, number: str, rest: str) -> bool:
    """Tell whether enough pages around have the same line, or the same in step."""
    first = max(0, index - _MAX_DISTANCE_PAGES)
    around = edges[first : index + _MAX_DISTANCE_PAGES + 1]
    if not number:
        same = sum((number, rest) in edge.heads for edge in around)
        return same >= _MIN_PAGES and same >= _MIN_PAGES_SHARE * len(around)
    same = sum(
        any(other == rest and _step(number, n) == i - index for n, other in edge.heads)
        for i, edge in enumerate(around, start=first)
    )
    return same >= _MIN_PAGES_IN_STEP


def _is_page_number(edges: Sequence[_Edge], labels: Sequence[str], index: int) -> bool:
    """Tell whether a bare number is the page's label, or in step with a page beside it."""
    number = edges[index].bare
    if number == labels[index].casefold():
        return True
    near = range(max(0, index - 2), min(len(edges), index + 3))
    return any(_step(number, edges[i].bare) == i - index for i in near if i != index)


def _step(number: str, other: str) -> int | None:
    """Return by how much two page numbers of one series differ ("A-3", "A-5": 2)."""
    match, after = (_SERIES.fullmatch(text) for text in (number, other))
    if match and after and match[1] == after[1]:
        return int(after[2]) - int(match[2])
    if number in _ROMAN and other in _ROMAN:
        return _ROMAN.index(other) - _ROMAN.index(number)
    return None
