"""Files of questions with their evidence."""

from __future__ import annotations

import json

import pytest

from pipelines.errors import ConfigError
from rag_app.evaluation import load_questions


def test_load_questions_reads_all_kinds_of_evidence(tmp_path):
    lines = [
        {"question": "a", "evidence": [{"file": "x/a.pdf", "page": 2, "text": "t"}] * 2},
        {"id": "b", "question": "b", "documents": {"d": 2, "e": 0}},
        {"question": "c", "passages": ["p"], "answer": "yes"},
        {"question": "d"},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("\ufeff" + "\n\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    a, b, c, d = load_questions(path)
    assert (a.id, a.pages, a.texts) == ("1", (("a.pdf", 2),), ("t", "t"))
    assert b.documents == {"d": 2.0}
    assert (c.passages, c.answers) == ({"p": 1.0}, ("yes",))
    assert not d.measurable


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "line 1"),
        ("[]", "line 1"),
        ('{"question": "a", "evidence": [{"page": 1}]}', "KeyError"),
        ('{"question": "a", "evidence": ["a.pdf"]}', "AttributeError|TypeError"),
        ('{"id": 1, "question": "a"}\n{"id": 1, "question": "b"}', "two questions"),
    ],
)
def test_load_questions_of_a_wrong_file_says_where(tmp_path, content, says):
    path = tmp_path / "questions.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=says):
        load_questions(path)


def test_load_questions_of_a_missing_file_raises(tmp_path):
    with pytest.raises(ConfigError, match="nowhere"):
        load_questions(tmp_path / "nowhere.jsonl")
