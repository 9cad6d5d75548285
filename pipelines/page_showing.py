"""One page of a PDF: where quotes stand on it, and its picture with them marked.

Runs in the process that reads PDFs (``pipelines.worker``), within the limits of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from pipelines.errors import EncryptedError, ReadError
from pipelines.layout import Box
from pipelines.ocr import Ocr
from pipelines.pdfium_glyphs import box_of, frame_of
from pipelines.pdfium_reader import leaves_text_out
from pipelines.pictures import draw_in_colour, scale_within
from pipelines.png import CHANNELS
from pipelines.quote_places import CharacterStream, QuotePlace, place_of_quote, stream_of

MAX_QUOTES = 200
_BLUE = 2  # of red, green, blue
# A marker of yellow takes the blue out of what is below it, and leaves it readable.
_MARKED = bytes(round(0.35 * level) for level in range(256))
_EDGE = bytes((224, 120, 0))


@dataclass(frozen=True)
class PageRequest:
    """What is wanted of a page.

    Attributes:
        page: its physical number, from 1.
        quotes: texts that stand on it, in whole or, over a page break, in part.
        scale: pixels per point of its picture; 0: none is wanted.
        ocr: reads the page where it is a picture; None: nothing does.
    """

    page: int
    quotes: tuple[str, ...]
    scale: float = 0.0
    ocr: Ocr | None = None


@dataclass(frozen=True)
class Pixels:
    """A picture: red, green and blue of each pixel, row by row from the top."""

    width: int
    height: int
    data: bytes


@dataclass(frozen=True)
class ShownPage:
    """A page with its quotes.

    Attributes:
        width, height: in points, as it is shown.
        places: of each quote.
        pixels: its picture with them marked; None: none was wanted.
    """

    width: float
    height: float
    places: tuple[QuotePlace, ...]
    pixels: Pixels | None = None


def show_page(
    data: bytes, passwords: Sequence[str], request: PageRequest, seconds_per_ocr_page: float
) -> ShownPage:
    """Return a page with its quotes.

    Raises:
        ReadError: the file has no such page, or it cannot be drawn.
        EncryptedError: none of the passwords opens the file.
    """
    with _opened_page(data, passwords, request.page) as page:
        frame = frame_of(page)
        width, height = frame.size
        places = _places(request.quotes, _characters(page))
        for others in _further(data, passwords, request, page, seconds_per_ocr_page):
            if not any(place.rest for place in places):
                break
            pairs = zip(places, _places(request.quotes, others()), strict=True)
            places = tuple(min(pair, key=lambda place: len(place.rest)) for pair in pairs)
        pixels = _picture(page, request.scale, places) if request.scale else None
    return ShownPage(width, height, places, pixels)


def _places(quotes: Sequence[str], page: CharacterStream) -> tuple[QuotePlace, ...]:
    return tuple(place_of_quote(quote, page) for quote in quotes)


@contextmanager
def _opened_page(data: bytes, passwords: Sequence[str], number: int) -> Iterator[Any]:
    import pypdfium2

    for password in (None, *passwords):
        try:
            pdf = pypdfium2.PdfDocument(data, password=password)
        except pypdfium2.PdfiumError as error:
            refused = error
            continue
        break
    else:
        if "password" in str(refused).lower():
            raise EncryptedError("it needs a password", hint="give the password it was read with")
        raise ReadError(f"it cannot be opened: {refused}", hint="open it in a viewer")
    with closing(pdf):
        if not 0 < number <= len(pdf):
            raise ReadError(
                f"it has {len(pdf)} pages, and no page {number}", hint="ingest it again"
            )
        try:
            page = pdf[number - 1]
        except pypdfium2.PdfiumError as error:
            raise ReadError(f"page {number} does not load", hint="open it in a viewer") from error
        with closing(page):
            yield page


def _characters(page: Any) -> CharacterStream:
    """Return the characters that PDFium finds on a page, in the order that it draws them."""
    import pypdfium2.raw as pdfium

    frame = frame_of(page)
    with closing(page.get_textpage()) as textpage:
        placed = []
        for index in range(textpage.count_chars()):
            box = box_of(textpage, frame, index)
            code = pdfium.FPDFText_GetUnicode(textpage, index)
            if box is not None and 0 < code <= 0x10FFFF and not 0xD800 <= code < 0xE000:
                placed.append((chr(code), box))
    return stream_of(placed)


def _further(
    data: bytes, passwords: Sequence[str], request: PageRequest, page: Any, seconds: float
) -> Iterator[Callable[[], CharacterStream]]:
    """Yield what else may know the characters of a page, each asked only if it is needed."""

    def with_stand_in_font() -> CharacterStream:
        from pipelines.stand_in_font import MAX_COPIED_BYTES
        from pipelines.stand_in_font import with_stand_in_font as copied

        if len(data) > MAX_COPIED_BYTES:
            return CharacterStream("", ())
        for password in (None, *passwords):
            try:
                copy = copied(data, password)
            except ReadError:
                continue
            with _opened_page(copy, (), request.page) as again:
                return _characters(again)
        return CharacterStream("", ())

    def by_ocr() -> CharacterStream:
        from pipelines.recognition import recognised
        from pipelines.scanned import tesseract

        found = recognised(page, tesseract(request.ocr), seconds) if request.ocr else None
        words = found.layout.words if found is not None else ()
        text = found.text if found is not None else ""
        return stream_of(
            (character, word.box) for word in words for character in text[word.start : word.end]
        )

    if request.ocr is not None:
        yield by_ocr
    with closing(page.get_textpage()) as textpage:
        text = textpage.get_text_range()
    if leaves_text_out(page, text):
        yield with_stand_in_font


def _picture(page: Any, scale: float, places: Sequence[QuotePlace]) -> Pixels:
    drawn = draw_in_colour(page, scale)
    if drawn is None:
        raise ReadError(
            "the page cannot be drawn: it is too small, or its images are too large",
            hint="open it in a viewer",
        )
    width, height, data = drawn
    pixels = bytearray(data)
    applied = scale_within(page, scale)
    for place in places:
        for box in place.boxes:
            _mark(pixels, width, height, box, applied)
    return Pixels(width, height, bytes(pixels))


def _mark(pixels: bytearray, width: int, height: int, box: Box, scale: float) -> None:
    """Lay a marker over a rectangle, with an edge that is seen on any ground."""
    left, right = (min(max(round(x * scale), 0), width - 1) for x in (box.left, box.right))
    top, bottom = (min(max(round(y * scale), 0), height - 1) for y in (box.top, box.bottom))
    for y in range(top, bottom + 1):
        first, last = CHANNELS * (y * width + left), CHANNELS * (y * width + right + 1)
        row = slice(first + _BLUE, last, CHANNELS)
        pixels[row] = pixels[row].translate(_MARKED)
        if y in (top, bottom):
            pixels[first:last] = _EDGE * (right - left + 1)
        pixels[first : first + CHANNELS] = pixels[last - CHANNELS : last] = _EDGE
