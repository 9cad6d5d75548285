"""What the checks of a statement share."""

from __future__ import annotations

from rag_app.answer.written.findings import Findings
from tests.rag_app.answer.written.comparing import prepared_check


def test_the_result_says_each_problem_once_and_names_the_units_that_were_chosen():
    places, found = prepared_check("It made pumps.", "It made pumps.")
    found.problem("one")
    found.problem("one")
    found.chosen.append(places.all[0])
    result = found.result()
    assert result.problems == ["one"]
    assert result.evidence == [(places.all[0].source, places.all[0].unit)]


def test_the_result_of_no_check_is_empty():
    assert Findings().result().evidence == []
