"""Text that nobody sees on the page: outside the crop box, unpainted, white on white, tiny.

The recognised text of a scan is unpainted as well; it stays, as it says what the picture
behind it shows. A page is looked at closely where the first or the last character of a
line is painted so, or where some of its text lies outside. To ask how each object of a page
is painted would take as long as to read it; so text that is hidden within a line alone stays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pipelines.layout import Box, united
from pipelines.page_text import PlacedCharacter
from pipelines.pdfium_glyphs import Frame, Paint, box_of
from pipelines.pictures import POINTS_PER_INCH, Picture, draw_part

MIN_SHOWN_HEIGHT = 1.0  # points; smaller type is not read
_FAR = 1e6  # points: beyond any page
_MIN_CONTRAST = 24  # of 255 levels of grey, within the box of a character that is seen
_MAX_PICTURES = 2000  # of a page, that unpainted text may stand on
_DPI = 96  # pixels per inch, where a page is drawn to look at its pale text


def may_hide_text(
    page: Any,
    textpage: Any,
    frame: Frame,
    text: str,
    paint: Paint,
    lines: Sequence[tuple[int, int]] | None = None,
) -> bool:
    """Tell whether some text of a page may be hidden, from a sample of its characters.

    Args:
        page: of PDFium.
        textpage: of it.
        frame: what is shown of it.
        text: of it as PDFium gives it, so that offsets are numbers of characters.
        paint: tells how its characters are painted.
        lines: ``ends_of_lines`` of the text, where they are known.
    """
    shown = _count_within(textpage, frame.left, frame.bottom, frame.right, frame.top)
    # Nearly always PDFium counts the same here as in the text; where not, it counts all again.
    if shown < len(text) and shown < _count_within(textpage, -_FAR, -_FAR, _FAR, _FAR):
        return True
    unseen = list(paint.unseen(ends_of_lines(text) if lines is None else lines))
    if not unseen or any(map(paint.is_unpainted, unseen)):
        return bool(unseen)
    # Heads of tables are white on a dark ground: no more than these are looked at.
    boxes = (box_of(textpage, frame, index) for index in unseen)
    pale = [_LookedAt(box, [index]) for box, index in zip(boxes, unseen, strict=True) if box]
    return bool(_unseen(page, pale))


def _count_within(textpage: Any, left: float, bottom: float, right: float, top: float) -> int:
    import pypdfium2.raw as pdfium

    return int(pdfium.FPDFText_GetBoundedText(textpage.raw, left, top, right, bottom, None, 0))


def ends_of_lines(text: str) -> list[tuple[int, int]]:
    """Return the places of the first and the last visible character of each line."""
    spans: list[tuple[int, int]] = []
    at = 0
    for line in text.split("\n"):
        visible = line.strip()
        if visible:
            start = at + line.index(visible[0])
            spans.append((start, start + len(visible) - 1))
        at += len(line) + 1
    return spans


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
    shown = Box(0.0, 0.0, *page.get_size())
    found = [(part, box) for part in parts if (box := _common(part.box, shown))]
    around = united([box for _, box in found]) if found else shown
    picture = draw_part(page, around, _DPI) if found else None
    if picture is None:
        return []
    return [part for part, box in found if _contrast(box, around, picture) < _MIN_CONTRAST]


def _common(one: Box, other: Box) -> Box | None:
    """Return what two rectangles have in common; None: nothing."""
    left, right = max(one.left, other.left), min(one.right, other.right)
    top, bottom = max(one.top, other.top), min(one.bottom, other.bottom)
    return Box(left, top, right, bottom) if left < right and top < bottom else None


def _contrast(box: Box, around: Box, picture: Picture) -> int:
    """Return the difference between the lightest and the darkest pixel at a place.

    Args:
        box: the place.
        around: what the picture shows.
        picture: of it.
    """
    scale = picture.dpi / POINTS_PER_INCH
    left, right = (_within((x - around.left) * scale, picture.width) for x in (box.left, box.right))
    top, bottom = (_within((y - around.top) * scale, picture.height) for y in (box.top, box.bottom))
    starts = range(top * picture.stride, (bottom + 1) * picture.stride, picture.stride)
    rows = [picture.data[start + left : start + right + 1] for start in starts]
    return max(map(max, rows)) - min(map(min, rows))


def _within(place: float, size: int) -> int:
    return min(max(int(place), 0), size - 1)
