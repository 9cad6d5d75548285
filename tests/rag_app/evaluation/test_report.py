"""Reports of an evaluation, and paired differences of two."""

from __future__ import annotations

import pytest

from pipelines.errors import ConfigError
from rag_app.evaluation import Question, compare, evaluate
from tests.rag_app.evaluation.ranked import Fixed, passage


def test_compare_gives_paired_differences():
    questions = [Question(str(n), str(n), documents={"d": 1}) for n in range(20)]
    good = evaluate(Fixed({str(n): [passage(document="d")] for n in range(20)}), questions)
    half = Fixed({str(n): [passage(document="d" if n % 2 else "x")] for n in range(20)})
    difference = compare(good, evaluate(half, questions))["hit@1"]
    assert difference.mean == 0.5
    assert 0 < difference.low < 0.5 < difference.high < 1


def test_compare_where_one_finds_nothing_for_a_question_compares_the_rest():
    questions = [Question("q", str(n), pages=(("a.pdf", n),)) for n in (1, 2)]
    all_found = Fixed({"q": [passage("x", [1])]})
    none_found = Fixed({"q": []})
    differences = compare(evaluate(all_found, questions), evaluate(none_found, questions))
    assert differences["recall@5"].mean == 0.5
    assert "pages_per_passage@5" not in differences


def test_compare_of_other_questions_raises():
    one, two = Question("q", "1", answers=("x",)), Question("q", "2", answers=("x",))
    reports = [evaluate(Fixed({"q": []}), [question]) for question in (one, two)]
    with pytest.raises(ConfigError, match="same questions"):
        compare(*reports)


def test_mean_of_a_measure_that_was_not_taken_names_those_that_were():
    report = evaluate(Fixed({"q": []}), [Question("q", "1", answers=("x",))])
    with pytest.raises(ConfigError) as caught:
        report.mean("map")
    assert "recall@5" in caught.value.hint
