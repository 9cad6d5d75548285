"""Whether words stand on the page they are said to stand on.

The check is not circular: a quote is cut from the document's derived text and
compared with the raw text that the reader gave for each page.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.page_map import Page
from pipelines.text import normalise
from rag_app.answer.response import Quote
from rag_app.passages import Passage


def quote_of(passage: Passage, start: int, end: int, pages: Sequence[Page]) -> Quote:
    """Return characters ``start`` to ``end`` of a passage's text as a checked quote.

    Args:
        passage: the passage that is quoted.
        start: where the quote starts in the passage's text.
        end: where it ends.
        pages: pages of the passage with their raw text, by place in the document (in
            the passage, when it has no span).
    """
    text = passage.text[start:end]
    offset = passage.start or 0
    first, last = offset + start, offset + end
    on = [page for page in pages if page.start < last and first < page.end]
    numbers = [page.number for page in on if page.number is not None]
    verified = stands_on(text, first, on)
    if passage.start is None:
        return Quote(text, None, None, numbers or list(passage.pages), verified)
    return Quote(text, first, last, numbers, verified)


def stands_on(text: str, start: int, pages: Sequence[Page]) -> bool:
    """Tell whether each part of a text stands on the raw text of its page.

    Args:
        text: a stretch of the document's derived text.
        start: where it starts in the document.
        pages: the pages it overlaps, in order.

    Compared in Unicode's compatibility form, without case and white space: line
    breaks of the page are no part of the words.
    """
    parts = [
        (_squash(text[max(0, page.start - start) : max(0, page.end - start)]), _squash(page.raw))
        for page in pages
    ]
    # Together the parts must be the whole quote: no word of it stands on no page.
    whole = "".join(part for part, _ in parts)
    return bool(whole) and whole == _squash(text) and all(part in raw for part, raw in parts)


def label_of(number: int | None, pages: Sequence[Page], passage: Passage) -> str | None:
    """Return the printed label of a page of a passage, ``None`` when unknown."""
    for page in pages:
        if page.number is not None and page.number == number:
            return page.label
    return (passage.page_label or None) if number == passage.page else None


def _squash(text: str) -> str:
    return "".join(normalise(text).split())
