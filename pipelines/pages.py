"""Pages → one text in which a sentence over a page break is one sentence, and its page map."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pipelines.lines import columns, ends_sentence
from pipelines.readers import PageText
from pipelines.scripts import script_of

# How many lines at an edge of a page may be running heads or feet.
_DEEPEST = 3
# How far the pages lie whose edges are compared, and how many of them must agree.
_AROUND = 8
_AGREE = 0.4
_DIGITS = re.compile(r"\d+")
_NUMBER_LINE = re.compile(
    r"[\s\-–—|•·.]*(?:page|p\.|seite|頁|ページ)?\s*"
    r"(?P<label>\d{1,4}|[ivxlcdm]{1,7}|[A-Z]{1,2}-?\d{1,3})"
    r"\s*(?:(?:/|of|von|／)\s*\d{1,4}|頁|ページ)?[\s\-–—|•·.]*",
    re.IGNORECASE,
)
_CJK_EDGE = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff、，「『（]")
_NEW_START = re.compile(r"[•‣▪●○■□◆◇・①-⑳]|[(（]?\d{1,2}[.)）．]|第\s*\d+\s*[章節条]|【")


def join_pages(pages: Sequence[PageText]) -> tuple[str, list[tuple[int, int]]]:
    """Return the derived text of the pages, and the span of each page in it."""
    bodies = ["\n".join(lines) for lines in without_margins(pages)]
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    before = ""
    for body in bodies:
        if body and before:
            seam = _seam(before, body)
            parts.append(seam)
            length += len(seam)
        spans.append((length, length + len(body)))
        parts.append(body)
        length += len(body)
        before = body or before
    return "".join(parts), spans


def _seam(before: str, after: str) -> str:
    """Return what stands between two pages: nothing inside a CJK sentence, else white space."""
    last = before.rsplit("\n", 1)[-1]
    first = after.split("\n", 1)[0]
    if ends_sentence(last) and last[-1] not in ":：":
        return "\n\n"
    if (
        _CJK_EDGE.match(last[-1])
        and _CJK_EDGE.match(first[0])
        and not _NEW_START.match(first)
        and _is_full(last, before)
    ):
        return ""
    return "\n"


def _is_full(last: str, page: str) -> bool:
    """Tell whether the last line of a page is as wide as its lines are, so that it runs on."""
    if script_of(last[-1]) != "cjk" or re.search("[、，はがをにのとでもへ]$", last):
        return True
    widest = max(columns(line) for line in page.split("\n"))
    return columns(last) >= 0.75 * widest


def without_margins(pages: Sequence[PageText]) -> list[list[str]]:
    """Return the lines of each page without page numbers and running heads and feet."""
    lines = [[line.rstrip() for line in page.text.split("\n")] for page in pages]
    bodies = [_trimmed(page) for page in lines]
    for edge in (0, -1):
        _drop_edge(bodies, pages, edge)
    return [_trimmed(body) for body in bodies]


def _trimmed(lines: list[str]) -> list[str]:
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return lines[start:end]


def _drop_edge(bodies: list[list[str]], pages: Sequence[PageText], edge: int) -> None:
    """Take marginal lines away at the top (0) or the bottom (-1), outermost first."""
    open_pages = set(range(len(bodies)))
    for _ in range(_DEEPEST):
        folded = [_folded(body[edge]) if body else "" for body in bodies]
        offsets = [_number_offset(bodies, pages, index, edge) for index in range(len(bodies))]
        dropped = {
            index
            for index in open_pages
            if bodies[index]
            and (_repeats(folded, index) or _is_page_number(offsets, pages, bodies, index, edge))
        }
        for index in dropped:
            del bodies[index][edge]
            bodies[index][:] = _trimmed(bodies[index])
        open_pages = dropped


def _folded(line: str) -> str:
    return " ".join(_DIGITS.sub("#", line).split()).casefold()


def _repeats(folded: Sequence[str], index: int) -> bool:
    """Tell whether most pages around have the same line at this edge (or every other page)."""
    line = folded[index]
    if not any(c.isalpha() for c in line):
        return False
    around = folded[max(0, index - _AROUND) : index + _AROUND + 1]
    same = Counter(around)[line]
    return same >= 3 and same >= _AGREE * len(around)


def _number_offset(
    bodies: Sequence[list[str]], pages: Sequence[PageText], index: int, edge: int
) -> int | None:
    """Return by how much a bare number differs from the physical page number."""
    if not bodies[index]:
        return None
    match = _NUMBER_LINE.fullmatch(bodies[index][edge])
    if match is None or not match["label"].isdigit():
        return None
    return int(match["label"]) - (index + 1)


def _is_page_number(
    offsets: Sequence[int | None],
    pages: Sequence[PageText],
    bodies: Sequence[list[str]],
    index: int,
    edge: int,
) -> bool:
    """Tell whether a line is a page number: the page's label, or in step with its neighbours."""
    match = _NUMBER_LINE.fullmatch(bodies[index][edge])
    if match is None:
        return False
    if match["label"].casefold() == pages[index].label.casefold():
        return True
    around = offsets[max(0, index - 2) : index] + offsets[index + 1 : index + 3]
    return offsets[index] is not None and offsets[index] in around
