import pytest

from pipelines.errors import ReadError
from pipelines.reading import content_hash
from rag_app.answer.response import Citation, Quote
from tests.support.table_pdfs import cells_of, pdf_of


def sales(page):
    page.line("", "2022", "2021").line("Sales", "300", "200").line("Costs", "30", "20")


def citation(path, text, page=2, **changed):
    quote = Quote(text, 0, len(text), [page], verified=True)
    given = {"path": str(path), "content_hash": content_hash(path), **changed}
    return Citation(
        1, "", "report.pdf", given.pop("path"), page, str(page), [page], [quote], **given
    )


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf_of(sales, lambda page: page.line("Tax", "3", "2").line("Rent", "1", "1")))
    return path


def test_the_table_of_a_quoted_row_has_its_heads_from_the_page_before(report):
    source = citation(report, "Tax 3 2")
    table = source.table
    assert (table.heads, table.page) == (("2022", "2021"), 1)
    assert cells_of(table)["Tax"] == ["3", "2"]
    assert source.table is table


def test_quotes_of_no_row_and_pages_read_by_ocr_have_no_table(report):
    assert citation(report, "Nothing of it").table is None
    assert citation(report, "Tax 3 2", read_by="ocr").table is None


def test_a_file_that_has_changed_or_gone_or_never_was_says_so(report, tmp_path):
    with pytest.raises(ReadError, match="has changed"):
        _ = citation(report, "Tax 3 2", content_hash="0" * 64).table
    source = citation(report, "Tax 3 2")
    report.unlink()
    with pytest.raises(ReadError, match="No such file"):
        _ = source.table
    with pytest.raises(ReadError, match="without a file"):
        _ = Citation(1, "", "note", "", 1, None, [1], source.quotes).table


def test_a_document_that_is_no_pdf_of_known_content_is_read_as_it_is(report):
    assert citation(report, "Tax 3 2", content_hash="my-id").table is not None
