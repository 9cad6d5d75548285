"""What stands on a page and is not its text: page numbers, running heads and feet."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    r"[\s\-–—|•·.]*(?:page|p\.|seite|頁|ページ)?\s*"
    r"(?P<label>\d{1,4}|[ivxlcdm]{1,7}|[A-Z]{1,2}[-–]?\d{1,3})"
    r"\s*(?:(?:/|of|von|／)\s*\d{1,4}|頁|ページ)?[\s\-–—|•·.]*",
    re.IGNORECASE,
)

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
    """Take marginal lines away, outermost first; return for each page the repeated ones."""
    running: list[set[str]] = [set() for _ in bodies]
    candidates = range(len(bodies))
    for _ in range(_DEEPEST):
        folded = [_folded(body[edge]) if body else "" for body in bodies]
        numbers = [_page_number(body[edge]) if body else "" for body in bodies]
        repeated = {i for i in candidates if len(bodies[i]) > 1 and _repeats(folded, i)}
        numbered = {i for i in candidates if bodies[i] and _is_number(numbers, labels, i)}
        candidates = sorted(repeated | numbered)  # type: ignore[assignment]
        for i in candidates:
            if i in repeated:
                running[i].add(folded[i])
            del bodies[i][edge]
            bodies[i] = _trimmed(bodies[i])
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
    if not any(c.isalpha() for c in line):
        return False
    around = folded[max(0, index - _AROUND) : index + _AROUND + 1]
    same = around.count(line)
    return same >= _LEAST and same >= _SHARE * len(around)


def _page_number(line: str) -> str:
    match = _PAGE_NUMBER.fullmatch(line)
    return match["label"].casefold().replace("–", "-") if match else ""


def _is_number(numbers: Sequence[str], labels: Sequence[str], index: int) -> bool:
    """Tell whether a line is the page's number: its label, or in step with its neighbours."""
    number = numbers[index]
    if not number:
        return False
    if number == labels[index].casefold():
        return True
    near = range(max(0, index - 2), min(len(numbers), index + 3))
    return any(_step(number, numbers[i]) == i - index for i in near if i != index)


def _step(number: str, other: str) -> int | None:
    """Return by how much two page numbers of one series differ ("A-3", "A-5": 2)."""
    match, after = (re.fullmatch(r"(\D*)(\d+)", text) for text in (number, other))
    if match and after and match[1] == after[1]:
        return int(after[2]) - int(match[2])
    if number in _ROMAN and other in _ROMAN:
        return _ROMAN.index(other) - _ROMAN.index(number)
    return None
