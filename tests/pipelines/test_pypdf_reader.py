"""Reading with pypdf: text, labels, titles, passwords and damage."""

import pytest

from pipelines.errors import DamagedError, EncryptedError, TooLargeError
from pipelines.pypdf_reader import read_with_pypdf
from pipelines.readers import Limits
from tests.support.pdfs import make_pdf

PAGES = ["Net sales grew.", "Prices were flat."]


def read(path, password=None, limits=None):
    return read_with_pypdf(path.read_bytes(), password, limits or Limits())


def test_pages_come_with_their_labels_and_the_title(tmp_path):
    path = make_pdf(tmp_path / "a.pdf", PAGES, title="Report 2018", labels=["i", "1"])
    raw = read(path)
    assert [page.text.strip() for page in raw.pages] == PAGES
    assert [page.label for page in raw.pages] == ["i", "1"]
    assert raw.title == "Report 2018"


def test_a_heading_in_large_type_is_the_largest_text(tmp_path):
    path = make_pdf(tmp_path / "a.pdf", [" ".join(PAGES * 3)], heading="Annual Report")
    assert read(path).largest == "Annual Report"


def test_an_encrypted_file_opens_with_its_password_only(tmp_path):
    path = make_pdf(tmp_path / "a.pdf", PAGES, password="secret")
    assert len(read(path, "secret").pages) == 2
    for wrong in (None, "other"):
        with pytest.raises(EncryptedError):
            read(path, wrong)


def test_a_truncated_file_is_damaged(tmp_path):
    path = make_pdf(tmp_path / "a.pdf", PAGES)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DamagedError):
        read(path)


def test_a_file_beyond_the_limits_is_refused(tmp_path):
    path = make_pdf(tmp_path / "a.pdf", PAGES)
    with pytest.raises(TooLargeError):
        read(path, limits=Limits(pages=1))
    with pytest.raises(TooLargeError):
        read(path, limits=Limits(page_characters=4))
