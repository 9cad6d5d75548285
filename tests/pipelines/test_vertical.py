from pipelines.vertical import Glyph, is_vertical, vertical_text


def column(text, x, top=700.0):
    return [Glyph(character, x, top - 10 * row) for row, character in enumerate(text)]


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
