from pipelines.tables.child import tables_in
from tests.support.table_pdfs import pdf_of


def sales(page):
    page.line("", "2022", "2021").line("Sales", "300", "200").line("Costs", "30", "20")


def test_pages_that_are_asked_for_are_looked_at_and_others_are_not():
    data = pdf_of(sales, lambda page: page.line("Text."), sales)
    assert [table["page"] for table in tables_in(data, None, None)["tables"]] == [1, 3]
    assert [table["page"] for table in tables_in(data, [3, 3, 9, 0], None)["tables"]] == [3]


def test_a_file_that_pdfium_cannot_open_says_so():
    assert "format" in tables_in(b"no PDF", None, None)["error"].lower()
