"""Citation marks in what a model writes: found, numbered anew, or dropped.

A model is given passages 1 to n and writes "[2]" after a sentence. The reader
sees numbers in the order of first use, also while the text streams; a number
that no passage has disappears and is reported with its sentence.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from rag_app.answer.written.citation_marks import (
    MAX_MARK_CHARACTERS,
    Mark,
    MarkReader,
    certain,
    numbers_of,
    without_lead,
    without_sources,
)

_OPEN = "[【［〔"
_LABELS = ("answer:", "final answer:", "response:", "回答:", "回答：", "答え:", "答え：")
# A reply that begins so is an object of JSON, maybe in a block of code.
_WRAPPING = ("{", "`")
_CODE_FENCE = re.compile(r"\A`{3}\w*|`{3}\Z")
_ANSWER_KEYS = ("answer", "response", "text", "result", "content")
_CITATION_KEYS = ("citations", "sources", "passages", "references", "citation", "source")
# Between two marks these say nothing: "[1] and [2]".
_JOINING = frozenset(("", "and", "&", ",", ";", "or", "und", "et", "と", "、", "及び", "および"))
_PARAGRAPH = re.compile(r"[ \t]*\n[ \t]*\n")
# Where it is not known how many passages there are.
MAX_PASSAGES = 99
_QUOTING = " \t\n\"'`*「『“"


@dataclass
class MarkedSentence:
    """A stretch of the model's text with what it cites.

    Attributes:
        text: without marks.
        cited: numbers that a passage has, in order, each once.
        invented: numbers that none has.
        nearby: what the statements around it cite, where it cites nothing itself.
    """

    text: str
    cited: list[int] = field(default_factory=list)
    invented: list[int] = field(default_factory=list)
    nearby: list[int] = field(default_factory=list)


def has_words(text: str) -> bool:
    """Tell whether a text is more than marks and white space."""
    return bool(without_marks(text).strip())


def without_marks(text: str) -> str:
    """Return a text without its marks and the blanks before them."""
    return _without(text, MarkReader(MAX_PASSAGES).find(text))[0]


def sentences_with_marks(
    text: str, split: Callable[[str], list[tuple[int, int]]], reader: MarkReader
) -> list[MarkedSentence]:
    """Return the sentences of a model's text with the passages that each cites.

    Args:
        text: as the model wrote it.
        split: text → spans of its sentences.
        reader: finds the marks.

    A mark belongs to the sentence before it, at the start of a line to the one after it;
    those of a last line that lists sources belong to all, where no other mark is.
    """
    body, listed = without_sources(text, reader)
    clean, marks = _without(body, reader.find(body))
    spans = [(start, end) for start, end in split(clean) if clean[start:end].strip()]
    sentences = [MarkedSentence(clean[start:end].strip()) for start, end in spans]
    starts = [start for start, _ in spans]
    for place, mark in marks:
        if sentences:
            owner = _owner(clean, starts, place)
            _take(sentences[owner], mark.numbers, reader.count)
            within = place - starts[owner]
            if len(sentences[owner].text) == spans[owner][1] - starts[owner] and within >= 0:
                sentences[owner].text = without_lead(sentences[owner].text, within)
    if not any(sentence.cited for sentence in sentences):
        for sentence in sentences:
            _take(sentence, listed, reader.count)
    _look_around(clean, spans, sentences, listed)
    return sentences


class AnswerFilter:
    """What the reader sees of a model's text, piece by piece.

    Marks are renumbered; white space at the ends is left out; the word that means "no
    answer" is held back. Thoughts do not come here (:mod:`rag_app.models.llm.thoughts`).

    Args:
        renumber: number of a passage → the number shown, ``None``: there is no such passage.
        refusal: what the model writes when the passages do not answer.
        reader: finds the marks.
    """

    def __init__(
        self, renumber: Callable[[int], int | None], refusal: str, reader: MarkReader
    ) -> None:
        self.raw = ""
        self.refused = False
        self._reader = reader
        self._whole: list[str] | None = None
        self._renumber = renumber
        self._refusal = refusal.casefold()
        self._held = ""
        self._started = False

    def feed(self, delta: str) -> str:
        """Take a piece of the model's text and return what can be shown by now."""
        if self._whole is not None:
            self._whole.append(delta)
            return ""
        self._held += delta
        if not self._started and self._held.lstrip()[:1] in _WRAPPING:
            # An object of JSON is read when it is whole.
            self._whole, self._held = [self._held], ""
            return ""
        return self._release(end=False)

    def close(self) -> str:
        """Return what was held back, at the end of the model's text."""
        if self._whole is not None:
            self._held, self._whole = unwrapped("".join(self._whole)), None
        return self._release(end=True)

    def _release(self, *, end: bool) -> str:
        if self.refused or (not self._started and not self._may_start(end)):
            return ""
        before = self.raw[-MAX_MARK_CHARACTERS:]
        text = before + self._held
        ready = len(text) if end else certain(text, len(before))
        piece, self._held = text[len(before) : ready], text[ready:]
        self.raw += piece
        if end:
            piece = without_sources(before + piece, self._reader)[0][len(before) :]
        shown = self._with_marks_shown(before + piece, len(before))
        return shown.rstrip() if end else shown

    def _with_marks_shown(self, text: str, start: int) -> str:
        parts, at = [], start
        for mark in self._reader.find(text, start):
            shown = [self._renumber(number) for number in mark.numbers]
            kept = dict.fromkeys(number for number in shown if number is not None)
            between = text[at : mark.start]
            parts.append(between if kept else between.rstrip(" \t"))
            parts.append("".join(f"[{number}]" for number in kept))
            at = mark.end
        return "".join([*parts, text[at:]])

    def _may_start(self, end: bool) -> bool:
        """Tell whether the beginning is known well enough to show it."""
        self._held = self._held.lstrip()
        start = _without_label(self._held.lstrip(_QUOTING + _OPEN).casefold().replace("\\", ""))
        if start.startswith(self._refusal):
            self.refused = True
            return False
        begun = any(word.startswith(start) for word in (self._refusal, *_LABELS))
        if not end and begun:
            return False
        self._started = True
        return True


def unwrapped(text: str) -> str:
    """Return the answer in an object of JSON with its citations as marks; other text as it is."""
    inner = _CODE_FENCE.sub("", text.strip()).strip()
    try:
        found = json.loads(inner)
    except ValueError:
        return text
    if not isinstance(found, dict):
        return text
    said = next((found[key] for key in _ANSWER_KEYS if isinstance(found.get(key), str)), None)
    if said is None:
        return text
    numbers = [n for key in _CITATION_KEYS for n in _integers(found.get(key))]
    return f"{said} {''.join(f'[{number}]' for number in dict.fromkeys(numbers))}".strip()


def _without_label(start: str) -> str:
    """Return the beginning of an answer without a word that only says that it is one."""
    for label in _LABELS:
        if start.startswith(label):
            return start[len(label) :].lstrip(_QUOTING + _OPEN)
    return start


def _integers(value: object) -> list[int]:
    if isinstance(value, list):
        return [number for one in value for number in _integers(one)]
    if isinstance(value, str):
        return numbers_of(value)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return [int(value)] if is_number and isinstance(value, int) else []


def _without(text: str, marks: Iterable[Mark]) -> tuple[str, list[tuple[int, Mark]]]:
    """Return a text without marks, and where in it each one stood."""
    parts: list[str] = []
    found: list[tuple[int, Mark]] = []
    length = last = 0
    for mark in marks:
        between = text[last : mark.start]
        joins = bool(found) and between.strip(" \t").casefold() in _JOINING
        kept = "" if joins else between.rstrip(" \t")
        parts.append(kept)
        length += len(kept)
        found.append((length, mark))
        last = mark.end
    return "".join([*parts, text[last:]]), found


def _take(sentence: MarkedSentence, numbers: Iterable[int], count: int) -> None:
    for number in numbers:
        taken = sentence.cited if 1 <= number <= count else sentence.invented
        if number not in taken:
            taken.append(number)


def _owner(clean: str, starts: Sequence[int], place: int) -> int:
    """Return the index of the sentence that a mark at ``place`` belongs to."""
    line = clean.rfind("\n", 0, place) + 1
    following = bisect_left(starts, place)
    if not clean[line:place].strip(" \t-*•#>") and following < len(starts):
        return following
    return max(following - 1, 0)


def _look_around(
    clean: str,
    spans: Sequence[tuple[int, int]],
    sentences: Sequence[MarkedSentence],
    listed: Sequence[int],
) -> None:
    """Note for sentences without a mark what their neighbours in the paragraph cite."""
    after: list[int] = []
    for (_, end), sentence in zip(reversed(spans), reversed(sentences), strict=True):
        if _PARAGRAPH.match(clean, end):
            after = []
        after = sentence.cited or after
        sentence.nearby = [] if sentence.cited else list(after)
    before: list[int] = []
    for (_, end), sentence in zip(spans, sentences, strict=True):
        if not sentence.cited:
            sentence.nearby = list(dict.fromkeys([*sentence.nearby, *before, *listed]))
        before = [] if _PARAGRAPH.match(clean, end) else sentence.cited or before
