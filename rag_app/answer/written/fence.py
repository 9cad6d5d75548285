"""Text of documents, fenced as data: it cannot close its own fence, and no fence is shown."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from rag_app.passages import Passage

_LONGEST_LABEL = 160
# More than the longest mark: number, label and what is around them.
_LONGEST_MARK = 300
_ATTRIBUTES = r"""(?:[ \t]+(?:number|source)[ \t]*=[ \t]*(?:"[^"<>\n]*"|\d+))*[ \t]*/?"""
_HALF = re.compile(
    rf"""{_ATTRIBUTES}(?:[ \t]+(?:nu?m?b?e?r?|so?u?r?c?e?)(?:[ \t]*=[ \t]*(?:"[^"]*)?)?)?"""
)
_NAME = "passage"
_NO_WORD = len(_NAME) + 3
_ANY_MARK = re.compile(rf"</?\s*{_NAME}", re.I)
_UNSAFE = re.compile(r'[<>"\x00-\x1f\x7f\[\]]+')


def new_fence(texts: Sequence[str]) -> str:
    """Return a word for the marks that stands in none of the texts and cannot be guessed."""
    while True:
        fence = f"{_NAME}-{secrets.token_hex(6)}"
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


class FenceFilter:
    """A model's text without the marks of the passages that it copied from its prompt.

    The word of the fence stands in no document, so it goes wherever it stands. Marks
    with another word go too, unless a document writes such marks itself: then they
    may be a quote.

    Args:
        fence: the word that fenced the passages.
        texts: what was fenced.
    """

    def __init__(self, fence: str, texts: Sequence[str]) -> None:
        self._held = ""
        self._fence = fence
        word = re.escape(fence)
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
        words = (self._held[-n:] for n in range(1, len(self._fence)))
        begun = [word for word in words if self._fence.startswith(word)]
        return [tail, *begun] if _may_go_on(tail) else begun

    def _is_half(self, tail: str) -> bool:
        if not tail.startswith("<"):
            # "passage" alone is a word like any other.
            return len(tail) > _NO_WORD
        plain, mark = _plain(tail), f"<{self._fence}"
        return mark.startswith(plain) or bool(_HALF.fullmatch(plain.removeprefix(mark)))


def _may_go_on(text: str) -> bool:
    if ">" in text or "\n" in text or len(text) > _LONGEST_MARK:
        return False
    plain, start = _plain(text), f"<{_NAME}"
    return bool(plain) and (start.startswith(plain) or plain.startswith(start))


def _plain(text: str) -> str:
    """Return the beginning of a mark as that of an opening one, without blanks."""
    return re.sub(r"^</?[ \t]*", "<", text.casefold())


def without_fence(text: str, fence: str, texts: Sequence[str]) -> str:
    """Return a whole text of a model's without the marks of the passages (:class:`FenceFilter`)."""
    kept = FenceFilter(fence, texts)
    return (kept.feed(text) + kept.close()).strip()
