from __future__ import annotations

from pathlib import Path

from benchmarks.ablation import BASE, VARIANTS, ablation_tables, measured, parts_of, reach
from benchmarks.datasets import Dataset, Question
from rag_app.evaluation import EvaluationReport
from rag_app.evaluation.report import QuestionResult
from rag_app.retrieval.strategy import STRATEGIES


def report(name, *recalls):
    results = [
        QuestionResult(f"q{i}", "?", {"recall@5": one, "mrr@10": one}, 0.0)
        for i, one in enumerate(recalls)
    ]
    return EvaluationReport(name, tuple(results))


def test_the_variants_differ_in_tables_and_glossary_alone_and_one_is_the_default():
    switches = {(one.prefer_tables, one.glossary) for one in VARIANTS.values()}
    assert len(switches) == len(VARIANTS) == 5
    both, hybrid = VARIANTS["both"], STRATEGIES["hybrid"]
    assert {**vars(both), "name": ""} == {**vars(hybrid), "name": ""}


def test_reports_are_told_apart_by_file_and_every_question_is_in_one_half():
    files = tuple(Path(f"{name}.pdf") for name in "cab")
    questions = tuple(Question(f.stem, "?", file=f.name) for f in files)
    parts = parts_of(Dataset("financebench", questions, files=files))
    halves = [{q.id for q in questions if parts[p](q)} for p in ("development half", "other half")]
    assert halves == [{"a", "c"}, {"b"}]
    assert list(parts_of(Dataset("x", questions, texts={"a": "b"}))) == ["all"]


def test_differences_are_paired_and_name_the_questions_that_changed():
    found = measured({BASE: report(BASE, 0, 1, 1), "both": report("both", 1, 1, 0)}, ("recall@5",))
    against = found["both"]["difference"]["recall@5"]
    assert (against["mean"], against["better"], against["worse"]) == (0.0, ["q0"], ["q2"])
    assert "difference" not in found[BASE]
    text = ablation_tables({"tasks": {"own": {"all": found}}})
    assert text.startswith("**own** (3 questions)")
    assert "| both | .667 | +.000 [−1.000, 1.000] | 1 / 1 |" in text


def test_what_can_change_is_counted_from_the_texts_and_questions():
    table = "Fuel 44.1 43.9\nWages 30.2 29.8\nPier dues 9.1 8.8\nTickets 1.5 1.4"
    questions = (Question("a", "What was the capex?"), Question("b", "Who is the chair?"))
    found = reach(Dataset("x", questions, texts={"t": table, "p": "Prose has no rows."}))
    assert found == {"texts": 2, "with_tables": 1, "questions": 2, "with_terms": 1}
    shown = ablation_tables({"tasks": {}, "reach": {"x": found}})
    assert shown.splitlines()[-1] == "| x | 2 | 1 | 2 | 1 |"
