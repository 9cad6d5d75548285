"""Vertical text in fonts that are missing."""

import io

import pytest
from pypdf import PdfReader, PdfWriter

from pipelines import stand_in_font
from pipelines.errors import DamagedError
from pipelines.stand_in_font import pages_with_stand_in_font, square_font, with_stand_in_font
from tests.support.page_states import pdf_of_every_state
from tests.support.vertical_pdfs import vertical_pdf

COLUMNS = ["あいうえおかきくけこ", "さしすせそたちつてと", "なにぬねの"]


def test_columns_in_a_missing_font_are_read_from_right_to_left():
    pages = list(pages_with_stand_in_font(vertical_pdf(COLUMNS), None, [0], 1))
    assert [page.text for page in pages] == ["\n".join(COLUMNS)]


def test_a_locked_file_is_copied_without_its_password():
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(vertical_pdf(COLUMNS))))
    writer.encrypt("secret", algorithm="AES-256")
    locked = io.BytesIO()
    writer.write(locked)
    (page,) = pages_with_stand_in_font(locked.getvalue(), "secret", [0], 1)
    assert page.text == "\n".join(COLUMNS)


def test_a_font_that_is_no_part_of_a_known_collection_stays():
    copy = PdfReader(io.BytesIO(with_stand_in_font(vertical_pdf(COLUMNS), None)))
    fonts = copy.pages[0]["/Resources"]["/Font"]
    vertical = fonts["/V"]["/DescendantFonts"][0]
    assert vertical["/FontDescriptor"]["/FontFile2"].get_data() == square_font()
    assert "/FontDescriptor" not in fonts["/F1"]


def test_a_large_file_is_not_copied(monkeypatch):
    monkeypatch.setattr(stand_in_font, "MAX_COPIED_BYTES", 100)
    assert list(pages_with_stand_in_font(vertical_pdf(COLUMNS), None, [0], 1)) == []


def test_readers_that_count_different_pages_are_not_mixed():
    with pytest.raises(DamagedError, match="finds 3 pages in it, another 4"):
        list(pages_with_stand_in_font(pdf_of_every_state(), None, [0], 3))
