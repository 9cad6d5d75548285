from pipelines.tables.fragments import lines_of
from pipelines.tables.labels import RowSection, entries_of
from tests.support.table_pdfs import pdf_of, words_of


def entries(draw):
    return [
        (entry.label, entry.row is None)
        for entry in entries_of(lines_of(*words_of(pdf_of(draw))), 300)
    ]


def test_a_line_without_amounts_is_a_heading_and_loses_its_colon():
    found = entries(lambda page: page.line("Assets:").line("Cash in all banks of the group", "12"))
    assert found == [("Assets", True), ("Cash in all banks of the group", False)]


def test_a_line_that_had_no_room_for_the_next_word_goes_on():
    found = entries(
        lambda page: (
            page.line("Provision for the older receivables")
            .line("Norway", "1", indent=10)
            .line("Cash", "12")
        )
    )
    assert found == [("Provision for the older receivables Norway", False), ("Cash", False)]


def test_a_short_line_is_a_heading_though_the_next_is_indented():
    found = entries(
        lambda page: page.line("Assets").line("Provision for the older receivables", "1", indent=10)
    )
    assert found == [("Assets", True), ("Provision for the older receivables", False)]


def test_a_section_ends_after_its_sum():
    section = RowSection("Assets", 60).at("Cash", 60)
    assert section.name == "Assets"
    assert (total := section.at("Total assets", 60)).name == "Assets"
    assert total.at("Goodwill", 60).name == ""


def test_an_indented_section_ends_where_a_row_is_not_indented():
    section = RowSection("Assets", 60).at("Cash", 70)
    assert section.at("Inventories", 70).name == "Assets"
    assert section.at("Goodwill", 60).name == ""
