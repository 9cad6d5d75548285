"""Times of day."""

from __future__ import annotations

import pytest

from rag_app.answer.written.clock_times import times


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("午後5時30分", [1050]),
        ("5.30 pm", [1050]),
        ("12 a.m.", [0]),
        ("noon", [720]),
        ("17:30", [1050]),
        ("5時半", [330, 1050]),
    ],
)
def test_a_time_of_day_is_minutes_after_midnight_with_each_half_it_may_mean(text, minutes):
    (found,) = times(text)
    assert list(found.readings) == minutes


def test_a_duration_and_an_impossible_time_are_no_time_of_day():
    assert list(times("5時間")) == []
    assert list(times("31時61分")) == []
