"""Scans made to harm: OCR reads what it can, within its limits, and costs no page its text."""

import io

import pytest
from pypdf import PdfWriter

from pipelines.isolated import Reading, read_file
from pipelines.ocr import find_ocr
from pipelines.pictures import Picture
from pipelines.readers import Limits, PageText, RawPdf
from pipelines.scanned import read_scanned
from tests.support.hostile_pdfs import one_page, page, pdf, stream
from tests.support.pdfs import make_pdf
from tests.support.scans import FakeEngine, pdf_of_pictures, scan_of, varied_lines

DOT = Picture(b"\x80" * 400, 20, 20, 20, 72, 0.0, (20, 20))
BOX = b"72 72 200 200 re f"


def drawing(box: bytes) -> bytes:
    return pdf(one_page(BOX) | {4: page(box=box)})


def broken_jpeg() -> bytes:
    image = b"<</Type/XObject/Subtype/Image/Width 800/Height 800/ColorSpace/DeviceRGB"
    image += (
        b"/BitsPerComponent 8/Filter/DCTDecode/Length 9>>stream\n\xff\xd8\xff\xe0junk!\nendstream"
    )
    shown = stream(b"q 612 0 0 792 0 0 cm /I Do Q")
    return pdf(one_page() | {4: page(b"/XObject<</I 6 0 R>>"), 5: shown, 6: image})


def image_of(width: int, height: int) -> bytes:
    return pdf_of_pictures([DOT], extra=b"/Width %d/Height %d" % (width, height))


BAD = {
    "image of 10 billion pixels": lambda: image_of(100_000, 100_000),
    "image of 4 billion columns": lambda: image_of(2**32 - 1, 1),
    "image of no pixels": lambda: image_of(0, 0),
    "broken JPEG": broken_jpeg,
    "page without a size": lambda: drawing(b"[0 0 0 0]"),
    "page of a million points": lambda: drawing(b"[0 0 1000000 1000000]"),
    "page a million points high": lambda: drawing(b"[0 0 612 1000000]"),
    "page of no numbers": lambda: drawing(b"[/a /b (c) null]"),
    "page thin as a line": lambda: drawing(b"[0 0 612 0.001]"),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of one file: text, each bad page, a good scan."""
    folder = tmp_path_factory.mktemp("scans")
    writer = PdfWriter(make_pdf(folder / "text.pdf", ["A page of text."]))
    text = make_pdf(folder / "page.pdf", ["\n".join(varied_lines(8))])
    for data in (*(make() for make in BAD.values()), scan_of(text)):
        writer.append(io.BytesIO(data))
    writer.write(folder / "all.pdf")
    return read_file(folder / "all.pdf", reading=Reading(ocr=find_ocr("on"))).raw.pages


def test_a_good_scan_after_bad_ones_is_read_and_text_stays(pages):
    assert len(pages) == len(BAD) + 2
    assert (pages[0].state, pages[0].text) == ("text", "A page of text.")
    assert (pages[-1].state, pages[-1].text) == ("ocr", "\n".join(varied_lines(8)))


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_page_has_no_text_and_its_reason(pages, kind):
    bad = pages[1 + list(BAD).index(kind)]
    assert bad.text == ""
    assert bad.state in ("image", "empty", "damaged")


def test_what_an_engine_makes_up_is_cleaned():
    class Liar(FakeEngine):
        def words(self, picture, language, seconds):
            return [
                type(word)(f"\x00\ud800{word.text}\x1b[2J\n", word.box, 7.0, word.line)
                for word in super().words(picture, language, seconds)
            ]

    data = pdf_of_pictures([DOT])
    raw = RawPdf((PageText("1", "", "image"),), "", "")
    liar = Liar({"eng": ["Net sales grew"]})
    found = read_scanned(data, (), raw, liar, Limits(), lambda *_: None)
    assert found.pages[0].text == "Net[2J sales[2J grew[2J"
    assert found.pages[0].confidence == 1.0
