"""Real pages through PDFium: what a person reads, in the order of reading."""

from __future__ import annotations

import pypdfium2

from pipelines import pdfium_arranging
from pipelines.pdfium_arranging import arranged
from pipelines.pdfium_reader import read_with_pypdfium2
from pipelines.readers import Limits
from tests.support.drawn_pages import LEFT, RIGHT, ROWS, THIRD, across, page, unpainted


def lines_of(data):
    (only,) = read_with_pypdfium2(data, None, Limits()).pages
    return tuple(only.text.split("\n"))


def test_two_columns_drawn_across_are_read_one_after_the_other():
    assert lines_of(page(lambda c: across(c, (LEFT, RIGHT), step=220))) == LEFT + RIGHT


def test_three_columns_drawn_across_are_read_one_after_the_other():
    data = page(lambda c: across(c, (LEFT, RIGHT, THIRD), step=172))
    assert lines_of(data) == LEFT + RIGHT + THIRD


def test_a_heading_over_two_columns_stays_above_both():
    def draw(canvas):
        canvas.drawString(
            60, 730, "What the parish council of Larkfield decided in the spring of 1931"
        )
        across(canvas, (LEFT, RIGHT), step=220)

    heading, *rest = lines_of(page(draw))
    assert heading.startswith("What the parish council")
    assert tuple(rest) == LEFT + RIGHT


def test_a_table_is_read_row_by_row():
    numbers = tuple(f"{1000 + 37 * row:,}  {900 + 41 * row:,}" for row in range(len(ROWS)))
    found = lines_of(page(lambda c: across(c, (ROWS, numbers), step=220)))
    assert [line.split("  ")[0].split(" 1,")[0] for line in found] == list(ROWS)


def test_a_table_whose_cells_are_words_is_read_row_by_row():
    cells = ("Mary Ellis", "John Hart", "Ann Cole", "Tom Reed", "Jane Poole", "Will Stone")
    found = lines_of(page(lambda c: across(c, (ROWS, cells), step=220)))
    assert list(found) == [f"{row} {cell}" for row, cell in zip(ROWS, cells, strict=True)]


def test_columns_that_are_drawn_in_order_stay():
    def draw(canvas):
        across(canvas, (LEFT,), step=0)
        for row, line in enumerate(RIGHT):
            canvas.drawString(280, 700 - row * 14, line)

    assert lines_of(page(draw)) == LEFT + RIGHT


def test_letter_spaced_words_are_whole_words():
    def draw(canvas):
        canvas.drawString(72, 700, "A N N U A L   R E P O R T   O F   T H E   H A R B O U R")
        canvas.drawString(72, 680, "The turbine hall was painted green.")

    assert lines_of(page(draw)) == (
        "ANNUAL REPORT OF THE HARBOUR",
        "The turbine hall was painted green.",
    )


def test_text_drawn_twice_for_boldness_is_read_once():
    def draw(canvas):
        for offset in (0, 0.3, 0.6):
            canvas.drawString(72 + offset, 700, "Total revenue grew")

    assert lines_of(page(draw)) == ("Total revenue grew",)


def test_an_ordinary_page_is_looked_at_by_a_sample_only(monkeypatch):
    def never(*_, **__):
        raise AssertionError("each character is looked at")

    monkeypatch.setattr(pdfium_arranging, "placed_characters", never)
    data = page(lambda c: across(c, (LEFT,), step=0))
    with pypdfium2.PdfDocument(data) as pdf:
        textpage = pdf[0].get_textpage()
        text = textpage.get_text_range()
        assert arranged(pdf[0], textpage, text) is text


def test_hidden_lines_between_columns_do_not_join_them():
    def draw(canvas):
        across(canvas, (LEFT, RIGHT), step=220)
        unpainted(canvas, 60, 500, "The fee is 40 dollars.")

    assert lines_of(page(draw)) == LEFT + RIGHT
