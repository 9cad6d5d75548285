"""Names that stand in the evidence, and of what."""

from __future__ import annotations

from tests.rag_app.answer.written.comparing import compared

TEXT = (
    "Captain Duncan Reyes retired in September. Captain Sunniva Dahl joined the ferry in October."
)


def test_a_name_that_stands_with_what_is_said_of_it_is_no_problem():
    assert compared("Duncan Reyes retired in September.", TEXT).problems == []


def test_an_invented_name_is_named():
    problems = compared("Ottoline Vance retired in September.", TEXT).problems
    assert any("Ottoline Vance does not stand" in problem for problem in problems)


def test_a_name_of_whom_something_else_is_said_is_named():
    problems = compared("Captain Sunniva Dahl retired in September.", TEXT).problems
    assert any("Sunniva Dahl stands there for something else" in problem for problem in problems)
