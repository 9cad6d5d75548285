"""Dates in a text, as far as they are said."""

from __future__ import annotations

import pytest

from rag_app.answer.written.dates import dates, weekdays


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 3 March 2021", (2021, 3, 3)),
        ("on March 3, 2021", (2021, 3, 3)),
        ("on 2021-03-03", (2021, 3, 3)),
        ("2021年3月3日に", (2021, 3, 3)),
        ("令和3年3月3日", (2021, 3, 3)),
        ("in March 2021", (2021, 3, None)),
        ("in FY2021", (2021, None, None)),
        ("in 2021", (2021, None, None)),
    ],
)
def test_a_date_is_read_as_far_as_it_is_said(text, expected):
    (date,) = dates(text)
    assert (date.year, date.month, date.day) == expected
    assert text[date.start : date.end].strip() == date.text


@pytest.mark.parametrize("text", ["2021 people", "on 2021-13-03", "4,021", "no date"])
def test_numbers_that_are_no_dates_are_left_alone(text):
    assert [date for date in dates(text) if date.month or date.day] == []
    assert all(date.text != "2021" for date in dates("2021 people"))


def test_a_full_date_says_what_a_shorter_one_does_and_not_the_reverse():
    full, month = dates("3 March 2021")[0], dates("March 2021")[0]
    assert full.says(month)
    assert not month.says(full)
    assert not full.says(dates("3 March 2022")[0])


def test_weekdays_are_counted_from_monday():
    assert list(weekdays("Monday or 日曜")) == [("Monday", 0), ("日曜", 6)]
