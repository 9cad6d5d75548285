"""What a text says of a change, a gain, and what it denies."""

from __future__ import annotations

import pytest

from rag_app.answer.written.wording import denials, denies, directions, gains, quotations


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sales rose by 5%", {1}),
        ("sales fell by 5%", {-1}),
        ("sales were 5%", set()),
    ],
)
def test_a_change_has_a_direction(text, found):
    assert directions(text) == found


def test_a_gain_and_a_loss_are_told_apart():
    assert (gains("a net loss"), gains("the valve")) == ({-1}, frozenset())


def test_a_denial_comes_with_what_it_denies():
    assert denies("It is not included.")
    assert not denies("It is included.")
    (denial,) = denials("It does not leak.")
    assert "leak" in denial.after


def test_quotations_are_what_stands_between_marks():
    assert quotations("He said “it leaks badly” and left.") == ["it leaks badly"]
