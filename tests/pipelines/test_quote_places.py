"""Quotes among the characters of a page: each line's rectangle, in whatever order it is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pipelines.layout import Box
from pipelines.quote_places import (
    MAX_QUOTE_CHARACTERS,
    CharacterStream,
    compact,
    lines_of,
    place_of_quote,
    stream_of,
)

SIZE = 10.0


def drawn(lines: Sequence[tuple[float, float, str]], *, down: bool = False) -> CharacterStream:
    """Return lines of characters that are ten points wide and high, from (left, top)."""
    characters = []
    for left, top, text in lines:
        for at, character in enumerate(text):
            x, y = (left, top + SIZE * at) if down else (left + SIZE * at, top)
            characters.append((character, Box(x, y, x + SIZE, y + SIZE)))
    return stream_of(characters)


def row(left: float, top: float, text: str) -> Box:
    return Box(left, top, left + SIZE * len(text), top + SIZE)


def test_a_quote_over_two_lines_has_a_rectangle_for_each() -> None:
    page = drawn([(50, 0, "The dividend was"), (50, 20, "paid in May. Then")])
    place = place_of_quote("dividend was paid in May.", page)
    assert place.rest == ""
    assert place.boxes == (row(90, 0, "dividend was"), row(50, 20, "paid in May."))


def test_a_word_that_is_divided_at_the_end_of_a_line_is_found() -> None:
    page = drawn([(0, 0, "the reser-"), (0, 20, "voir of the town")])
    place = place_of_quote("the reservoir of", page)
    assert place.boxes == (row(0, 0, "the reser"), row(0, 20, "voir of"))


def test_a_short_quote_is_found_where_the_hyphen_of_its_first_word_is_a_control_character() -> None:
    page = drawn([(0, 0, "in May. Maece\u0002"), (0, 20, "nas lacinia. Nam")])
    place = place_of_quote("Maece-\nnas lacinia.", page)
    assert place.rest == ""
    assert place.boxes == (row(80, 0, "Maece"), row(0, 20, "nas lacinia."))


def test_a_quote_in_a_column_is_found_where_lines_are_drawn_across() -> None:
    left, right = "was built by the council", "runs from April to May"
    page = drawn(
        [(0, 0, left), (300, 0, right), (0, 20, "of the old town in"), (300, 20, "every hour")]
    )
    place = place_of_quote(f"{left} of the old town in", page)
    assert place.rest == ""
    assert place.boxes == (row(0, 0, left), row(0, 20, "of the old town in"))


def test_cells_of_a_row_that_stand_apart_have_a_rectangle_each() -> None:
    page = drawn([(0, 0, "Revenue"), (300, 0, "4,200"), (500, 0, "4,100")])
    place = place_of_quote("Revenue 4,200 4,100", page)
    assert place.boxes == (row(0, 0, "Revenue"), row(300, 0, "4,200"), row(500, 0, "4,100"))


def test_a_column_of_vertical_text_is_one_rectangle() -> None:
    page = drawn([(100, 0, "秋になると山の"), (80, 0, "木が赤くなる")], down=True)
    place = place_of_quote("山の木が赤くなる", page)
    assert place.boxes == (Box(100, 50, 110, 70), Box(80, 0, 90, 60))


def test_what_stands_on_the_next_page_is_left() -> None:
    page = drawn([(0, 0, "The committee met in the spring and")])
    place = place_of_quote("met in the spring and decided nothing at all.", page)
    assert place.boxes == (row(140, 0, "met in the spring and"),)
    assert place.rest == compact("decided nothing at all.")


def test_a_quote_that_does_not_stand_there_has_no_rectangle() -> None:
    page = drawn([(0, 0, "The committee met in the spring.")])
    place = place_of_quote("A dog barks.", page)
    assert (place.boxes, place.rest) == ((), "Adogbarks.")


def test_another_form_of_a_letter_and_a_letter_more_are_passed_over() -> None:
    page = drawn([(0, 0, "ﬁnal ＡＢＣ reportx of the year")])
    assert place_of_quote("final ABC report of the year", page).rest == ""


def test_a_quote_of_any_length_costs_a_bounded_time() -> None:
    page = drawn([(0, 0, "ab" * 1000)])
    assert len(place_of_quote("ab" * MAX_QUOTE_CHARACTERS, page).rest) <= MAX_QUOTE_CHARACTERS


@given(st.lists(st.text("abc 山", min_size=1, max_size=30), min_size=1, max_size=6), st.data())
def test_a_stretch_of_the_page_is_found_whole(lines: list[str], data: st.DataObject) -> None:
    page = drawn([(0, 20.0 * at, line) for at, line in enumerate(lines)])
    start = data.draw(st.integers(0, len(page.text)))
    end = data.draw(st.integers(start, len(page.text)))
    place = place_of_quote(page.text[start:end], page)
    assert place.rest == ""
    assert bool(place.boxes) == (end > start)


def test_no_character_has_no_line() -> None:
    assert list(lines_of([])) == []
