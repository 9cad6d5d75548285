"""PDFs whose pages are each in another state: text, undecodable, image, empty, XFA form."""

from __future__ import annotations

from tests.support.hostile_pdfs import Objects, pdf, stream

_CODES = b"".join(b"%04x" % (byte - 29) for byte in b"The annual plan of 2019 for the works.")
_PLAIN = b"BT /F2 12 Tf 72 700 Td (The valve opens at 4.2 bar.) Tj ET"
_WAIT = b"BT /F2 12 Tf 72 700 Td (Please wait... your viewer cannot display this form.) Tj ET"
ODD = b"BT /F1 12 Tf 72 700 Td <" + _CODES + b"> Tj ET"
_BOX = b"72 72 200 200 re f"
_PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
    b" /Resources << /Font << /F1 20 0 R /F2 22 0 R >> >> >>"
)


def pdf_of_every_state() -> bytes:
    """Return four pages: text, codes of glyphs, a drawing, nothing."""
    return _pages(_PLAIN, ODD, _BOX, b"")


def without_unicode_map() -> bytes:
    """Return a page whose font maps no glyph to a character."""
    return _pages(ODD)


def without_map(number: int) -> Objects:
    """Return the objects of a font that maps no glyph to a character; it is object ``number``."""
    return {
        number: b"<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+Odd /Encoding /Identity-H"
        b" /DescendantFonts [21 0 R] >>",
        21: b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /AAAAAA+Odd /DW 500"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
    }


def xfa_placeholder() -> bytes:
    """Return a dynamic XFA form: its page asks for another viewer."""
    form = b"/NeedsRendering true /AcroForm << /Fields [] /XFA 24 0 R >>"
    return _pages(_WAIT, catalog=form)


def with_a_damaged_page(*, first: bool = False) -> bytes:
    """Return three pages, the second of which, or the first, is no page object."""
    page = _PAGE % (31 if first else 33)
    return _pages(_PLAIN, _PLAIN, _PLAIN).replace(page, b"(x)".ljust(len(page)))


def _pages(*contents: bytes, catalog: bytes = b"") -> bytes:
    kids = b" ".join(b"%d 0 R" % (30 + 2 * number) for number in range(len(contents)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R " + catalog + b" >>",
        2: b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(contents),
        **without_map(20),
        22: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        24: stream(b'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"></xdp:xdp>'),
    }
    for number, content in enumerate(contents):
        objects[30 + 2 * number] = _PAGE % (31 + 2 * number)
        objects[31 + 2 * number] = stream(content)
    return pdf(objects)
