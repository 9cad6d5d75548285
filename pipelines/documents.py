"""PDF file → Document: the whole text, its page map, its content hash."""

from __future__ import annotations

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
