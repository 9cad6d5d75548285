"""Reading with pypdf: text, labels, titles, passwords and damage, as PDFium has them."""

from __future__ import annotations

from pipelines.pdfium_reader import read_with_pypdfium2
from pipelines.pypdf_reader import read_with_pypdf
from pipelines.readers import Limits
from tests.pipelines.reader_cases import PAGES, ReaderCases
from tests.support.pdfs import make_pdf


class TestPypdf(ReaderCases):
    read = staticmethod(read_with_pypdf)


def test_both_readers_find_the_same_words(tmp_path):
    data = make_pdf(tmp_path / "a.pdf", [*PAGES, "東京は日本の首都です。"]).read_bytes()
    read = (read_with_pypdf(data, None, Limits()), read_with_pypdfium2(data, None, Limits()))
    words = [[page.text.split() for page in raw.pages] for raw in read]
    assert words[0] == words[1]
