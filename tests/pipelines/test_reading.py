import pickle

import pytest

from pipelines.errors import (
    DamagedError,
    EmptyFileError,
    EncryptedError,
    NoTextError,
    NotPdfError,
    ReadError,
    TooLargeError,
)
from pipelines.readers import Limits
from pipelines.reading import READERS, read_data
from tests.support.hostile_pdfs import KINDS
from tests.support.page_states import (
    pdf_of_every_state,
    with_a_damaged_page,
    without_unicode_map,
    xfa_placeholder,
)
from tests.support.pdfs import make_pdf
from tests.support.vertical_pdfs import vertical_pdf

PLAIN = b"BT /F1 12 Tf 72 700 Td (The valve opens at 4.2 bar.) Tj ET"
page_tree_cycle = KINDS["page tree cycle"]
readers = pytest.mark.parametrize("reader", READERS)


def texts(raw):
    return [page.text.strip() for page in raw.pages]


def read(path, reader="pypdfium2", passwords=(), limits=None):
    return read_data(path.read_bytes(), reader, passwords, limits or Limits())


@readers
def test_a_file_is_its_pages_and_the_reader_that_could(tmp_path, reader):
    raw, read_by = read(make_pdf(tmp_path / "a.pdf", ["One.", "Two."]), reader)
    assert texts(raw) == ["One.", "Two."]
    assert read_by == reader


@readers
def test_an_empty_user_password_opens_an_aes_file(tmp_path, reader):
    path = make_pdf(tmp_path / "sealed.pdf", ["Net sales grew."], password="")
    raw, read_by = read(path, reader)
    assert texts(raw) == ["Net sales grew."]
    assert read_by == reader


@readers
@pytest.mark.parametrize("own", [None, ""])
def test_a_file_that_opens_without_a_password_takes_any(tmp_path, reader, own):
    path = make_pdf(tmp_path / "open.pdf", ["Net sales grew."], password=own)
    raw, read_by = read(path, reader, ["of another file"])
    assert (texts(raw), read_by) == (["Net sales grew."], reader)


@readers
def test_a_password_opens_the_file_it_belongs_to(tmp_path, reader):
    path = make_pdf(tmp_path / "locked.pdf", ["Net sales grew."], password="open sesame")
    raw, _ = read(path, reader, ["wrong", "open sesame"])
    assert texts(raw) == ["Net sales grew."]
    with pytest.raises(EncryptedError, match="the password given"):
        read(path, reader, ["wrong"])


def _truncated(path):
    data = make_pdf(path, ["Some text."] * 3).read_bytes()
    path.write_bytes(data[: len(data) // 4])


def _locked(path):
    make_pdf(path, ["Some text."], password="secret")


def _scan(path):
    make_pdf(path, ["", ""], scanned=(1, 2))


BAD_FILES = [
    (_locked, EncryptedError, "password"),
    (_truncated, DamagedError, "damaged"),
    (lambda path: path.write_bytes(b""), EmptyFileError, "0 bytes"),
    (lambda path: path.write_bytes(b"<!DOCTYPE html><p>404"), NotPdfError, "HTML"),
    (lambda path: path.write_bytes(b"PK\x03\x04docx"), NotPdfError, "office"),
    (lambda path: path.write_bytes(b"\x89PNG\r\n"), NotPdfError, "image"),
    (lambda path: path.write_bytes(b"plain words"), NotPdfError, "does not begin like a PDF"),
    (lambda path: path.write_bytes(b"%PDF-1.7\n" + b"\x00" * 500), DamagedError, "damaged"),
    (_scan, NoTextError, "none of its 2 pages"),
]


@readers
@pytest.mark.parametrize(("make", "error", "reason"), BAD_FILES)
def test_each_bad_file_has_its_own_reason(tmp_path, reader, make, error, reason):
    """Case 20."""
    path = tmp_path / "bad.pdf"
    make(path)
    with pytest.raises(ReadError) as caught:
        read(path, reader)
    assert type(caught.value) is error
    assert reason in caught.value.message
    assert caught.value.hint
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    "limits", [Limits(pages=2), Limits(page_characters=10), Limits(characters=30)]
)
@readers
def test_a_file_that_unfolds_too_far_is_refused(tmp_path, reader, limits):
    path = make_pdf(tmp_path / "bomb.pdf", ["Some words of text."] * 3)
    with pytest.raises(TooLargeError, match="limit"):
        read(path, reader, limits=limits)


def test_the_other_reader_reads_what_one_cannot(tmp_path, monkeypatch):
    def broken(data, password, limits):
        raise DamagedError("it is damaged")

    monkeypatch.setattr("pipelines.reading.READERS", READERS | {"pypdfium2": broken})
    raw, read_by = read(make_pdf(tmp_path / "odd.pdf", ["Some text."]))
    assert texts(raw) == ["Some text."]
    assert read_by == "pypdf"


def test_the_message_of_a_damaged_file_goes_into_a_sentence(tmp_path):
    path = make_pdf(tmp_path / "cut.pdf", ["The valve opens at a pressure of 4.2 bar."])
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ReadError) as raised:
        read(path)
    assert not raised.value.message.endswith(".")


@readers
def test_each_page_says_whether_it_has_text_or_why_it_has_none(reader):
    raw, read_by = read_data(pdf_of_every_state(), reader, (), Limits())
    assert read_by == reader
    assert [page.state for page in raw.pages] == ["text", "undecodable", "image", "empty"]
    assert texts(raw) == ["The valve opens at 4.2 bar.", "", "", ""]


@readers
def test_the_placeholder_of_an_xfa_form_is_no_text(reader):
    with pytest.raises(NoTextError, match="none of its 1 pages has text: 1 XFA form") as caught:
        read_data(xfa_placeholder(), reader, (), Limits())
    assert "print it to a PDF" in caught.value.hint


@readers
def test_a_file_of_codes_is_refused_as_undecodable(reader):
    with pytest.raises(NoTextError, match="1 characters that cannot be decoded"):
        read_data(without_unicode_map(), reader, (), Limits())


def test_bytes_before_the_header_of_a_file_do_no_harm(tmp_path):
    data = make_pdf(tmp_path / "a.pdf", ["Net sales grew."]).read_bytes()
    for before in (b"\0" * 1019, b"\0" * 1020, b"From: ada\r\n" * 500):
        raw, read_by = read_data(before + data, "pypdfium2", (), Limits())
        assert (texts(raw), read_by) == (["Net sales grew."], "pypdfium2")


def test_a_web_page_that_shows_a_header_of_a_pdf_is_a_web_page():
    page = b"<!doctype html>" + b" " * 2000 + b"<pre>%PDF-1.7</pre>"
    with pytest.raises(NotPdfError, match="HTML"):
        read_data(page, "pypdfium2", (), Limits())


@readers
def test_a_file_that_is_cut_off_at_its_end_is_read(tmp_path, reader):
    data = make_pdf(tmp_path / "a.pdf", ["Net sales grew.", "Prices fell."]).read_bytes()
    assert data.count(b"endobj") > 5
    for end in (data.rindex(b"startxref"), data.rindex(b"%%EOF"), data.rindex(b"xref\n0 ") + 9):
        raw, _ = read_data(data[:end], reader, (), Limits())
        assert texts(raw) == ["Net sales grew.", "Prices fell."]


@readers
def test_a_file_that_may_lack_objects_is_damaged(tmp_path, reader):
    data = make_pdf(tmp_path / "a.pdf", ["Net sales grew.", "Prices fell."]).read_bytes()
    with pytest.raises(DamagedError):
        read_data(data[: data.rindex(b"endobj") + 6], reader, (), Limits())


def test_the_guess_of_a_title_costs_no_file():
    raw, _ = read_data(with_a_damaged_page(first=True), "pypdfium2", (), Limits())
    assert [page.state for page in raw.pages] == ["damaged", "text", "text"]
    assert raw.largest == ""


def test_codes_of_glyphs_are_no_title():
    raw, _ = read_data(vertical_pdf(["あいう"], more_pages=[PLAIN]), "pypdf", (), Limits())
    assert raw.largest == ""


@readers
def test_what_a_library_raises_is_an_error_of_ours_with_its_reason(tmp_path, monkeypatch, reader):
    def surprised(data, password, limits):
        raise UnicodeError("no such code")

    data = make_pdf(tmp_path / "a.pdf", ["Net sales grew."]).read_bytes()
    monkeypatch.setattr("pipelines.reading.READERS", READERS | {reader: surprised})
    raw, read_by = read_data(data, reader, (), Limits())
    assert (texts(raw), read_by != reader) == (["Net sales grew."], True)
    monkeypatch.setattr("pipelines.reading.READERS", dict.fromkeys(READERS, surprised))
    with pytest.raises(DamagedError, match=f"{reader} cannot read it: UnicodeError: no such code"):
        read_data(data, reader, (), Limits())


def test_the_reason_is_not_that_of_the_file_before(tmp_path):
    locked = make_pdf(tmp_path / "locked.pdf", ["Net sales grew."], password="secret")
    with pytest.raises(EncryptedError):
        read(locked)
    for data in (b"%PDF-1.7\n" + b"\0" * 500, page_tree_cycle()):
        with pytest.raises(DamagedError) as raised:
            read_data(data, "pypdfium2", (), Limits())
        assert "password" not in str(raised.value)


def test_a_locked_file_that_one_reader_calls_damaged_is_locked(tmp_path, monkeypatch):
    def broken(data, password, limits):
        raise DamagedError("it is damaged")

    monkeypatch.setattr("pipelines.reading.READERS", READERS | {"pypdfium2": broken})
    with pytest.raises(EncryptedError, match="needs a password"):
        read(make_pdf(tmp_path / "locked.pdf", ["Net sales grew."], password="secret"))
