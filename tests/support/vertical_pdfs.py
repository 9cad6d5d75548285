"""Japanese from top to bottom, in a font that is neither in the file nor on any machine."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.hostile_pdfs import pdf, stream

# Adobe-Japan1 has hiragana in the order of Unicode.
_FIRST_HIRAGANA, _ITS_NUMBER = "\u3041", 842
TOP, RIGHT, SIZE, GAP = 700, 500, 12, 20


def vertical_pdf(columns: Sequence[str], *, more_pages: Sequence[bytes] = ()) -> bytes:
    """Return a page of columns of hiragana, the first one at the right, and other pages.

    Args:
        columns: their text.
        more_pages: contents of further pages; ``/F1`` is Helvetica.
    """
    drawn = b" ".join(down(RIGHT - number * GAP, TOP, text) for number, text in enumerate(columns))
    return vertical_pages([drawn, *more_pages])


def down(x: float, y: float, text: str, size: float = SIZE) -> bytes:
    """Return what draws hiragana from a place downwards."""
    return b"BT /V %g Tf %g %g Td <%b> Tj ET" % (size, x, y, _codes(text))


def level(x: float, y: float, text: str, size: float = SIZE) -> bytes:
    """Return what draws hiragana from a place to the right."""
    return b"BT /H %g Tf %g %g Td <%b> Tj ET" % (size, x, y, _codes(text))


def vertical_pages(contents: Sequence[bytes]) -> bytes:
    """Return a PDF of pages; ``/V`` is the missing font downwards, ``/H`` level."""
    kids = b" ".join(b"%d 0 R" % (30 + 2 * number) for number in range(len(contents)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(contents),
        20: b"<< /Type /Font /Subtype /Type0 /BaseFont /Missing-Identity-V"
        b" /Encoding /Identity-V /DescendantFonts [21 0 R] >>",
        21: b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Missing /DW 1000"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>",
        23: b"<< /Type /Font /Subtype /Type0 /BaseFont /Missing-Identity-H"
        b" /Encoding /Identity-H /DescendantFonts [21 0 R] >>",
        22: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    }
    for number, content in enumerate(contents):
        objects[30 + 2 * number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /V 20 0 R /H 23 0 R /F1 22 0 R >> >> >>" % (31 + 2 * number)
        )
        objects[31 + 2 * number] = stream(content)
    return pdf(objects)


def _codes(text: str) -> bytes:
    return b"".join(b"%04x" % (_ITS_NUMBER + ord(c) - ord(_FIRST_HIRAGANA)) for c in text)
