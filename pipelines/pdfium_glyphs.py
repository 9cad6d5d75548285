"""What PDFium knows of each character of a page: where it stands, and how it is drawn."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pipelines.cleaning import sanitise
from pipelines.layout import Box
from pipelines.page_text import PlacedCharacter

_WHITE = 0xF0  # of 255: a lighter colour cannot be read on white
_UNPAINTED = (3, 7)  # text render modes that paint nothing: invisible, and clipping only
# Stands for the hyphen, and swallows the line end.
HYPHEN_AT_LINE_END = "\ufffe"


@dataclass(frozen=True, slots=True)
class Frame:
    """The part of a page that is shown, in the units of the page itself, and its turn.

    Attributes:
        left, bottom, right, top: the crop box.
        quarters: turns of 90 degrees, clockwise.
    """

    left: float
    bottom: float
    right: float
    top: float
    quarters: int

    @property
    def size(self) -> tuple[float, float]:
        """Width and height as shown, in points."""
        width, height = self.right - self.left, self.top - self.bottom
        return (height, width) if self.quarters % 2 else (width, height)

    def shown(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a rectangle as it is shown, from the upper left corner."""
        x0, x1 = left - self.left, right - self.left
        y0, y1 = bottom - self.bottom, top - self.bottom
        width, height = self.right - self.left, self.top - self.bottom
        if self.quarters == 1:
            return Box(y0, x0, y1, x1)
        if self.quarters == 2:
            return Box(width - x1, y0, width - x0, y1)
        if self.quarters == 3:
            return Box(height - y1, width - x1, height - y0, width - x0)
        return Box(x0, height - y1, x1, height - y0)


def frame_of(page: Any) -> Frame:
    """Return the part of a page that is shown."""
    left, bottom, right, top = page.get_bbox()
    return Frame(left, bottom, right, top, page.get_rotation() // 90)


def placed_characters(textpage: Any, frame: Frame, text: str) -> list[PlacedCharacter]:
    """Return the characters of a page in the order of its text.

    Joined, they are the sanitised text of the page. Of a word of ASCII only the first and the
    last have a place, as the others stand between. What PDFium made up has none.

    Args:
        textpage: of PDFium.
        frame: what is shown of it.
        text: of it as PDFium gives it.
    """
    characters: list[PlacedCharacter] = []
    around = zip(" " + text, text, text[1:] + " ", _indexes(textpage, text), strict=False)
    for before, character, after, index in around:
        kept = character if character.isalnum() or character == " " else _kept(character)
        if not kept:
            continue
        wanted = before.isspace() or after.isspace() or not character.isascii()
        is_drawn = wanted and not character.isspace()
        box = box_of(textpage, frame, index) if is_drawn else None
        characters.append(PlacedCharacter(kept, index, box))
        if character == HYPHEN_AT_LINE_END:
            characters.append(PlacedCharacter("\n", index))
    return characters


def _kept(character: str) -> str:
    if character == HYPHEN_AT_LINE_END:
        return "-"
    return "" if character == "\r" else sanitise(character)


def _indexes(textpage: Any, text: str) -> Iterator[int]:
    """Yield PDFium's number of each character; its text may leave some out."""
    import pypdfium2.raw as pdfium

    units = 0
    same = textpage.count_chars() == len(text)
    for character in text:
        yield units if same else pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, units)
        units += 1 if character <= "\uffff" else 2


def box_of(textpage: Any, frame: Frame, index: int) -> Box | None:
    """Return where a character stands: its advance by the height of its type; None: nowhere."""
    import pypdfium2.raw as pdfium

    box = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(textpage, index, box):
        return None
    if pdfium.FPDFText_IsGenerated(textpage, index) == 1:
        return None
    return frame.shown(box.left, box.bottom, box.right, box.top)


class Paint:
    """Tells how characters of a page are painted."""

    def __init__(self, textpage: Any) -> None:
        # Kept: PDFium reads it, and it is closed when nothing holds it.
        self._textpage = textpage
        self._address = ctypes.cast(textpage.raw, ctypes.c_void_p).value
        self._object_of, self._mode_of, self._fill_of = _calls()
        self._colour = (ctypes.c_uint * 4)()
        start, size = ctypes.addressof(self._colour), ctypes.sizeof(ctypes.c_uint)
        self._parts = tuple(range(start, start + 4 * size, size))

    def unseen(self, lines: Iterable[tuple[int, int]]) -> Iterator[int]:
        """Yield characters that are unpainted or pale, of the ends of lines.

        All of one object of a page is painted in one way, and most lines are of one object.

        Args:
            lines: numbers of the first and the last character of each.
        """
        # Local names: this runs for each line of each page.
        page, object_of, mode_of = self._address, self._object_of, self._mode_of
        fill_of, parts, colour, before = self._fill_of, self._parts, self._colour, None
        for first, last in lines:
            for index in (first, last):
                drawn = object_of(page, index)
                if drawn == before:
                    continue
                before = drawn
                if mode_of(drawn) in _UNPAINTED or (
                    fill_of(page, index, *parts)
                    and (colour[0] >= _WHITE or not colour[3])
                    and self.is_pale(index)
                ):
                    yield index

    def is_one_object(self, first: int, last: int) -> bool:
        """Tell whether two characters are of one object, and so what stands between them."""
        return bool(self._object_of(self._address, first) == self._object_of(self._address, last))

    def is_unpainted(self, index: int) -> bool:
        """Tell whether a character is drawn in a mode that paints nothing."""
        drawn = self._object_of(self._address, index)
        return bool(drawn) and self._mode_of(drawn) in _UNPAINTED

    def is_pale(self, index: int) -> bool:
        """Tell whether a character is filled with white, or with nothing."""
        if not self._fill_of(self._address, index, *self._parts):
            return False
        red, green, blue, alpha = self._colour
        return alpha == 0 or (red >= _WHITE and green >= _WHITE and blue >= _WHITE)


@cache
def _calls() -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Return what tells of a character its object and its colour, and of an object its mode.

    They take plain addresses: to check the type of each takes longer than what PDFium does.
    """
    import pypdfium2.raw as pdfium

    address, whole = ctypes.c_void_p, ctypes.c_int

    def of(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
        return ctypes.CFUNCTYPE(result, *arguments)(ctypes.cast(function, address).value or 0)

    return (
        of(pdfium.FPDFText_GetTextObject, address, address, whole),
        of(pdfium.FPDFTextObj_GetTextRenderMode, whole, address),
        of(pdfium.FPDFText_GetFillColor, whole, address, whole, *[address] * 4),
    )
