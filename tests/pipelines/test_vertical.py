import pytest

from pipelines.readers import Limits
from pipelines.reading import read_data
from pipelines.vertical import Glyph, is_vertical, vertical_text
from tests.support.vertical_pdfs import GAP, RIGHT, SIZE, TOP, down, level, vertical_pages

COLUMNS = ("あいうえおかきくけこ", "さしすせそたちつてと", "なにぬねのはひふへほ")


def column(text, x, top=700.0):
    return [Glyph(character, x, top - 10 * row) for row, character in enumerate(text)]


def read(*drawn):
    raw, _ = read_data(vertical_pages([b" ".join(drawn)]), "pypdfium2", (), Limits())
    return raw.pages[0].text.split("\n")


def body():
    return [down(RIGHT - GAP * number, TOP, text) for number, text in enumerate(COLUMNS)]


def ruby(text, row):
    """Return small characters beside the first column, from a row of it on."""
    return down(RIGHT + 0.75 * SIZE, TOP - SIZE * row, text, SIZE / 2)


def test_columns_are_vertical_and_lines_are_not():
    assert is_vertical(column("日本の首都", 500))
    assert not is_vertical([Glyph(c, 10.0 * i, 700) for i, c in enumerate("日本の首都")])
    assert not is_vertical([])


def test_columns_drawn_from_the_right_stay_in_order():
    glyphs = column("第一条の", 500) + column("規定は次", 480)
    assert vertical_text(glyphs) == "第一条の\n規定は次"


def test_columns_drawn_from_the_left_are_read_from_the_right():
    glyphs = column("三番目の列", 460) + column("二番目の列", 480) + column("一番目の列", 500)
    assert vertical_text(glyphs) == "一番目の列\n二番目の列\n三番目の列"


def test_the_upper_tier_is_read_before_the_lower_one():
    lower = column("下の左の列", 460, 400) + column("下の右の列", 480, 400)
    upper = column("上の左の列", 460) + column("上の右の列", 480)
    assert vertical_text(lower + upper) == "上の右の列\n上の左の列\n下の右の列\n下の左の列"


def test_ruby_follows_the_text_wherever_it_is_drawn():
    first, *others = body()
    upper, lower = (down(RIGHT, TOP, COLUMNS[0][:4]), down(RIGHT, TOP - 4 * SIZE, COLUMNS[0][4:]))
    for drawn in (
        [first, ruby("やゆよ", 2), *others],
        [upper, ruby("やゆよ", 2), lower, *others],
        [first, *others, ruby("やゆよ", 2)],
    ):
        assert read(*drawn) == [*COLUMNS, "やゆよ"]


@pytest.mark.parametrize("head", ["まみむめもやゆよ", "らりるれろわをん" * 4])
@pytest.mark.parametrize("drawn_last", [False, True])
def test_a_head_across_the_columns_is_a_line_above_them(head, drawn_last):
    drawn = level(60, 780, head, 9)
    long = [*body(), *(down(RIGHT - GAP * number, TOP, COLUMNS[0]) for number in range(3, 9))]
    found = read(*long, drawn) if drawn_last else read(drawn, *long)
    assert found == [head, *COLUMNS, *[COLUMNS[0]] * 6]


def test_a_latin_head_keeps_its_words_and_the_page_number_comes_last():
    head = b"BT /F1 14 Tf 60 780 Td (Annual report of the works) Tj ET"
    number = b"BT /F1 10 Tf 290 40 Td (12) Tj ET"
    assert read(*body(), head, number) == ["Annual report of the works", *COLUMNS, "12"]


def test_two_digits_side_by_side_stay_in_their_column():
    year = b"BT /F1 10 Tf %d %d Td (24) Tj ET" % (RIGHT - 5, TOP - 11 * SIZE - 2)
    first = [down(RIGHT, TOP, COLUMNS[0]), year, down(RIGHT, TOP - 12 * SIZE, "にち")]
    found = read(*first, down(RIGHT - GAP, TOP, COLUMNS[1]))
    assert found == [COLUMNS[0] + "24にち", COLUMNS[1]]


def test_a_page_of_lines_with_a_vertical_part_is_read_line_by_line():
    lines = [level(60, 300 - 20 * row, COLUMNS[row % 3] * 2) for row in range(8)]
    found = read(*lines[:4], down(500, 300, COLUMNS[0]), *lines[4:])
    assert [line for line in found if len(line) > 15][:2] == [COLUMNS[0] * 2, COLUMNS[1] * 2]
