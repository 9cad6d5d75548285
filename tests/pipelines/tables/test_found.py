import pytest

from pipelines.layout import Box
from tests.support.table_pdfs import FIRST, JAPANESE, SECOND, THIRD, cells_of, tables_drawn


def statement(page):
    page.middle("Consolidated Balance Sheets").middle("(In millions, except per share amounts)")
    page.line("", "2022", "2021")
    page.line("Current assets:")
    page.line("Cash and cash equivalents", "1,234", "987", indent=10)
    page.line("Inventories, net", "56", "—", indent=10)
    page.line("Total current assets", "1,290", "987", indent=10)
    page.line("Goodwill", "(45)", "(7)")
    return page


def test_rows_have_cells_heads_sections_unit_and_caption():
    (table,) = tables_drawn(statement)
    assert table.caption == "Consolidated Balance Sheets"
    assert table.unit == "In millions, except per share amounts"
    assert table.heads == ("2022", "2021")
    assert cells_of(table) == {
        "Cash and cash equivalents": ["1,234", "987"],
        "Inventories, net": ["56", "—"],
        "Total current assets": ["1,290", "987"],
        "Goodwill": ["(45)", "(7)"],
    }
    sections = [row.section for row in table.rows]
    assert sections == ["Current assets", "Current assets", "Current assets", ""]


def test_a_ruled_table_has_the_same_cells():
    def ruled(page):
        page.rule().line("", "2022", "2021").rule()
        page.line("Net sales", "300", "200").rule().line("Costs", "30", "20").rule()

    (table,) = tables_drawn(ruled)
    assert table.heads == ("2022", "2021")
    assert cells_of(table) == {"Net sales": ["300", "200"], "Costs": ["30", "20"]}


def test_rectangles_of_cells_end_where_the_amounts_end():
    (table,) = tables_drawn(statement)
    first, second = table.rows[0].cells
    width = 4 * 5.56 + 2.78  # of "1,234" in Helvetica 10
    assert (first.box.right, second.box.right) == pytest.approx((FIRST, SECOND), abs=0.1)
    assert first.box.left == pytest.approx(FIRST - width, abs=0.1)
    assert first.box.top < 60 + 14 * 4 < first.box.bottom
    assert table.rows[0].box == Box(70, first.box.top, second.box.right, first.box.bottom)


def test_a_currency_sign_far_from_its_amount_belongs_to_it():
    def signed(page):
        page.line("", "2022", "2021")
        page.line("Net sales", "300", "200").at(300, "$").at(380, "$")
        page.line("Loss", "(3", "(2").at(FIRST, ")").at(SECOND, ")")

    (table,) = tables_drawn(signed)
    assert cells_of(table) == {"Net sales": ["$300", "$200"], "Loss": ["(3)", "(2)"]}
    assert table.rows[0].cells[0].box.left == pytest.approx(300, abs=0.1)


def test_a_sign_of_the_next_amount_near_an_amount_is_not_its_own():
    def signed(page):
        page.line("", "2022", "2021").line("Sales", "9,889", "8,348").at(FIRST + 5, "$")
        page.line("Costs", "1", "2")

    (table,) = tables_drawn(signed)
    assert cells_of(table)["Sales"] == ["9,889", "$8,348"]


def test_a_label_over_two_lines_is_one_label_whichever_line_has_the_amounts():
    def wrapped(page):
        page.line("", "2022", "2021")
        page.line("Provision for losses on receivables that are")
        page.line("older than a year", "12", "11", indent=10)
        page.line("Gains on the sale of land and buildings,", "22", "21")
        page.line("net of taxes", indent=10)
        page.line("Other", "3", "2")

    (table,) = tables_drawn(wrapped)
    assert cells_of(table) == {
        "Provision for losses on receivables that are older than a year": ["12", "11"],
        "Gains on the sale of land and buildings, net of taxes": ["22", "21"],
        "Other": ["3", "2"],
    }


def test_marks_of_notes_in_small_type_are_no_part_of_amounts():
    def marked(page):
        page.line("", "2022", "2021").line("Sales", "300", "200").at(
            FIRST + 1, "(1)", size=6, up=18
        )
        page.line("Costs", "30", "(1)")

    (table,) = tables_drawn(marked)
    assert cells_of(table) == {"Sales": ["300", "200"], "Costs": ["30", "(1)"]}


def test_a_japanese_table_has_its_heads_unit_and_negative_amounts():
    def japanese(page):
        page.middle("連結損益計算書").line("（単位：百万円）")
        page.line("", "前連結会計年度", "当連結会計年度")
        page.line("売上高", "１，２３４", "1,345").line("営業損失", "△５６", "△67")
        page.line("当期純利益", "-", "8")

    (table,) = tables_drawn(japanese, JAPANESE)
    assert table.unit == "単位：百万円"
    assert table.caption == "連結損益計算書"
    assert table.heads == ("前連結会計年度", "当連結会計年度")
    assert cells_of(table) == {
        "売上高": ["１，２３４", "1,345"],
        "営業損失": ["△５６", "△67"],
        "当期純利益": ["-", "8"],
    }


def test_two_tables_on_a_page_keep_their_heads_apart():
    def two(page):
        page.line("", "2022", "2021").line("Sales", "300", "200").line("Costs", "30", "20")
        page.skip(2).line("The table below shows the number of people in our regions.").skip()
        page.line("", "Europe", "Asia", "Total")
        page.line("Factories", "11", "12", "23").line("Offices", "4", "5", "9")

    first, second = tables_drawn(two)
    assert (first.heads, second.heads) == (("2022", "2021"), ("Europe", "Asia", "Total"))
    assert cells_of(second) == {"Factories": ["11", "12", "23"], "Offices": ["4", "5", "9"]}
    assert second.caption.startswith("The table below")


def test_a_new_line_of_years_begins_a_new_table():
    def two(page):
        page.line("", "2022", "2021").line("Sales", "300", "200").line("Costs", "30", "20")
        page.line("", "2020", "2019").line("Sales", "100", "90").line("Costs", "10", "9")

    first, second = tables_drawn(two)
    assert (first.heads, second.heads) == (("2022", "2021"), ("2020", "2019"))


def test_a_column_that_is_empty_in_a_row_moves_no_other_cell():
    def gaps(page):
        page.line("", "2022", "2021", "Change")
        page.line("Sales", "300", "200", "50%").line("Costs", "", "20", "")
        page.line("Taxes", "1", "", "N/A")

    (table,) = tables_drawn(gaps)
    assert cells_of(table)["Costs"] == ["", "20", ""]
    assert cells_of(table)["Taxes"] == ["1", "", "N/A"]
    assert [cell.box.right for cell in table.rows[2].cells] == pytest.approx((FIRST, THIRD), abs=1)


def test_prose_with_numbers_is_no_table():
    def prose(page):
        for _ in range(8):
            page.line("In 2022 sales rose by 12.5% to 1,234 million, from 1,097 in the year 2021,")
            page.line("and 45 shops were opened, of which 3 in Norway, against 44 the year before.")

    assert tables_drawn(prose) == ()


def test_a_page_of_contents_is_no_table():
    def contents(page):
        page.middle("Table of Contents").line("", "Page", rights=(THIRD,))
        for number, name in enumerate(("Business", "Risk Factors", "Properties", "Proceedings")):
            page.line(f"Item {number + 1}. {name} {'.' * 40}", str(7 * number + 3), rights=(THIRD,))

    assert tables_drawn(contents) == ()


def test_an_empty_page_has_no_table():
    assert tables_drawn(lambda page: page.skip()) == ()
