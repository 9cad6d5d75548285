"""Dates that stand in the evidence, and of what."""

from __future__ import annotations

import pytest

from tests.rag_app.answer.written.comparing import compared

TEXT = "The lease ends on 30 November 2027. The council met on Friday, 4 March 2022."


@pytest.mark.parametrize(
    "said", ["The lease ends on November 30, 2027.", "The council met on a Friday."]
)
def test_a_date_or_weekday_that_stands_there_is_no_problem(said):
    assert compared(said, TEXT).problems == []


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("The lease ends on 30 November 2028.", "30 November 2028 does not stand"),
        ("The lease ends on 4 March 2022.", "4 March 2022 stands there for something else"),
        ("The council met on a Monday.", "Monday does not stand"),
    ],
)
def test_a_date_that_stands_nowhere_or_of_another_thing_is_named(said, named):
    assert named in " ".join(compared(said, TEXT).problems)
