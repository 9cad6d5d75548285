"""A page as a picture → its text, by an engine of text recognition, however it lies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from pipelines.cleaning import sanitise
from pipelines.layout import Box, PageLayout, Word
from pipelines.pictures import Picture, draw
from pipelines.scans import paper_of, skew_of, smoothed

# Measured on scans: 300 dots per inch read worse than 200, and take longer.
DPI = 200
_SKETCH_DPI = 75
# In another language, or upside down, a page is read with a confidence of .2 to .5.
MIN_CERTAIN = 0.8
# Photographs and drawings give words too, with less.
MIN_CONFIDENCE = 0.6
MIN_WORD_CONFIDENCE = 0.25
MIN_CHARACTERS = 8  # letters and digits: fewer are no text of a page
# Japanese weights read English with a confidence that says little: they need some Japanese.
_MIN_WIDE_SHARE = 0.2
WIDE_LANGUAGES = ("jpn", "chi", "kor")
# Between words of a line with Chinese or Japanese characters, as a share of its height.
_MIN_WIDE_GAP, _MIN_LATIN_GAP = 0.9, 0.3
_WIDE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]")
_READABLE = re.compile(r"[^\W_]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")


@dataclass(frozen=True, slots=True)
class SeenWord:
    """A word as an engine saw it.

    Attributes:
        text: its characters.
        box: where it stands in the picture, in pixels.
        confidence: how sure the engine is, 0 to 1.
        line: number of its line; lines are in reading order.
        boxes: of its characters, where each stands alone (Chinese, Japanese); else none.
    """

    text: str
    box: Box
    confidence: float
    line: int
    boxes: tuple[Box, ...] = ()


class Recogniser(Protocol):
    """An engine of text recognition."""

    languages: tuple[str, ...]

    def words(self, picture: Picture, language: str, seconds: float) -> Sequence[SeenWord]:
        """Return the words of a picture in reading order; none where it takes too long."""
        ...

    def turned(self, picture: Picture) -> int:
        """Return by how much a picture is turned clockwise: 0, 90, 180 or 270 degrees."""
        ...


@dataclass(frozen=True)
class RecognisedPage:
    """The text of a page that was read by OCR.

    Attributes:
        text: its lines, in reading order.
        confidence: how sure the engine is of its characters, 0 to 1.
        layout: where its words stand.
        language: of the weights that read it.
    """

    text: str
    confidence: float
    layout: PageLayout
    language: str


def recognised(
    page: Any, engine: Recogniser, seconds: float, first: str = ""
) -> RecognisedPage | None:
    """Return the text of a page of pypdfium2; None: it shows none that can be read.

    Args:
        page: the page.
        engine: reads it.
        seconds: what the engine may take at once.
        first: the language that is tried first: that of the page before.
    """
    sketch = draw(page, _SKETCH_DPI)
    if sketch is None:
        return None
    languages = sorted(engine.languages, key=lambda language: language != first)
    lean = skew_of(sketch)
    paper = paper_of(sketch)
    picture, found = draw(page, DPI, -lean.degrees, paper), None
    if picture is not None and not lean.sideways:
        found = _read(picture, engine, languages[:1], seconds)
        languages = languages[1:]
    if picture is not None and not _is_certain(found):
        turned = engine.turned(picture)
        if turned:
            picture, languages = (
                draw(page, DPI, -lean.degrees - turned, paper),
                list(engine.languages),
            )
        if picture is not None:
            found = _better(found, _read(picture, engine, languages, seconds))
    return found if found is not None and found.confidence >= MIN_CONFIDENCE else None


def readable(text: str) -> int:
    """Return how many letters and digits a text has."""
    return len(_READABLE.findall(text))


def has_wide(text: str) -> bool:
    """Tell whether a text has Chinese, Japanese or Korean characters."""
    return _WIDE.search(text) is not None


def _read(
    picture: Picture, engine: Recogniser, languages: Sequence[str], seconds: float
) -> RecognisedPage | None:
    """Read with one language after the other, until one of them fits."""
    best: RecognisedPage | None = None
    clear = smoothed(picture)
    for language in languages:
        found = _read_as(clear, engine, language, seconds)
        best = _better(best, found)
        if best is found and _is_certain(found):
            break
    return best


def _read_as(
    picture: Picture, engine: Recogniser, language: str, seconds: float
) -> RecognisedPage | None:
    words = engine.words(picture, language, seconds)
    seen = [word for word in words if word.text.strip() and _counts(word)]
    text, placed = _written(seen, picture)
    if readable(text) < MIN_CHARACTERS:
        return None
    certain = sum(word.confidence * len(word.text) for word in seen)
    confidence = certain / sum(len(word.text) for word in seen)
    layout = PageLayout(*picture.page, placed)
    return RecognisedPage(text, min(1.0, max(0.0, confidence)), layout, language)


def _is_certain(found: RecognisedPage | None) -> bool:
    if found is None or found.confidence < MIN_CERTAIN:
        return False
    wide = len(_WIDE.findall(found.text))
    needs_wide = found.language.startswith(WIDE_LANGUAGES)
    return not needs_wide or wide >= _MIN_WIDE_SHARE * readable(found.text)


def _better(one: RecognisedPage | None, other: RecognisedPage | None) -> RecognisedPage | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda found: found.confidence)


def _counts(word: SeenWord) -> bool:
    return word.confidence >= MIN_WORD_CONFIDENCE


def _written(seen: Sequence[SeenWord], picture: Picture) -> tuple[str, tuple[Word, ...]]:
    """Return the text of words, and where each stands in it and on the page."""
    parts: list[str] = []
    placed: list[Word] = []
    length = 0
    for _, group in groupby(seen, key=lambda word: word.line):
        line = list(group)
        wide = any(has_wide(word.text) for word in line)
        height = max(word.box.bottom - word.box.top for word in line)
        before: SeenWord | None = None
        for word in line:
            gap = "\n" if parts else ""
            if before is not None:
                gap = " " if not wide or _apart(before, word, height) else ""
            text = "".join(sanitise(word.text).split())
            placed += _placed(word, text, length + len(gap), picture)
            parts += [gap, text]
            length += len(gap) + len(text)
            before = word
    return "".join(parts), tuple(placed)


def _apart(before: SeenWord, word: SeenWord, height: float) -> bool:
    """Tell whether a blank is between two words of a line of Chinese or Japanese.

    Tesseract puts one between all its words there, and writing puts none.
    """
    latin = _LATIN.match(before.text[-1]) and _LATIN.match(word.text[0])
    gap = word.box.left - before.box.right
    return gap > (_MIN_LATIN_GAP if latin else _MIN_WIDE_GAP) * height


def _placed(word: SeenWord, text: str, start: int, picture: Picture) -> Iterator[Word]:
    if len(word.boxes) != len(text):
        yield Word(start, start + len(text), picture.on_page(word.box))
        return
    for at, box in enumerate(word.boxes, start):
        yield Word(at, at + 1, picture.on_page(box))
