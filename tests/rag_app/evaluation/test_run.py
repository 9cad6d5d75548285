"""An evaluation of any retriever, from questions to its report."""

from __future__ import annotations

import json

import pytest

from pipelines.errors import ConfigError
from rag_app.evaluation import Question, evaluate
from tests.rag_app.evaluation.ranked import Fixed, passage


def test_evaluate_reports_each_measure_with_its_interval():
    retriever = Fixed(
        {
            "one": [passage("alpha beta", [1]), passage("gamma", [2, 3])],
            "two": [passage("delta", [9]), passage("epsilon", [8])],
        }
    )
    questions = [
        Question("one", "1", pages=(("a.pdf", 2),)),
        Question("two", "2", pages=(("a.pdf", 9), ("a.pdf", 5))),
        Question("three", "3"),
    ]
    done = []
    report = evaluate(retriever, questions, ks=(1, 2), budgets=(3,), progress=done.append)
    assert report.skipped == ("3",)
    assert done == [1, 2]
    assert report.values("recall@1") == {"1": 0, "2": 0.5}
    assert report.mean("mrr@2").mean == 0.75
    assert report.values("pages_per_passage@2") == {"1": 1.5, "2": 1}
    assert report.values("tokens@1")["1"] == 2
    as_json = json.loads(json.dumps(report.to_dict()))
    assert as_json["questions"] == 2
    assert as_json["metrics"]["hit@2"] == {"mean": 1, "low": 1, "high": 1}
    assert "recall@2" in report.table()


def test_evaluate_at_a_budget_reads_whole_passages_and_one_at_least():
    long, short = "word " * 50, "brief words"
    nodes = [passage(long, [1]), passage(short, [2]), passage(short, [3])]
    question = [Question("q", "1", pages=(("a.pdf", 2),))]
    report = evaluate(Fixed({"q": nodes}), question, ks=(1,), budgets=(10, 53, 1000))
    read = [report.values(f"passages_in_{budget}")["1"] for budget in (10, 53, 1000)]
    assert read == [1, 2, 3]
    assert report.values("recall_in_10")["1"] == 0
    assert report.values("recall_in_53")["1"] == 1


def test_evaluate_with_page_texts_measures_how_much_of_them_is_read():
    question = [Question("q", "1", pages=(("a.pdf", 2),))]
    retriever = Fixed({"q": [passage("net revenue grew by 12 percent", [2])]})
    text = {("a.pdf", 2): "net revenue grew by 12 percent last year again"}
    report = evaluate(retriever, question, ks=(1,), page_text=lambda *page: text[page])
    assert report.values("coverage@1")["1"] == 6 / 9
    assert report.values("covered@1")["1"] == 0


def test_evaluate_runs_strict_where_the_retriever_can():
    class Strict(Fixed):
        def as_strict(self):
            return Fixed({"q": [passage(pages=[1])]})

    question = [Question("q", "1", pages=(("a.pdf", 1),))]
    assert evaluate(Strict({}), question, ks=(1,)).mean("hit@1").mean == 1


def test_evaluate_of_an_empty_result_gives_zeros():
    report = evaluate(Fixed({"q": []}), [Question("q", "1", answers=("x",))])
    assert report.mean("recall@5").mean == 0
    assert report.mean("tokens@5").mean == 0


@pytest.mark.parametrize("wrong", [{"ks": ()}, {"ks": (0,)}, {"budgets": (0,)}])
def test_evaluate_with_impossible_k_or_budget_raises(wrong):
    with pytest.raises(ConfigError):
        evaluate(Fixed({}), [], **wrong)


def test_evaluate_without_any_evidence_raises():
    with pytest.raises(ConfigError, match="no question has evidence"):
        evaluate(Fixed({}), [Question("q", "1")])
