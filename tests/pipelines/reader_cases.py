"""What every PDF reader does: a test class of a reader inherits these."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from pipelines.errors import DamagedError, EncryptedError, TooLargeError
from pipelines.readers import Limits, RawPdf, Reader
from tests.support.pdfs import make_pdf

PAGES = ["Net sales grew.", "Prices were flat."]


class ReaderCases:
    read: ClassVar[Reader]

    def read_pdf(
        self, path: Path, password: str | None = None, limits: Limits | None = None
    ) -> RawPdf:
        return type(self).read(path.read_bytes(), password, limits or Limits())

    def test_pages_come_with_their_labels_and_the_title(self, tmp_path):
        path = make_pdf(tmp_path / "a.pdf", PAGES, title="Report 2018", labels=["i", "1"])
        raw = self.read_pdf(path)
        assert [page.text.strip() for page in raw.pages] == PAGES
        assert [page.label for page in raw.pages] == ["i", "1"]
        assert raw.title == "Report 2018"

    def test_a_heading_in_large_type_is_the_largest_text(self, tmp_path):
        path = make_pdf(tmp_path / "a.pdf", [" ".join(PAGES * 3)], heading="Annual Report")
        assert self.read_pdf(path).largest == "Annual Report"

    def test_an_encrypted_file_opens_with_its_password_only(self, tmp_path):
        path = make_pdf(tmp_path / "a.pdf", PAGES, password="secret")
        assert len(self.read_pdf(path, "secret").pages) == 2
        for wrong in (None, "other"):
            with pytest.raises(EncryptedError):
                self.read_pdf(path, wrong)

    def test_a_truncated_file_is_damaged(self, tmp_path):
        path = make_pdf(tmp_path / "a.pdf", PAGES)
        path.write_bytes(path.read_bytes()[:200])
        with pytest.raises(DamagedError):
            self.read_pdf(path)

    def test_a_file_beyond_the_limits_is_refused(self, tmp_path):
        path = make_pdf(tmp_path / "a.pdf", PAGES)
        with pytest.raises(TooLargeError):
            self.read_pdf(path, limits=Limits(pages=1))
        with pytest.raises(TooLargeError):
            self.read_pdf(path, limits=Limits(page_characters=4))
