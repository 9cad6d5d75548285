"""Pages as pictures: drawn by PDFium in shades of grey, turned, within a number of pixels."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pipelines.layout import Box

POINTS_PER_INCH = 72
MAX_PIXELS = 8_000_000  # of a picture: A3 at 200 dots per inch
MAX_SIDE_PIXELS = 12_000
MIN_SIDE_PIXELS = 16  # a smaller picture shows no text
# What the images of a page may unfold into: an A3 page at 600 dots per inch has 70 million.
MAX_IMAGE_PIXELS = 100_000_000
MAX_STAMP_CHARACTERS = 250  # of text on a scan: a stamp, a page number, a notice
MIN_SCAN_SHARE = 0.5  # of a page, that one image covers
MAX_OBJECTS = 2000  # that are looked at on one page
_MAX_DEPTH = 4  # of forms in forms
_WHITE = 255


@dataclass(frozen=True)
class Picture:
    """A page as it was drawn: one byte a pixel, 0 is black.

    Attributes:
        data: rows from the top, each ``stride`` bytes long.
        width: in pixels.
        height: in pixels.
        stride: bytes from one row to the next.
        dpi: pixels per inch of the page.
        angle: by which the page was turned clockwise, in degrees.
        page: width and height of the page in points, before it was turned.
    """

    data: bytes
    width: int
    height: int
    stride: int
    dpi: float
    angle: float
    page: tuple[float, float]

    def on_page(self, box: Box) -> Box:
        """Return where a rectangle of this picture (pixels) stands on the page (points)."""
        corners = [self._point(x, y) for x in (box.left, box.right) for y in (box.top, box.bottom)]
        width, height = self.page
        return Box(
            max(0.0, min(x for x, _ in corners)),
            max(0.0, min(y for _, y in corners)),
            min(width, max(x for x, _ in corners)),
            min(height, max(y for _, y in corners)),
        )

    def _point(self, x: float, y: float) -> tuple[float, float]:
        scale, turn = POINTS_PER_INCH / self.dpi, math.radians(-self.angle)
        across, down = (x - self.width / 2) * scale, (y - self.height / 2) * scale
        return (
            self.page[0] / 2 + across * math.cos(turn) - down * math.sin(turn),
            self.page[1] / 2 + across * math.sin(turn) + down * math.cos(turn),
        )


def draw(page: Any, dpi: float, angle: float = 0.0, ground: int = _WHITE) -> Picture | None:
    """Draw a page of pypdfium2; None: it is too small, or its images are too large.

    Args:
        page: the page.
        dpi: pixels per inch; fewer where the picture would have too many pixels.
        angle: by which the page is turned clockwise, in degrees.
        ground: level of grey around a page that is turned, of 255; where it is not that of the
            paper, its edges are taken for lines.
    """
    width, height = page.get_size()
    turn = math.radians(angle)
    cos, sin = math.cos(turn), math.sin(turn)
    wide = abs(width * cos) + abs(height * sin)
    high = abs(width * sin) + abs(height * cos)
    scale = _scale(wide, high, dpi / POINTS_PER_INCH)
    size = round(wide * scale), round(high * scale)
    if min(size) < MIN_SIDE_PIXELS or image_pixels(page) > MAX_IMAGE_PIXELS:
        return None
    across = (size[0] - scale * (cos * width - sin * height)) / 2
    down = (size[1] - scale * (sin * width + cos * height)) / 2
    matrix = (scale * cos, scale * sin, -scale * sin, scale * cos, across, down)
    data, stride = _drawn(page, size, matrix, ground)
    return Picture(data, *size, stride, scale * POINTS_PER_INCH, angle, (width, height))


def draw_part(page: Any, part: Box, dpi: float) -> Picture | None:
    """Draw what stands in a rectangle of a page; None where its images are too large.

    Args:
        page: of pypdfium2.
        part: the rectangle, as the page is shown; it becomes the page of the picture.
        dpi: pixels per inch; fewer where the picture would have too many pixels.
    """
    wide, high = part.right - part.left, part.bottom - part.top
    scale = _scale(wide, high, dpi / POINTS_PER_INCH)
    size = max(1, math.ceil(wide * scale)), max(1, math.ceil(high * scale))
    if not scale or image_pixels(page) > MAX_IMAGE_PIXELS:
        return None
    matrix = (scale, 0.0, 0.0, scale, -part.left * scale, -part.top * scale)
    data, stride = _drawn(page, size, matrix, _WHITE)
    return Picture(data, *size, stride, scale * POINTS_PER_INCH, 0.0, (wide, high))


def scale_within(page: Any, scale: float) -> float:
    """Return pixels per point: as wanted, or fewer where the picture would be too large."""
    width, height = page.get_size()
    return _scale(width, height, scale)


def draw_in_colour(page: Any, scale: float) -> tuple[int, int, bytes] | None:
    """Draw a page with its annotations: width and height in pixels, red, green, blue of each.

    None: it is too small, or its images are too large.

    Args:
        page: of pypdfium2.
        scale: pixels per point; fewer where the picture would have too many pixels.
    """
    import pypdfium2

    applied = scale_within(page, scale)
    width, height = (round(applied * side) for side in page.get_size())
    if min(width, height) < MIN_SIDE_PIXELS or image_pixels(page) > MAX_IMAGE_PIXELS:
        return None
    with closing(
        pypdfium2.PdfBitmap.new_native(width, height, pypdfium2.raw.FPDFBitmap_BGR)
    ) as drawn:
        drawn.fill_rect((_WHITE, _WHITE, _WHITE, 255), 0, 0, width, height)
        flags = pypdfium2.raw.FPDF_ANNOT | pypdfium2.raw.FPDF_REVERSE_BYTE_ORDER
        pypdfium2.raw.FPDF_RenderPageBitmap(drawn, page, 0, 0, width, height, 0, flags)
        data, row = bytes(drawn.buffer), 3 * width
        stride = drawn.stride
    return width, height, b"".join(data[at * stride : at * stride + row] for at in range(height))


def _drawn(
    page: Any, size: tuple[int, int], matrix: tuple[float, ...], ground: int
) -> tuple[bytes, int]:
    """Return the pixels of a page that is drawn by a matrix, and the length of a row."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    bitmap = pypdfium2.PdfBitmap.new_native(*size, pdfium.FPDFBitmap_Gray)
    try:
        bitmap.fill_rect((ground, ground, ground, 255), 0, 0, *size)
        by, clip = pdfium.FS_MATRIX(*matrix), pdfium.FS_RECTF(0, 0, *size)
        pdfium.FPDF_RenderPageBitmapWithMatrix(bitmap, page, by, clip, pdfium.FPDF_ANNOT)
        return bytes(bitmap.buffer), bitmap.stride
    finally:
        bitmap.close()


def _scale(wide: float, high: float, wanted: float) -> float:
    """Return pixels per point, within the limits; 0 for a page without a size."""
    if not (0 < wide < math.inf and 0 < high < math.inf):
        return 0.0
    return min(wanted, MAX_SIDE_PIXELS / max(wide, high), math.sqrt(MAX_PIXELS / (wide * high)))


def image_pixels(page: Any) -> int:
    """Return how many pixels the images of a page have together."""
    import ctypes

    import pypdfium2.raw as pdfium

    total, width, height = 0, ctypes.c_uint(), ctypes.c_uint()
    for one in _images(page):
        if pdfium.FPDFImageObj_GetImagePixelSize(one, width, height):
            total += width.value * height.value
    return total


def is_scan(page: Any, text: str) -> bool:
    """Tell whether a page is a picture with little more text on it than a stamp."""
    if len("".join(text.split())) > MAX_STAMP_CHARACTERS:
        return False
    width, height = page.get_size()
    covered = max((_covered(one, width, height) for one in _images(page)), default=0.0)
    return bool(covered >= MIN_SCAN_SHARE * width * height > 0)


def _covered(image: Any, width: float, height: float) -> float:
    """Return the area (square points) of a page that an image covers; its box may be turned."""
    import ctypes

    import pypdfium2.raw as pdfium

    edges = [ctypes.c_float() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetBounds(image, *edges):
        return 0.0
    left, bottom, right, top = (edge.value for edge in edges)
    # A page that is shown turned has its sides exchanged.
    longest = max(width, height)
    across, up = min(right, longest) - max(left, 0.0), min(top, longest) - max(bottom, 0.0)
    return max(0.0, across) * max(0.0, up)


def _images(page: Any) -> list[Any]:
    """Return the images of a page, also those within forms."""
    import pypdfium2.raw as pdfium

    found: list[Any] = []
    waiting = [
        (pdfium.FPDFPage_GetObject(page, index), 0)
        for index in range(min(MAX_OBJECTS, pdfium.FPDFPage_CountObjects(page)))
    ]
    seen = 0
    while waiting and seen < MAX_OBJECTS:
        seen += 1
        one, depth = waiting.pop()
        kind = pdfium.FPDFPageObj_GetType(one)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            found.append(one)
        elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _MAX_DEPTH:
            count = min(MAX_OBJECTS, pdfium.FPDFFormObj_CountObjects(one))
            waiting += [(pdfium.FPDFFormObj_GetObject(one, i), depth + 1) for i in range(count)]
    return found
