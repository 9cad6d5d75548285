"""Japanese from top to bottom, in a font that is neither in the file nor on any machine."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.hostile_pdfs import pdf, stream

# Adobe-Japan1 has hiragana in the order of Unicode.
_FIRST_HIRAGANA, _ITS_NUMBER = "\u3041", 842
_TOP, _RIGHT, _SIZE, _GAP = 700, 500, 12, 20


def vertical_pdf(columns: Sequence[str], *, more_pages: Sequence[bytes] = ()) -> bytes:
    """Return a page of columns of hiragana, the first one at the right, and other pages.

    Args:
        columns: their text.
        more_pages: contents of further pages; ``/F1`` is Helvetica.
    """
    drawn = b"".join(_column(number, text) for number, text in enumerate(columns))
    contents = (drawn, *more_pages)
    kids = b" ".join(b"%d 0 R" % (30 + 2 * number) for number in range(len(contents)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(contents),
        20: b"<< /Type /Font /Subtype /Type0 /BaseFont /Missing-Identity-V"
        b" /Encoding /Identity-V /DescendantFonts [21 0 R] >>",
        21: b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Missing /DW 1000"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>",
        22: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    }
    for number, content in enumerate(contents):
        objects[30 + 2 * number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /V 20 0 R /F1 22 0 R >> >> >>" % (31 + 2 * number)
        )
        objects[31 + 2 * number] = stream(content)
    return pdf(objects)


def _column(number: int, text: str) -> bytes:
    codes = b"".join(b"%04x" % (_ITS_NUMBER + ord(c) - ord(_FIRST_HIRAGANA)) for c in text)
    return b"BT /V %d Tf %d %d Td <%b> Tj ET " % (_SIZE, _RIGHT - number * _GAP, _TOP, codes)
