from pipelines.tables.quoted import table_quoted
from tests.support.table_pdfs import tables_drawn


def both():
    return tables_drawn(
        lambda page: (
            page.line("", "2022", "2021")
            .line("Net sales", "$300", "200")
            .line("Costs", "30", "—")
            .line("", "Europe", "Asia")
            .line("Net sales", "11", "12")
            .line("Offices", "4", "5")
        )
    )


def test_the_table_of_a_quoted_row_is_found():
    first, second = both()
    assert table_quoted(["Net sales ..... $ 300 $ 200"], (first, second)) is first
    assert table_quoted(["Net sales 11 12", "Offices 4 5"], (first, second)) is second
    assert table_quoted(["Costs 30 —"], (first, second)) is first


def test_a_quote_without_a_whole_row_has_no_table():
    tables = both()
    assert table_quoted(["Net sales rose to 300 million in 2022"], tables) is None
    assert table_quoted(["200 300 Net sales"], tables) is None
    assert table_quoted([], tables) is None
