"""Pages of a document: where the text of each lies, and which of them a span overlaps."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """One page and where its text lies in the document's derived text.

    Attributes:
        number: physical page, from 1; ``None`` in a Document without pages.
        label: the printed label ("iv", "A-3"); the number's digits where none is printed.
        start, end: span of the page in the derived text, in characters.
        raw: text of the page as the reader gave it, sanitised only; quotes are checked against it.
    """

    number: int | None
    label: str
    start: int
    end: int
    raw: str


def pages_of(pages: Sequence[Page], start: int, end: int) -> list[Page]:
    """Return the pages, in order, that share a character with a span."""
    first = bisect_right(pages, start, key=lambda page: page.end)
    last = bisect_left(pages, end, key=lambda page: page.start)
    return [page for page in pages[first:last] if page.start < page.end]
