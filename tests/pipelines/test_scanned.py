"""Pages that are pictures are read by OCR, and no others."""

import pytest

from pipelines.readers import Limits
from pipelines.reading import read_data
from pipelines.scanned import read_scanned
from tests.support.forms import pdf_with
from tests.support.page_states import pdf_of_every_state
from tests.support.pdfs import make_pdf
from tests.support.scans import FakeEngine, scan_of

LINES = ["Net sales grew by 4 % in the second quarter,", "and the dividend was paid in May."]


def read(data, engine=None, passwords=(), reader="pypdfium2", limits=None):
    """Return the pages as readers, and then OCR, read them, and what was told of progress."""
    told, limits = [], limits or Limits()
    engine = engine or FakeEngine({"eng": LINES})

    def recognise(raw, data):
        return read_scanned(data, passwords, raw, engine, limits, lambda *at: told.append(at))

    raw, _ = read_data(data, reader, passwords, limits, recognise)
    return raw.pages, told


@pytest.fixture
def text(tmp_path):
    return make_pdf(tmp_path / "text.pdf", ["\n".join(LINES)])


def test_pictures_and_undecodable_pages_are_read_and_the_others_stay():
    pages, told = read(pdf_of_every_state())
    assert [page.state for page in pages] == ["text", "ocr", "ocr", "empty"]
    assert pages[1].text == pages[2].text == "\n".join(LINES)
    assert pages[1].confidence == pytest.approx(0.9)
    assert pages[0].confidence is None
    assert told == [(1, 2), (2, 2)]


def test_a_file_of_pictures_alone_is_read(text):
    pages, _ = read(scan_of(text))
    assert [(page.state, page.text) for page in pages] == [("ocr", "\n".join(LINES))]


def test_a_scan_with_a_stamp_of_text_is_read_in_full(text):
    data = scan_of(text, stamp="RECEIVED 3 MAY")
    without, _ = read_data(data, "pypdfium2", (), Limits())
    assert [(page.state, page.text.strip()) for page in without.pages] == [
        ("scan", "RECEIVED 3 MAY")
    ]
    pages, _ = read(data)
    assert [(page.state, page.text) for page in pages] == [("ocr", "\n".join(LINES))]


def test_a_page_at_which_the_engine_fails_stays_and_the_others_are_read(tmp_path):
    class Failing(FakeEngine):
        def words(self, *picture):
            if not self.shown:
                self.shown.append(picture)
                raise RuntimeError("Failed to recognize")
            return super().words(*picture)

    path = make_pdf(tmp_path / "x.pdf", ["One.", "", ""], scanned=[2, 3])
    pages, _ = read(path.read_bytes(), Failing({"eng": LINES}))
    assert [page.state for page in pages] == ["text", "image", "ocr"]


GREY_PICTURE = b"q 612 0 0 792 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"
NOTE = b"/Subtype/Text/Contents(Paid on 4 May by cheque 117.)"


@pytest.mark.parametrize(
    ("seen", "page"),
    [
        (LINES, ("ocr", "\n".join(LINES) + "\n\nPaid on 4 May by cheque 117.")),
        (
            [*LINES, "Paid on 4 May by cheque 117."],
            ("ocr", "\n".join([*LINES, "Paid on 4 May by cheque 117."])),
        ),
        ([], ("text", "Paid on 4 May by cheque 117.")),
    ],
    ids=["beside the note", "the note too", "nothing"],
)
def test_a_note_on_a_scan_stays_beside_what_ocr_reads(seen, page):
    (found,), _ = read(pdf_with([NOTE], content=GREY_PICTURE), FakeEngine({"eng": seen}))
    assert (found.state, found.text) == page


@pytest.mark.parametrize("seen", [["Annual report of the whole group 2024"], []])
def test_a_picture_with_its_title_stays_as_it_is(text, seen):
    """A cover is a photograph with a few words of text: OCR sees little else."""
    data = scan_of(text, stamp="Annual report of the whole group 2024")
    pages, _ = read(data, FakeEngine({"eng": seen}))
    assert [(page.state, page.text.strip()) for page in pages] == [
        ("text", "Annual report of the whole group 2024")
    ]


def test_a_page_that_ocr_cannot_read_stays_what_it_was():
    pages, _ = read(pdf_of_every_state(), FakeEngine({"eng": []}))
    assert [page.state for page in pages] == ["text", "undecodable", "image", "empty"]


def test_the_language_of_a_page_is_tried_first_on_the_next(text):
    texts = {"eng": LINES, "jpn": ["これは日本語の文書である"]}
    engine = FakeEngine(texts, {"eng": 0.3})
    read(pdf_of_every_state(), engine)
    assert [language for language, _ in engine.shown] == ["eng", "jpn", "jpn"]


def test_an_encrypted_file_is_opened_with_the_password(tmp_path):
    path = make_pdf(tmp_path / "x.pdf", ["One.", ""], scanned=[2], password="open sesame")
    pages, _ = read(path.read_bytes(), passwords=("wrong", "open sesame"))
    assert [page.state for page in pages] == ["text", "ocr"]


def test_a_file_that_pdfium_does_not_open_stays_as_it_was(tmp_path):
    data = make_pdf(tmp_path / "x.pdf", ["One.", ""], scanned=[2]).read_bytes()
    raw, _ = read_data(data, "pypdfium2", (), Limits())
    engine = FakeEngine({"eng": LINES})
    assert read_scanned(b"broken", (), raw, engine, Limits(), lambda *_: None) == raw


def test_a_page_more_than_pdfium_knows_stays_as_it_was(tmp_path):
    data = make_pdf(tmp_path / "x.pdf", ["", ""], scanned=[1, 2]).read_bytes()
    raw, _ = read_data(make_pdf(tmp_path / "y.pdf", ["T"] * 3).read_bytes(), "pypdf", (), Limits())
    pages = tuple(type(page)(page.label, "", "image") for page in raw.pages)
    more = type(raw)(pages, "", "")
    found = read_scanned(data, (), more, FakeEngine({"eng": LINES}), Limits(), lambda *_: None)
    assert [page.state for page in found.pages] == ["ocr", "ocr", "image"]


def test_each_reading_gets_a_part_of_the_time_of_a_page():
    engine = FakeEngine({"eng": LINES})
    read(pdf_of_every_state(), engine, limits=Limits(seconds_per_ocr_page=40))
    assert engine.seconds == [10, 10]


def test_a_scan_with_bytes_before_its_header_is_read(text):
    pages, _ = read(b"From: scanner\r\n" * 100 + scan_of(text))
    assert [page.state for page in pages] == ["ocr"]
