from tests.support.table_pdfs import FIRST, SECOND, THIRD, WIDTH, tables_drawn


def heads(draw, rows=(("Sales", "300", "200", "100"), ("Costs", "30", "20", "10"))):
    def page_of(page):
        draw(page)
        for row in rows:
            page.line(*row)

    (table,) = tables_drawn(page_of)
    return table.heads


def test_heads_over_two_lines_are_joined_from_the_top():
    found = heads(
        lambda page: page.line("", "May 31,", "May 31,", "Percent").line(
            "", "2022", "2021", "change"
        )
    )
    assert found == ("May 31, 2022", "May 31, 2021", "Percent change")


def test_a_head_over_all_columns_is_said_of_each():
    found = heads(
        lambda page: page.middle("Years ended May 31,", SECOND - 10).line(
            "", "2022", "2021", "2020"
        )
    )
    assert found == tuple(f"Years ended May 31, {year}" for year in (2022, 2021, 2020))


def test_heads_over_groups_of_columns_are_said_of_their_columns():
    rights = (330, 390, 450, 510)

    def drawn(page):
        page.middle("Three months", 345).y -= 14
        page.middle("Six months", 465)
        for row in (("", "2022", "2021", "2022", "2021"), ("Sales", "1", "2", "3", "4")):
            page.line(*row, rights=rights)
        page.line("Costs", "5", "6", "7", "8", rights=rights)

    (table,) = tables_drawn(drawn)
    assert table.heads == (
        "Three months 2022",
        "Three months 2021",
        "Six months 2022",
        "Six months 2021",
    )


def test_a_head_of_one_column_over_more_lines_than_others_stays_its_own():
    found = heads(
        lambda page: page.line("", "", "", "Adjusted").line("", "Sales", "Costs", "total")
    )
    assert found == ("Sales", "Costs", "Adjusted total")


def test_years_that_stand_left_of_narrow_amounts_are_heads_in_their_order():
    found = heads(lambda page: page.line("", "2022", "2021", "2020", rights=(320, 400, 480)))
    assert found == ("2022", "2021", "2020")


def test_a_title_above_the_middle_of_the_page_is_no_head():
    found = heads(
        lambda page: page.middle("Statements of Income", WIDTH / 2 - 30).line(
            "", "2022", "2021", "2020"
        )
    )
    assert found == ("2022", "2021", "2020")


def test_a_unit_between_heads_and_rows_is_no_head():
    def drawn(page):
        page.line("", "2022", "2021").middle("(in millions)", (FIRST + THIRD) / 2 - 40)

    rows = (("Sales", "300", "200"), ("Costs", "30", "20"))
    assert heads(drawn, rows) == ("2022", "2021")


def test_periods_at_the_right_of_their_groups_are_said_of_all_their_columns():
    rights = (330, 390, 450, 510)

    def drawn(page):
        page.line("", "Assets", "Debts", "Assets", "Debts", rights=rights)
        page.line("", "2023", "2022", rights=(390, 510))
        page.line("Sales", "1", "2", "3", "4", rights=rights)
        page.line("Costs", "5", "6", "7", "8", rights=rights)

    (table,) = tables_drawn(drawn)
    assert table.heads == (
        "Assets 2023",
        "Debts 2023",
        "Assets 2022",
        "Debts 2022",
    )
