"""Whether the characters of a page are text, and how the pages without text are named."""

import pytest

from pipelines.page_states import (
    counted,
    described,
    grouped,
    is_code,
    is_undecodable,
    page_ranges,
    stored_states,
)

ENGLISH = "The reservoir was drained in May 2019, and its walls were painted again."
POLISH = "Wydruk pochodzi z systemu księgowego, numer 118 z dnia 4 maja."


def moved(text):
    """Return the codes of a font without a map: each is that of the letter less 29."""
    return "".join(chr(ord(c) - 29) for c in text if c != " ")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", False),
        (ENGLISH, False),
        ("a\x01b\x02c\x03d", True),
        ("a" * 71 + "\ue000" * 29, False),
        ("a" * 70 + "\ue000" * 30, True),
        (" \n" * 90 + "a" * 7 + "\ufffd" * 3, True),
        ("line\ufffe\r\nends", False),
        ("\x1c\x1d\x1e", True),
    ],
)
def test_text_of_characters_that_stand_for_nothing_is_undecodable(text, found):
    assert is_undecodable(text) is found


@pytest.mark.parametrize(
    "text", [ENGLISH, POLISH, "0 2 4 6 8", "$1,234.56", "甲方中国饮料有限公司", "Σύνολο", "AB"]
)
def test_codes_that_read_as_text_are_text(text):
    assert not is_code(text, [True] * len(text))


@pytest.mark.parametrize(
    "text", [moved(ENGLISH), moved(POLISH), "3/$1B/$72BB", "\u1200\u1680\ua000"]
)
def test_codes_that_do_not_read_as_text_are_codes(text):
    assert is_code(text, [True] * len(text))
    assert not is_code(text + "a" * 4 * len(text), [True] * len(text) + [False] * 4 * len(text))


def test_pages_are_grouped_by_the_reason_from_page_1():
    states = ["text", "image", "empty", "undecodable", "image"]
    assert grouped(states) == {"undecodable": [4], "image": [2, 5], "empty": [3]}
    assert counted(states) == "1 characters that cannot be decoded, 2 image only, 1 empty"
    assert grouped(["text"]) == {}


@pytest.mark.parametrize(
    "value", [None, "image", [2], {"image": 2}, {"image": ["2", True, None]}, {"other": [2]}]
)
def test_what_is_not_known_of_a_page_is_of_unknown_state(value):
    assert stored_states(value, [2, 3]) == {"unknown": (2, 3)}


def test_a_stored_state_counts_for_pages_without_text_only():
    found = stored_states({"image": [1, 2], "empty": [2, 3]}, [2, 3, 4])
    assert found == {"image": (2,), "empty": (3,), "unknown": (4,)}


def test_numbers_of_pages_are_shortened_to_ranges():
    assert page_ranges([7, 1, 2, 3]) == "1-3, 7"
    assert described({"image": [1, 2], "empty": [9]}) == "page 1-2 (image only), page 9 (empty)"


def test_a_page_that_ocr_read_is_none_of_those_that_were_not():
    assert grouped(["ocr", "text", "scan", "image"]) == {"image": [4], "scan": [3]}


def test_a_page_whose_own_content_was_not_read_is_kept_although_values_were_filled_in():
    found = stored_states({"undecodable": [1], "form": [2], "empty": [3]}, [])
    assert found == {"undecodable": (1,), "form": (2,)}


def test_a_scan_with_a_stamp_is_kept_although_it_has_text():
    assert stored_states({"scan": [1, "x"], "image": [2, 3]}, [2]) == {"image": (2,), "scan": (1,)}
    assert described({"scan": (1,)}) == "page 1 (a scan with few words of text)"
