from __future__ import annotations

import json
from pathlib import Path

import pytest

QUESTIONS = [
    {
        "question": "What is the lead time of the valve?",
        "evidence": [{"file": "valve.pdf", "page": 2}],
    },
    {
        "question": "Which class of licence must the operator of the crane hold?",
        "evidence": [{"file": "crane.pdf", "page": 1}],
    },
    {"question": "Who wrote it?", "evidence": []},
]


@pytest.fixture
def questions(place) -> Path:
    path = place / "questions.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS))
    return path


def test_json_has_metrics_with_intervals_and_paired_differences(rag, index, questions):
    done = rag("eval", questions, "--strategy", "hybrid", "--strategy", "bm25", "-k", "1", "--json")
    assert done.code == 0
    hybrid, bm25 = done.json["strategies"]
    assert (hybrid["name"], hybrid["questions"], bm25["name"]) == ("hybrid", 2, "bm25")
    assert hybrid["metrics"]["recall@1"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    (difference,) = done.json["differences"]
    assert (difference["strategy"], difference["against"]) == ("bm25", "hybrid")
    assert difference["metrics"]["recall@1"]["mean"] == 0.0


def test_text_has_a_table(rag, index, questions):
    done = rag("eval", questions, "-s", "hybrid", "-s", "bm25")
    assert done.code == 0
    assert done.out.startswith("2 questions, 1 without evidence left out")
    assert "recall@5" in done.out
    assert "bm25 minus hybrid, in pairs" in done.out


def test_a_wrong_line_is_an_error_that_names_it(rag, index, place):
    (place / "bad.jsonl").write_text('{"question": "x"}\n{oops\n')
    done = rag("eval", "bad.jsonl")
    assert done.code == 1
    assert "line 2" in done.err


def test_without_top_k_it_measures_at_one_three_five_and_ten(rag, index, questions):
    (measured,) = rag("eval", questions, "-s", "bm25", "--json").json["strategies"]
    at = {int(name.partition("@")[2]) for name in measured["metrics"] if name.startswith("recall@")}
    assert at == {1, 3, 5, 10}
