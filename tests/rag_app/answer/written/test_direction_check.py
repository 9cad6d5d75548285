"""Rises and falls, gains and losses."""

from __future__ import annotations

import pytest

from tests.rag_app.answer.written.comparing import compared

TABLE = "£ million\n2025 2024\nRevenue 50.9 47.4\n"
PROSE = "Sales fell by 4 per cent. The sale of the depot made a loss of £3 million."


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Revenue rose in 2025 to £50.9 million.", TABLE),
        ("Sales fell by 4 per cent.", PROSE),
        ("The depot was sold at a loss of £3 million.", PROSE),
    ],
)
def test_a_direction_that_the_evidence_says_or_its_columns_show_is_no_problem(said, text):
    assert compared(said, text).problems == []


@pytest.mark.parametrize(
    ("said", "text", "named"),
    [
        ("Revenue fell in 2025 to £50.9 million.", TABLE, "it says a fall"),
        ("Sales rose by 4 per cent.", PROSE, "it says a rise"),
        ("The sale of the depot made a gain of £3 million.", PROSE, "it says a gain"),
    ],
)
def test_the_other_direction_is_a_problem(said, text, named):
    assert named in " ".join(compared(said, text).problems)
