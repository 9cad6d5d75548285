"""Numbers that are given: what is one, and what is within its bounds."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rag_app.bounds import TIMEOUT, Bounds, shown

COUNT = Bounds(1, 100)
SHARE = Bounds(0, 2.5, whole=False, unit="seconds")


@pytest.mark.parametrize(
    ("bounds", "text", "number"),
    [(COUNT, " 7 ", 7), (COUNT, "+100", 100), (COUNT, "１２", 12), (SHARE, "1e-1", 0.1)],
)
def test_a_number_as_text_is_read(bounds: Bounds, text: str, number: float) -> None:
    assert bounds.parsed(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-1",
        "0",
        "101",
        "9" * 20,
        "9" * 5000,
        "nan",
        "inf",
        "1e400",
        "1_0",
        "2.0",
        "0x7",
        "True",
    ],
)
def test_a_text_that_is_no_such_number_is_told_what_is_allowed(text: str) -> None:
    with pytest.raises(ValueError, match=r"^it must be a whole number from 1 to 100$"):
        COUNT.parsed(text)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e400", "2.6", "-0.1", "1_0", "９" * 400])
def test_a_text_that_is_no_finite_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"a number of seconds from 0 to 2\.5"):
        SHARE.parsed(text)


@pytest.mark.parametrize("value", [True, None, "7", 2.0, 0, 101, math.nan, 10**400, [1]])
def test_what_is_no_whole_number_of_python_does_not_hold(value: Any) -> None:
    assert not COUNT.hold(value)


def test_the_smallest_and_the_largest_number_hold() -> None:
    assert all(map(COUNT.hold, (1, 100)))
    assert all(map(SHARE.hold, (0, 2.5, 1)))
    assert not any(map(TIMEOUT.hold, (math.inf, math.nan, -1)))


def test_a_value_that_is_shown_is_short_whatever_it_is() -> None:
    assert shown("a" * 5000) == "'" + "a" * 79 + "…"
    assert shown(10**5000) == "a value that cannot be shown"
    assert shown(5) == "5"
