"""Text of documents, delimited as data: it cannot end its own block, and no delimiter is shown."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from rag_app.passages import Passage

_MAX_LABEL_CHARACTERS = 160
# More than the longest mark: number, label and what is around them.
_MAX_MARK_CHARACTERS = 300
_WHOLE = r"""(?:[ \t]+(?:number|source)[ \t]*=[ \t]*(?:"[^"<>\n]*"|\d+))*"""
_ATTRIBUTES = rf"{_WHOLE}[ \t]*/?"
_HALF_ATTRIBUTE = r"""[ \t]++(?:nu?m?b?e?r?|so?u?r?c?e?)(?:[ \t]*=[ \t]*(?:"[^"]*)?)?"""
_HALF = re.compile(rf"{_WHOLE}(?:[ \t]*+/(?:{_HALF_ATTRIBUTE})?|{_HALF_ATTRIBUTE}|[ \t]*+)")
_NAME = "passage"
_NO_WORD = len(_NAME) + 3
_ANY_MARK = re.compile(rf"</?\s*{_NAME}", re.I)
_OPENING = re.compile(r"^</?[ \t]*")
_UNSAFE = re.compile(r'[<>"\x00-\x1f\x7f\[\]]+')


def new_delimiter(texts: Sequence[str]) -> str:
    """Return a word for the marks that stands in none of the texts and cannot be guessed."""
    while True:
        delimiter = f"{_NAME}-{secrets.token_hex(6)}"
        if not any(delimiter in text for text in texts):
            return delimiter


def delimited(delimiter: str, number: int, label: str, text: str) -> str:
    """Return a text between its marks, with its number and where it is from."""
    return f'<{delimiter} number="{number}" source="{label}">\n{text}\n</{delimiter}>'


def label_of(passage: Passage) -> str:
    """Return file, pages, title and heading of a passage, on one line.

    They come from the document as well: no quote, bracket or line end of theirs stays.
    """
    parts = [passage.file, _pages_of(passage), passage.title, passage.heading]
    line = ", ".join(dict.fromkeys(part for part in parts if part))
    return " ".join(_UNSAFE.sub(" ", line).split())[:_MAX_LABEL_CHARACTERS]


def _pages_of(passage: Passage) -> str:
    if len(passage.pages) > 1:
        return f"pages {passage.pages[0]}-{passage.pages[-1]}"
    page = passage.page_label or "".join(map(str, passage.pages))
    return f"page {page}" if page else ""


class DelimiterFilter:
    """A model's text without the marks of the passages that it copied from its prompt.

    The word of the delimiter stands in no document, so it goes wherever it stands. Marks
    with another word go too, unless a document writes such marks itself: then they
    may be a quote.

    Args:
        delimiter: the word that delimited the passages.
        texts: what was delimited.
    """

    def __init__(self, delimiter: str, texts: Sequence[str]) -> None:
        self._held = ""
        self._delimiter = delimiter
        word = re.escape(delimiter)
        theirs = any(_ANY_MARK.search(text) for text in texts)
        copied = "" if theirs else rf"|(?i:</?[ \t]*{_NAME}(?:-\w*)?{_ATTRIBUTES}>)"
        self._mark = re.compile(rf"</?[ \t]*{word}{_ATTRIBUTES}>?|{word}{copied}")

    def feed(self, delta: str) -> str:
        """Take a piece of the model's text and return what is certain to be no mark."""
        self._held += delta
        begun = self._begun()
        return self._release(len(self._held) - max(map(len, begun), default=0))

    def close(self) -> str:
        """Return what was held back, at the end of the model's text; half a mark is dropped."""
        halves = [tail for tail in self._begun() if self._is_half(tail)]
        piece = self._release(len(self._held) - max(map(len, halves), default=0))
        self._held = ""
        return piece

    def _release(self, end: int) -> str:
        piece, self._held = self._held[:end], self._held[end:]
        return self._mark.sub("", piece)

    def _begun(self) -> list[str]:
        """Return the ends of what is held that may become a mark."""
        last = max(self._held.rfind("<"), 0)
        tail = self._held[last:]
        words = (self._held[-n:] for n in range(1, len(self._delimiter)))
        begun = [word for word in words if self._delimiter.startswith(word)]
        return [tail, *begun] if _may_go_on(tail) else begun

    def _is_half(self, tail: str) -> bool:
        if not tail.startswith("<"):
            # "passage" alone is a word like any other.
            return len(tail) > _NO_WORD
        plain, mark = _plain(tail), f"<{self._delimiter}"
        return mark.startswith(plain) or bool(_HALF.fullmatch(plain.removeprefix(mark)))


def _may_go_on(text: str) -> bool:
    if ">" in text or "\n" in text or len(text) > _MAX_MARK_CHARACTERS:
        return False
    plain, start = _plain(text), f"<{_NAME}"
    return bool(plain) and (start.startswith(plain) or plain.startswith(start))


def _plain(text: str) -> str:
    """Return the beginning of a mark as that of an opening one, without blanks."""
    return _OPENING.sub("<", text.casefold())


def without_delimiter(text: str, delimiter: str, texts: Sequence[str]) -> str:
    """Return a model's whole text without marks of passages, as :class:`DelimiterFilter` does."""
    kept = DelimiterFilter(delimiter, texts)
    return (kept.feed(text) + kept.close()).strip()
