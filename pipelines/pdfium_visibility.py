"""Text that nobody sees on the page: outside the crop box, unpainted, white on white, tiny.

The recognised text of a scan is unpainted as well; it stays, as it says what the picture
behind it shows. A page is looked at closely where the first character of a line is
painted so, or where some of its text lies outside.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pipelines.layout import Box
from pipelines.page_text import PlacedCharacter
from pipelines.pdfium_glyphs import Frame, Paint
from pipelines.pictures import POINTS_PER_INCH, Picture, draw

MIN_SHOWN_HEIGHT = 1.0  # points; smaller type is not read
_FAR = 1e6  # points: beyond any page
_MIN_CONTRAST = 24  # of 255 levels of grey, within the box of a character that is seen
_MAX_PICTURES = 2000  # of a page, that unpainted text may stand on
_DPI = 96  # pixels per inch, where a page is drawn to look at its pale text


def may_hide_text(textpage: Any, frame: Frame, text: str) -> bool:
    """Tell whether some text of a page may be hidden, from a sample of its characters.

    Args:
        textpage: of PDFium.
        frame: what is shown of it.
        text: of it as PDFium gives it, so that offsets are numbers of characters.
    """
    shown = _count_within(textpage, frame.left, frame.bottom, frame.right, frame.top)
    # Nearly always PDFium counts the same here as in the text; where not, it counts all again.
    if shown < len(text) and shown < _count_within(textpage, -_FAR, -_FAR, _FAR, _FAR):
        return True
    paint = Paint(textpage)
    return any(
        paint.is_unpainted(index) or paint.is_pale(index) for index in _starts_of_lines(text)
    )


def _count_within(textpage: Any, left: float, bottom: float, right: float, top: float) -> int:
    import pypdfium2.raw as pdfium

    return int(pdfium.FPDFText_GetBoundedText(textpage.raw, left, top, right, bottom, None, 0))


def _starts_of_lines(text: str) -> Iterator[int]:
    at = 0
    for line in text.split("\n"):
        if line and not line.isspace():
            yield at + len(line) - len(line.lstrip())
        at += len(line) + 1


def hidden_characters(
    page: Any, textpage: Any, frame: Frame, characters: Sequence[PlacedCharacter]
) -> frozenset[int]:
    """Return the numbers of the characters that nobody sees.

    A character whose place was not looked up is as visible as the one before it in its word.
    """
    paint = Paint(textpage)
    hidden: list[_LookedAt] = []
    pale: list[_LookedAt] = []
    unpainted: list[_LookedAt] = []
    for part in _parts(characters):
        if _is_outside(part.box, frame.size) or _is_tiny(part.box):
            hidden.append(part)
        elif paint.is_unpainted(part.numbers[0]):
            unpainted.append(part)
        elif paint.is_pale(part.numbers[0]):
            pale.append(part)
    if unpainted:
        pictures = list(islice(_pictures(page, frame), _MAX_PICTURES))
        hidden += (part for part in unpainted if not _is_on(part.box, pictures))
    if pale:
        hidden += _unseen(page, pale)
    return frozenset(number for part in hidden for number in part.numbers)


@dataclass(frozen=True, slots=True)
class _LookedAt:
    """A character whose place is known, and the numbers of it and of those that follow it."""

    box: Box
    numbers: list[int]


def _parts(characters: Sequence[PlacedCharacter]) -> list[_LookedAt]:
    parts: list[_LookedAt] = []
    within = False
    for one in characters:
        if one.text.isspace():
            within = False
        elif one.box is not None:
            parts.append(_LookedAt(one.box, [one.index]))
            within = True
        elif within:
            parts[-1].numbers.append(one.index)
    return parts


def _is_outside(box: Box, size: tuple[float, float]) -> bool:
    """Tell whether the middle of a character lies outside the page."""
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return not (0 <= x <= size[0] and 0 <= y <= size[1])


def _is_tiny(box: Box) -> bool:
    return max(box.bottom - box.top, box.right - box.left) < MIN_SHOWN_HEIGHT


def _is_on(box: Box, pictures: Collection[Box]) -> bool:
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return any(one.left <= x <= one.right and one.top <= y <= one.bottom for one in pictures)


def _pictures(page: Any, frame: Frame) -> Iterator[Box]:
    """Yield the places of pictures, and of forms, which may hold some."""
    import pypdfium2.raw as pdfium

    edges = [ctypes.c_float() for _ in range(4)]
    for index in range(pdfium.FPDFPage_CountObjects(page)):
        drawn = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(drawn) not in (
            pdfium.FPDF_PAGEOBJ_IMAGE,
            pdfium.FPDF_PAGEOBJ_FORM,
        ):
            continue
        if pdfium.FPDFPageObj_GetBounds(drawn, *map(ctypes.byref, edges)):
            yield frame.shown(*(edge.value for edge in edges))


def _unseen(page: Any, parts: Sequence[_LookedAt]) -> list[_LookedAt]:
    """Return what stands where all is of one colour when the page is drawn."""
    picture = draw(page, _DPI)
    if picture is None:
        return []
    return [part for part in parts if _contrast(part.box, picture) < _MIN_CONTRAST]


def _contrast(box: Box, picture: Picture) -> int:
    """Return the difference between the lightest and the darkest pixel at a place."""
    scale = picture.dpi / POINTS_PER_INCH
    left, right = (_within(x * scale, picture.width) for x in (box.left, box.right))
    top, bottom = (_within(y * scale, picture.height) for y in (box.top, box.bottom))
    starts = range(top * picture.stride, (bottom + 1) * picture.stride, picture.stride)
    rows = [picture.data[start + left : start + right + 1] for start in starts]
    return max(map(max, rows)) - min(map(min, rows))


def _within(place: float, size: int) -> int:
    return min(max(int(place), 0), size - 1)
