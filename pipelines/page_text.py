"""The text of a page and the places of its words, made and rearranged together. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pipelines.layout import Box, PageLayout, Word, united

# Kana, han and full-width forms: each character is a word.
_SINGLE = re.compile("[\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff9f]")


@dataclass(frozen=True, slots=True)
class PlacedCharacter:
    """A character of a page.

    Attributes:
        text: what it stands for.
        index: its number among the characters that the PDF library counts.
        box: where it stands; None for white space, and where that was not looked up.
    """

    text: str
    index: int
    box: Box | None = None


def laid_out(
    characters: Sequence[PlacedCharacter], size: tuple[float, float]
) -> tuple[str, PageLayout]:
    """Return the text of characters and the places of its words.

    Args:
        characters: of a page in the order of its text.
        size: width and height of the page, in points.
    """
    words: list[Word] = []
    at, start, boxes = 0, 0, list[Box]()
    for character in characters:
        single = _SINGLE.match(character.text) is not None
        if boxes and (single or character.text.isspace()):
            words.append(Word(start, at, united(boxes)))
            boxes = []
        if single and character.box is not None:
            words.append(Word(at, at + len(character.text), character.box))
        elif character.box is not None:
            start = start if boxes else at
            boxes.append(character.box)
        at += len(character.text)
    if boxes:
        words.append(Word(start, at, united(boxes)))
    text = "".join(character.text for character in characters)
    return text, PageLayout(*size, tuple(words))


def without(
    characters: Sequence[PlacedCharacter], hidden: Collection[int]
) -> list[PlacedCharacter]:
    """Return characters without the hidden ones, and without the blanks that these leave.

    Args:
        characters: of a page in the order of its text.
        hidden: the numbers of those that go.
    """
    kept: list[PlacedCharacter] = []
    for _, line in groupby(characters, key=_LineCounter()):
        given = list(line)
        left = [one for one in given if one.index not in hidden]
        if len(left) == len(given):
            kept += given
        elif any(not one.text.isspace() for one in left):
            kept += _single_blanks(left)
    if kept and kept[-1].text == "\n" and characters[-1].text != "\n":
        kept.pop()
    return kept


class _LineCounter:
    """Numbers the line of each character; a line end belongs to the line before."""

    def __init__(self) -> None:
        self._line, self._ended = 0, False

    def __call__(self, character: PlacedCharacter) -> int:
        self._line += self._ended
        self._ended = character.text == "\n"
        return self._line


def _single_blanks(line: Iterable[PlacedCharacter]) -> list[PlacedCharacter]:
    kept: list[PlacedCharacter] = []
    for one in line:
        blank = one.text.isspace()
        before = kept[-1].text if kept else " "
        if blank and before.isspace():
            if one.text == "\n" and kept:
                kept[-1] = one
            continue
        kept.append(one)
    return kept


def assembled(
    text: str, layout: PageLayout, pieces: Iterable[tuple[int, int] | str]
) -> tuple[str, PageLayout]:
    """Return a page put together from pieces of it, its words with it.

    Args:
        text: of the page.
        layout: its words, in the order of the text.
        pieces: spans of the text, and text to stand between them.
    """
    starts = [word.start for word in layout.words]
    parts: list[str] = []
    words: list[Word] = []
    at = 0
    for piece in pieces:
        if isinstance(piece, str):
            parts.append(piece)
            at += len(piece)
            continue
        start, end = piece
        moved = at - start
        chosen = layout.words[bisect_left(starts, start) : bisect_left(starts, end)]
        words += (Word(word.start + moved, word.end + moved, word.box) for word in chosen)
        parts.append(text[start:end])
        at += end - start
    return "".join(parts), replace(layout, words=tuple(words))
