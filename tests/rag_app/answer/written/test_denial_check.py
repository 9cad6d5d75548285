"""Denials and conditions."""

from __future__ import annotations

import pytest

from tests.rag_app.answer.written.comparing import compared

TEXT = "The regulator has not opened an inquiry. Dogs are allowed in the garden."


def test_a_denial_that_stands_there_is_no_problem():
    assert compared("The regulator has not opened an inquiry.", TEXT).problems == []


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("The regulator has opened an inquiry.", "denies it"),
        ("Dogs are not allowed in the garden.", "den"),
    ],
)
def test_a_denial_on_one_side_alone_is_a_problem(said, named):
    assert named in " ".join(compared(said, TEXT).problems)
