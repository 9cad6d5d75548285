from pipelines.tables.found import tables_of
from pipelines.tables.over_pages import over_pages
from tests.support.table_pdfs import pdf_of, words_of


def first(page):
    page.line("", "2022", "2021").line("Sales", "300", "200").line("Costs", "30", "20")


def joined(*pages):
    data = pdf_of(*pages)
    words = [words_of(data, index) for index in range(len(pages))]
    return over_pages(
        table for page, word in enumerate(words, start=1) for table in tables_of(page, *word)
    )


def test_rows_without_heads_at_the_beginning_of_the_next_page_go_on():
    (table,) = joined(first, lambda page: page.line("Taxes", "3", "2").line("Rent", "1", "1"))
    assert [(row.label, row.page) for row in table.rows] == [
        ("Sales", 1),
        ("Costs", 1),
        ("Taxes", 2),
        ("Rent", 2),
    ]
    assert (table.page, table.heads) == (1, ("2022", "2021"))


def test_heads_that_are_said_again_go_on():
    assert len(joined(first, first)) == 1


def test_other_heads_other_columns_and_a_caption_begin_a_table():
    def others(page):
        page.line("", "2020", "2019").line("Sales", "1", "2").line("Costs", "3", "4")

    def moved(page):
        for label in ("Taxes", "Rent"):
            page.line(label, "3", "2", rights=(300, 480))

    def named(page):
        page.line("Shops by region").line("Norway:").line("Oslo", "3", "2", indent=5)
        page.line("Bergen", "1", "1", indent=5)

    assert len(joined(first, others)) == 2
    assert len(joined(first, moved)) == 2
    assert len(joined(first, lambda page: page.line("A page of text."), moved)) == 2
