import pickle

import pytest

from pipelines.errors import (
    ConfigError,
    DamagedError,
    EmptyFileError,
    EncryptedError,
    NoTextError,
    NotPdfError,
    ReadError,
    TooLargeError,
)
from pipelines.readers import Limits
from pipelines.reading import READERS, content_hash, read_file
from tests.support.pdfs import make_pdf

readers = pytest.mark.parametrize("reader", READERS)


def texts(read):
    return [page.text.strip() for page in read.raw.pages]


@readers
def test_a_file_is_its_pages_and_the_hash_of_its_bytes(tmp_path, reader):
    path = make_pdf(tmp_path / "a.pdf", ["One.", "Two."])
    read = read_file(path, reader)
    assert texts(read) == ["One.", "Two."]
    assert read.content_hash == content_hash(path) == content_hash(path.read_bytes())
    assert (read.path, read.reader, read.read_by) == (path, reader, reader)


@readers
def test_an_empty_user_password_opens_an_aes_file(tmp_path, reader):
    path = make_pdf(tmp_path / "sealed.pdf", ["Net sales grew."], password="")
    read = read_file(path, reader)
    assert texts(read) == ["Net sales grew."]
    assert read.read_by == reader


@readers
def test_a_password_opens_the_file_it_belongs_to(tmp_path, reader):
    path = make_pdf(tmp_path / "locked.pdf", ["Net sales grew."], password="open sesame")
    assert texts(read_file(path, reader, "open sesame")) == ["Net sales grew."]
    with pytest.raises(EncryptedError, match=r"locked\.pdf: the password given"):
        read_file(path, reader, "wrong")


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
        read_file(path, reader)
    assert type(caught.value) is error
    assert reason in caught.value.message
    assert caught.value.message.startswith("bad.pdf: ")
    assert caught.value.hint
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_missing_file_and_a_folder_are_read_errors(tmp_path):
    for path in (tmp_path / "none.pdf", tmp_path):
        with pytest.raises(ReadError, match="check the path"):
            read_file(path)


def test_an_unknown_reader_is_an_error_that_names_the_known_ones(tmp_path):
    with pytest.raises(ConfigError, match="pypdfium2, pypdf"):
        read_file(tmp_path / "x.pdf", "magic")


@pytest.mark.parametrize(
    "limits", [Limits(pages=2), Limits(page_characters=10), Limits(characters=30)]
)
@readers
def test_a_file_that_unfolds_too_far_is_refused(tmp_path, reader, limits):
    path = make_pdf(tmp_path / "bomb.pdf", ["Some words of text."] * 3)
    with pytest.raises(TooLargeError, match="limit"):
        read_file(path, reader, limits=limits)


def test_the_other_reader_reads_what_one_cannot(tmp_path, monkeypatch):
    def broken(data, password, limits):
        raise DamagedError("it is damaged")

    monkeypatch.setattr("pipelines.reading.READERS", READERS | {"pypdfium2": broken})
    read = read_file(make_pdf(tmp_path / "odd.pdf", ["Some text."]))
    assert texts(read) == ["Some text."]
    assert (read.reader, read.read_by) == ("pypdfium2", "pypdf")


def test_the_message_of_a_damaged_file_goes_into_a_sentence(tmp_path):
    path = make_pdf(tmp_path / "cut.pdf", ["The valve opens at a pressure of 4.2 bar."])
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ReadError) as raised:
        read_file(path)
    assert not raised.value.message.endswith(".")
