from pipelines.tables.blocks import blocks_of, is_head_of_years, is_row
from pipelines.tables.fragments import lines_of
from tests.support.table_pdfs import pdf_of, words_of


def lines(draw):
    return lines_of(*words_of(pdf_of(draw)))


def test_years_above_columns_are_heads_and_a_year_beside_amounts_is_a_row():
    heads, row, lone = lines(
        lambda page: page.line("", "2022", "2021").line("2022", "1,234").line("", "2020")
    )
    assert (is_head_of_years(heads), is_row(heads)) == (True, False)
    assert (is_head_of_years(row), is_row(row)) == (False, True)
    assert is_head_of_years(lone)


def test_an_amount_before_a_sentence_is_no_row():
    (line,) = lines(lambda page: page.line("1,234").at(150, "was paid in the year to shops"))
    assert not is_row(line)


def test_a_block_ends_where_a_sentence_crosses_the_columns():
    found = blocks_of(
        lines(
            lambda page: (
                page.line("Sales", "3", "2")
                .line("Costs", "1", "1")
                .line(
                    "This sentence goes from the left edge over the columns of the table above it."
                )
                .line("Shops", "3", "2")
                .line("Streets", "1", "1")
            )
        )
    )
    assert [[line.fragments[0].text for line in block.lines] for block in found] == [
        ["Sales", "Costs"],
        ["Shops", "Streets"],
    ]


def test_a_wide_gap_ends_a_block():
    found = blocks_of(
        lines(lambda page: page.line("Sales", "3", "2").skip(4).line("Costs", "1", "1"))
    )
    assert len(found) == 2


def test_no_lines_have_no_blocks():
    assert blocks_of([]) == []
