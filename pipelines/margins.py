"""What stands on a page and is not its text: page numbers, running heads and feet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from pipelines.lines import ends_open, ends_sentence

# How many lines from an edge may be marginal; how many of them may lie under another line.
_DEEPEST = 3
_REACH = 6
# How far away the pages lie that are compared, and which share of them must agree: heads of
# left and right pages alternate, and so half of them need not.
_AROUND = 8
_SHARE = 0.4
_LEAST = 3

_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"[\s\-–—－|•·.]*(?:page|p\.|seite|頁|ページ)?\s*"
    r"(?P<label>\d{1,4}|[ivxlcdm]{1,7}|[A-Z]{1,2}[-–]?\d{1,3})"
    r"\s*(?:(?:/|of|von|／)\s*\d{1,4}|頁|ページ)?[\s\-–—－|•·.]*",
    re.IGNORECASE,
)
# A running head that carries the number: "7 1.2. Metric spaces", "Annual report | 34".
_FIRST_NUMBER = re.compile(r"(?:page\s*)?(?P<label>\d{1,4}|[A-Z]-?\d{1,3})(?=[\s|])", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"(?<=[\s|])(?P<label>\d{1,4}|[A-Z]-?\d{1,3})$", re.IGNORECASE)
_MOST_WORDS = 14
# Fewer letters are a footnote's mark or a cell, however often they stand at an edge.
_LETTERS = 3
# From so many words a line that ends in a full stop is a sentence, and no "Acme Inc.".
_SENTENCE_WORDS = 5
_ROMAN = [
    *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv"),
    *("xv", "xvi", "xvii", "xviii", "xix", "xx", "xxi", "xxii", "xxiii", "xxiv", "xxv", "xxvi"),
]


def without_margins(pages: Sequence[str], labels: Sequence[str]) -> list[list[str]]:
    """Return the lines of each page without page numbers and running heads and feet.

    A line goes when it is a bare page number (the page's label, or in step
    with the pages beside it), or when most pages around carry the same line,
    digits aside, at the same edge. A page that has nothing else keeps it.
    """
    bodies = [_trimmed([line.rstrip() for line in page.split("\n")]) for page in pages]
    for edge in (0, -1):
        running = _peel(bodies, labels, edge)
        _drop_running(bodies, running, edge)
    return bodies


def _trimmed(lines: list[str]) -> list[str]:
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return lines[start:end]


def _peel(bodies: list[list[str]], labels: Sequence[str], edge: int) -> list[set[str]]:
    """Take marginal lines away, outermost first; return for each page the running ones."""
    running: list[set[str]] = [set() for _ in bodies]
    candidates: Iterable[int] = range(len(bodies))
    for _ in range(_DEEPEST):
        outer = [body[edge].strip() if body else "" for body in bodies]
        folded = [_folded(line) for line in outer]
        bare, first, last = ([_number(rule, line) for line in outer] for rule in _RULES)
        marginal = []
        for i in candidates:
            in_step = _in_step(first, i) >= 2 or _in_step(last, i) >= 2
            heads = _repeats(folded, i) or (in_step and _may_run(folded[i]))
            if heads and len(bodies[i]) > 1:
                running[i].add(folded[i])
            elif not (bare[i] and (bare[i] == labels[i].casefold() or _in_step(bare, i))):
                continue
            marginal.append(i)
        for i in marginal:
            del bodies[i][edge]
            bodies[i] = _trimmed(bodies[i])
        candidates = marginal
    return running


def _drop_running(bodies: list[list[str]], running: Sequence[set[str]], edge: int) -> None:
    """Take a running line away that lies a little deeper, under a footnote for example."""
    for i, body in enumerate(bodies):
        known = set().union(*running[max(0, i - _AROUND) : i + _AROUND + 1]) - running[i]
        if not known:
            continue
        reach = range(min(_REACH, len(body)))
        places = reach if edge == 0 else [len(body) - 1 - k for k in reach]
        dropped = {k for k in places if _folded(body[k]) in known}
        if dropped and len(dropped) < len(body):
            bodies[i] = _trimmed([line for k, line in enumerate(body) if k not in dropped])


def _folded(line: str) -> str:
    return " ".join(_DIGITS.sub("#", line).split()).casefold()


def _repeats(folded: Sequence[str], index: int) -> bool:
    """Tell whether enough pages around have the same line at this edge."""
    line = folded[index]
    if not _may_run(line):
        return False
    around = folded[max(0, index - _AROUND) : index + _AROUND + 1]
    same = around.count(line)
    return same >= _LEAST and same >= _SHARE * len(around)


def _may_run(line: str) -> bool:
    """Tell whether a line may be a running head: some letters, and not a part of a sentence."""
    letters = sum(c.isalpha() for c in line) >= _LETTERS
    whole = ends_sentence(line) and len(line.split()) >= _SENTENCE_WORDS
    return letters and not whole and not ends_open(line)


_RULES = (
    _PAGE_NUMBER.fullmatch,
    lambda line: _FIRST_NUMBER.match(line) if len(line.split()) <= _MOST_WORDS else None,
    lambda line: _LAST_NUMBER.search(line) if len(line.split()) <= _MOST_WORDS else None,
)


def _number(rule: Callable[[str], re.Match[str] | None], line: str) -> str:
    match = rule(line)
    return match["label"].casefold().replace("–", "-") if match else ""


def _in_step(numbers: Sequence[str], index: int) -> int:
    """Return how many pages nearby have the number that counting from this one gives."""
    near = range(max(0, index - 2), min(len(numbers), index + 3))
    return sum(
        _step(numbers[index], numbers[i]) == i - index
        for i in near
        if i != index and numbers[index] and numbers[i]
    )


def _step(number: str, other: str) -> int | None:
    """Return by how much two page numbers of one series differ ("A-3", "A-5": 2)."""
    match, after = (re.fullmatch(r"(\D*)(\d+)", text) for text in (number, other))
    if match and after and match[1] == after[1]:
        return int(after[2]) - int(match[2])
    if number in _ROMAN and other in _ROMAN:
        return _ROMAN.index(other) - _ROMAN.index(number)
    return None
