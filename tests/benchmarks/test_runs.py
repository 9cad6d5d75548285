"""Kept runs are scored by the harness that users have."""

import pytest

from benchmarks import runs
from benchmarks.datasets import Question


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "CACHE", tmp_path)


def _hit(source, pages=(), text="some words"):
    return {"source": source, "pages": list(pages), "text": text}


def test_score_of_pages_counts_the_pages_of_all_passages():
    task = runs.TASKS["financebench-open"]
    question = Question("q", "?", file="a.pdf", evidence=(("a.pdf", 3), ("a.pdf", 9)))
    hits = [_hit("b.pdf", [3]), _hit("a.pdf", [2, 3])]
    runs.write_run(runs.run_path(task, "one"), [{"id": "q", "hits": hits}])
    report = runs.score(task, "one", [question], None)
    assert report.mean("recall@5").mean == 0.5
    assert report.mean("mrr@10").mean == 0.5


def test_score_of_texts_collapses_chunks_to_documents():
    task = runs.TASKS["xquad"]
    question = Question("q", "?", relevant={"en-1": 1})
    hits = [_hit("en-0"), _hit("en-0"), _hit("en-1")]
    runs.write_run(runs.run_path(task, "one"), [{"id": "q", "hits": hits}])
    assert runs.score(task, "one", [question], None).mean("mrr@10").mean == 0.5


def test_score_leaves_out_questions_that_were_not_asked():
    task = runs.TASKS["xquad"]
    questions = [Question("q", "?", relevant={"a": 1}), Question("r", "?", relevant={"a": 1})]
    runs.write_run(runs.run_path(task, "one"), [{"id": "q", "hits": [_hit("a")]}])
    report = runs.score(task, "one", questions, None)
    assert [result.id for result in report.results] == ["q"]


def test_write_run_that_fails_leaves_no_run(tmp_path):
    def broken():
        yield {"id": "q", "hits": []}
        raise RuntimeError

    with pytest.raises(RuntimeError):
        runs.write_run(tmp_path / "run.jsonl", broken())
    assert not (tmp_path / "run.jsonl").exists()
