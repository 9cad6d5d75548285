from pipelines.tables.found import tables_of
from pipelines.tables.fragments import lines_of
from pipelines.tables.sides import sides_of
from tests.support.table_pdfs import WIDTH, cells_of, pdf_of, words_of


def beside(page):
    page.middle("Capital of the group and how it changed over the last six months of the year")
    page.line("A text of the left side is here,").at(320, "(in millions)").at(450, "2022").at(
        520, "2021"
    )
    for number, name in enumerate(("Sales", "Costs", "Taxes", "Rent", "Fees", "Tolls", "Other")):
        page.line("which goes on in the next line").at(320, name)
        page.at(450, str(100 + number)).at(520, str(200 + number))
    page.line("and ends in the last of them.").at(320, "Total").at(450, "721").at(520, "1,421")


def test_the_sides_of_a_page_in_two_columns_are_apart():
    left, right = sides_of(lines_of(*words_of(pdf_of(beside))), WIDTH)
    assert left[0].text.startswith("Capital of the group")
    assert left[1].text == "A text of the left side is here,"
    assert right[1].text == "Sales 100 200"


def test_a_table_beside_a_text_has_its_own_labels():
    (table,) = tables_of(1, *words_of(pdf_of(beside)))
    assert (table.heads, table.unit) == (("2022", "2021"), "in millions")
    assert cells_of(table)["Sales"] == ["100", "200"]
    assert len(table.rows) == 8


def test_a_table_over_the_whole_page_is_one_side():
    def whole(page):
        for number in range(12):
            page.line("A label that is not very long", str(number), "7", "8")

    lines = lines_of(*words_of(pdf_of(whole)))
    assert sides_of(lines, WIDTH) == [lines]
    assert sides_of([], WIDTH) == [[]]
