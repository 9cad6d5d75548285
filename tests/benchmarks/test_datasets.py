"""The loaders, on made-up data in the forms of the real sets."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks import datasets


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(datasets.VARIABLE, str(tmp_path))
    return tmp_path


def test_load_without_the_variable_gives_a_reason_to_skip(monkeypatch):
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    with pytest.raises(datasets.DataMissingError, match=datasets.VARIABLE):
        datasets.load("scifact")


def test_load_with_a_missing_folder_gives_a_reason_to_skip(root):
    with pytest.raises(datasets.DataMissingError, match="jsquad"):
        datasets.load("jsquad")


def test_scifact_keeps_test_queries_only_with_title_and_text(root):
    folder = root / "scifact"
    _write(folder / "corpus.jsonl.gz", [{"_id": "7", "title": "T", "text": "body"}])
    _write(folder / "queries.jsonl", [{"_id": "1", "text": "q"}, {"_id": "2", "text": "train"}])
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\t7\t1\n")
    data = datasets.load("scifact")
    assert data.texts == {"7": "T\nbody"}
    assert [(q.id, dict(q.relevant)) for q in data.questions] == [("1", {"7": 1})]


@pytest.mark.parametrize("name", ["contexts.jsonl", "contexts.jsonl.gz"])
def test_question_sets_load_plain_and_packed_contexts(root, name):
    folder = root / "jaquad"
    _write(folder / name, [{"id": "dev-0", "title": "t", "text": "奈良の大仏"}])
    _write(
        folder / "questions.jsonl",
        [{"id": "a", "question": "どこ", "context_id": "dev-0", "answers": ["奈良"]}],
    )
    data = datasets.load("jaquad")
    assert data.texts == {"dev-0": "奈良の大仏"}
    assert data.questions[0].answers == ("奈良",)
    assert dict(data.questions[0].relevant) == {"dev-0": 1}


def test_financebench_counts_each_evidence_page_once(root):
    folder = root / "financebench"
    (folder / "pdfs").mkdir(parents=True)
    (folder / "pdfs" / "a.pdf").write_bytes(b"")
    page = {"file": "a.pdf", "page": 3}
    _write(
        folder / "questions.jsonl",
        [{"id": "q", "question": "?", "answer": "1", "file": "a.pdf", "evidence": [page, page]}],
    )
    data = datasets.load("financebench")
    assert [file.name for file in data.files] == ["a.pdf"]
    assert data.questions[0].evidence == (("a.pdf", 3),)
