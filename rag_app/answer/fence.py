"""Text of documents, fenced as data: it cannot close its own fence."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from rag_app.answer.passages import Passage

_LONGEST_LABEL = 160
_UNSAFE = re.compile(r'[<>"\x00-\x1f\x7f\[\]]+')


def new_fence(texts: Sequence[str]) -> str:
    """Return a word for the marks that stands in none of the texts and cannot be guessed."""
    while True:
        fence = f"passage-{secrets.token_hex(6)}"
        if not any(fence in text for text in texts):
            return fence


def fenced(fence: str, number: int, label: str, text: str) -> str:
    """Return a text between its marks, with its number and where it is from."""
    return f'<{fence} number="{number}" source="{label}">\n{text}\n</{fence}>'


def label_of(passage: Passage) -> str:
    """Return file, page, title and heading of a passage, on one line.

    They come from the document as well: no quote, bracket or line end of theirs stays.
    """
    page = passage.page_label or (str(passage.pages[0]) if passage.pages else "")
    parts = [passage.file, f"page {page}" if page else "", passage.title, passage.heading]
    line = ", ".join(dict.fromkeys(part for part in parts if part))
    return " ".join(_UNSAFE.sub(" ", line).split())[:_LONGEST_LABEL]
