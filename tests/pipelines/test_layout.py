from pipelines.layout import Box, PageLayout, Word, united

FIRST, SECOND = Word(0, 5, Box(10, 20, 40, 30)), Word(6, 9, Box(44, 18, 60, 30))
PAGE = PageLayout(595.0, 842.0, (FIRST, SECOND))


def test_a_span_touches_the_words_of_which_it_has_a_character() -> None:
    assert PAGE.within(4, 6) == (FIRST,)
    assert PAGE.within(4, 7) == (FIRST, SECOND)
    assert PAGE.within(5, 6) == ()


def test_rectangles_are_united_into_the_smallest_around_them() -> None:
    assert united([FIRST.box, SECOND.box]) == Box(10, 18, 60, 30)
