"""Citation marks in what a model writes: found, numbered anew, or dropped.

A model is given passages 1 to n and writes "[2]" after a sentence. The reader
sees numbers in the order of first use, also while the text streams; a number
that no passage has disappears and is reported with its sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

_OPEN = "[【［"
_WORD = r"(?:(?i:passages?|sources?|documents?|docs?|refs?|citations?)|出典|資料|文書|文献|引用)"
_INNER = rf"\s*(?:{_WORD}[.:]?\s*)?\d{{1,3}}(?:\s*[,，、;&-]\s*\d{{1,3}})*\s*"
_MARK = re.compile(rf"[{re.escape(_OPEN)}]{_INNER}[\]】］]")
_SPACED_MARK = re.compile(rf"(?<![ \t])([ \t]*+)({_MARK.pattern})")
_NUMBERS = re.compile(r"\d{1,3}(?:\s*-\s*\d{1,3})?")
_MAX_MARK_CHARACTERS = 32
_MAX_RANGE = 20
_THINK, _UNTHINK = "<think>", "</think>"
_LABELS = ("answer:", "final answer:", "response:", "回答:", "回答：", "答え:", "答え：")
_QUOTING = " \t\n\"'`*「『“"


@dataclass
class MarkedSentence:
    """A stretch of the model's text with what it cites.

    Attributes:
        text: without marks.
        cited: numbers that a passage has, in order, each once.
        invented: numbers that none has.
    """

    text: str
    cited: list[int] = field(default_factory=list)
    invented: list[int] = field(default_factory=list)


def numbers_of(mark: str) -> list[int]:
    """Return the numbers that a mark names: "[1, 3-5]" → 1, 3, 4, 5."""
    numbers: list[int] = []
    for part in _NUMBERS.findall(mark):
        first, _, last = part.partition("-")
        start, end = int(first), int(last or first)
        is_range = start <= end < start + _MAX_RANGE
        numbers += range(start, end + 1) if is_range else [start, end]
    return list(dict.fromkeys(numbers))


def has_words(text: str) -> bool:
    """Tell whether a text is more than marks and white space."""
    return bool(_MARK.sub("", text).strip())


def without_marks(text: str) -> str:
    """Return a text without its marks and the blanks before them."""
    return _SPACED_MARK.sub("", text)


def sentences_with_marks(
    text: str, split: Callable[[str], list[tuple[int, int]]], count: int
) -> list[MarkedSentence]:
    """Return the sentences of a model's text with the passages that each cites.

    Args:
        text: as the model wrote it.
        split: text → spans of its sentences.
        count: passages there are.

    A mark belongs to the sentence before it, at the start of a line to the one after it.
    """
    clean, marks = _without_marks(text)
    spans = [(start, end) for start, end in split(clean) if clean[start:end].strip()]
    sentences = [MarkedSentence(clean[start:end].strip()) for start, end in spans]
    for place, mark in marks:
        if not sentences:
            break
        sentence = sentences[_owner(clean, spans, place)]
        for number in numbers_of(mark):
            numbers = sentence.cited if 1 <= number <= count else sentence.invented
            if number not in numbers:
                numbers.append(number)
    return sentences


class AnswerFilter:
    """What the reader sees of a model's text, piece by piece.

    Marks are renumbered; a block of thoughts at the start (``<think>``) and white
    space at the ends are left out; the word that means "no answer" is held back.

    Args:
        renumber: number of a passage → the number shown, ``None``: there is no such passage.
        refusal: what the model writes when the passages do not answer.
    """

    def __init__(self, renumber: Callable[[int], int | None], refusal: str) -> None:
        self.raw = ""
        self.refused = False
        self._renumber = renumber
        self._refusal = refusal.casefold()
        self._held = ""
        self._thinking = False
        self._started = False

    def feed(self, delta: str) -> str:
        """Take a piece of the model's text and return what can be shown by now."""
        self._held += delta
        return self._release(end=False)

    def close(self) -> str:
        """Return what was held back, at the end of the model's text."""
        return self._release(end=True)

    def _release(self, *, end: bool) -> str:
        if self.refused or (not self._started and not self._may_start(end)):
            return ""
        ready = len(self._held) if end else _ready(self._held)
        piece, self._held = self._held[:ready], self._held[ready:]
        self.raw += piece
        shown = _SPACED_MARK.sub(self._shown_mark, piece)
        return shown.rstrip() if end else shown

    def _may_start(self, end: bool) -> bool:
        """Tell whether the beginning is known well enough to show it."""
        self._skip_thoughts(end)
        self._held = self._held.lstrip()
        start = _without_label(self._held.lstrip(_QUOTING + _OPEN).casefold().replace("\\", ""))
        if self._thinking or (not end and _THINK.startswith(self._held)):
            return False
        if start.startswith(self._refusal):
            self.refused = True
            return False
        begun = any(word.startswith(start) for word in (self._refusal, *_LABELS))
        if not end and begun:
            return False
        self._started = True
        return True

    def _skip_thoughts(self, end: bool) -> None:
        text = self._held.lstrip()
        if text.startswith(_THINK):
            self._thinking = True
        if self._thinking:
            before, found, after = self._held.partition(_UNTHINK)
            if found or end:
                self._held, self._thinking = after, False
            else:
                self._held = before

    def _shown_mark(self, match: re.Match[str]) -> str:
        shown = [self._renumber(number) for number in numbers_of(match.group(2))]
        kept = dict.fromkeys(number for number in shown if number is not None)
        return match.group(1) + "".join(f"[{number}]" for number in kept) if kept else ""


def _without_label(start: str) -> str:
    """Return the beginning of an answer without a word that only says that it is one."""
    for label in _LABELS:
        if start.startswith(label):
            return start[len(label) :].lstrip(_QUOTING + _OPEN)
    return start


def _ready(text: str) -> int:
    """Return how much of a text is certain: no open mark, no white space at its end."""
    ready = len(text)
    start = max(text.rfind(bracket) for bracket in _OPEN)
    if start >= 0 and len(text) - start < _MAX_MARK_CHARACTERS and _may_become_mark(text[start:]):
        ready = start
    return len(text[:ready].rstrip())


def _may_become_mark(text: str) -> bool:
    return not any(close in text for close in "]】］\n")


def _without_marks(text: str) -> tuple[str, list[tuple[int, str]]]:
    clean, marks, last = "", [], 0
    for match in _MARK.finditer(text):
        before = text[last : match.start()]
        clean += before.rstrip(" \t") if before.strip(" \t") else ""
        marks.append((len(clean), match.group()))
        last = match.end()
    return clean + text[last:], marks


def _owner(clean: str, spans: list[tuple[int, int]], place: int) -> int:
    """Return the index of the sentence that a mark at ``place`` belongs to."""
    before = clean[:place]
    following = [i for i, (start, _) in enumerate(spans) if start >= place]
    leads = not before.strip() or before.endswith("\n")
    if leads and following:
        return following[0]
    earlier = [i for i, (start, _) in enumerate(spans) if start < place]
    return earlier[-1] if earlier else 0
