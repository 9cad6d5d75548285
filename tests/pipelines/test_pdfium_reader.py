"""Reading with PDFium: text, labels, titles, passwords and damage, in any thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from pipelines.pdfium_reader import read_with_pypdfium2
from pipelines.readers import Limits
from tests.pipelines.reader_cases import PAGES, ReaderCases
from tests.support.page_states import with_a_damaged_page
from tests.support.pdfs import make_pdf


class TestPdfium(ReaderCases):
    read = staticmethod(read_with_pypdfium2)


def test_threads_that_read_at_once_get_the_same(tmp_path):
    data = make_pdf(tmp_path / "a.pdf", PAGES * 5).read_bytes()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: read_with_pypdfium2(data, None, Limits()), range(8)))
    assert len(found[0].pages) == 10
    assert all(raw == found[0] for raw in found)


def test_a_page_that_does_not_load_leaves_the_others_in():
    raw = read_with_pypdfium2(with_a_damaged_page(), None, Limits())
    assert [page.state for page in raw.pages] == ["text", "damaged", "text"]
    assert raw.pages[2].text.strip() == "The valve opens at 4.2 bar."
