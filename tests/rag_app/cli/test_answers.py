from __future__ import annotations

import json
from contextlib import closing

import pytest

from pipelines.errors import ConfigError
from rag_app.cli.answers import AnswerFile
from rag_app.cli.questions import Asked, named_key, unnamed_key

ASKED = [
    Asked("a", "First?", named_key("a", "First?")),
    Asked(2, "Second?", unnamed_key("Second?", 0)),
    Asked(3, "Second?", unnamed_key("Second?", 1)),
]


def record(one: Asked, error: object = None) -> dict[str, object]:
    return {"id": one.id, "question": one.question, "error": error}


def lines(path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_new_file_is_written_line_by_line(tmp_path):
    path = tmp_path / "out.jsonl"
    answers = AnswerFile(path, ASKED)
    assert answers.missing(ASKED) == ASKED
    for number, one in enumerate(ASKED, start=1):
        answers.write(one, record(one))
        assert len(lines(path)) == number
    answers.close()
    assert [line["id"] for line in lines(path)] == ["a", 2, 3]
    assert not list(tmp_path.glob("*.tmp"))


def test_the_next_run_asks_what_failed_or_is_missing_and_keeps_the_order(tmp_path):
    path = tmp_path / "out.jsonl"
    first = AnswerFile(path, ASKED)
    first.write(ASKED[0], record(ASKED[0], error={"kind": "LLMTimeoutError"}))
    first.write(ASKED[1], record(ASKED[1]))
    # Killed while it wrote the third line.
    first._stream.close()
    with path.open("a") as stream:
        stream.write('{"id": 3, "question": "Sec')
    second = AnswerFile(path, ASKED)
    assert second.missing(ASKED) == [ASKED[0], ASKED[2]]
    second.write(ASKED[0], record(ASKED[0]))
    second.write(ASKED[2], record(ASKED[2]))
    second.close()
    assert [line["id"] for line in lines(path)] == ["a", 2, 3]
    with closing(AnswerFile(path, ASKED)) as third:
        assert third.missing(ASKED) == []


@pytest.mark.parametrize("content", ["precious notes\n", '{"question": "Other?"}\n', "[1]\n"])
def test_a_file_of_something_else_is_left_as_it_is(tmp_path, content):
    path = tmp_path / "out.jsonl"
    path.write_text(content)
    with pytest.raises(ConfigError, match="line 1 answers none of these questions"):
        AnswerFile(path, ASKED)
    assert path.read_text() == content


def test_a_folder_as_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="not a plain file"):
        AnswerFile(tmp_path, ASKED)


@pytest.mark.parametrize(
    "content",
    [
        "my only line of notes",
        "First?",
        '{"id": 1, "text": "mine"}',
        '{"id": "a", "question": "First?"}',
        '{"id": "a", "question": "First?"}\n',
        '{"a": 1',
    ],
)
def test_a_file_of_one_line_that_is_no_answer_is_left_as_it_is(tmp_path, content):
    """Also one without an end of line, and the questions themselves."""
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(ConfigError, match="answers none of these questions"):
        AnswerFile(path, ASKED)
    assert path.read_text() == content


@pytest.mark.parametrize("cut", range(1, 45))
def test_a_torn_answer_is_asked_again(tmp_path, cut):
    path = tmp_path / "out.jsonl"
    whole = json.dumps(record(ASKED[0]))
    path.write_text(whole[:cut])
    with closing(AnswerFile(path, ASKED)) as answers:
        assert answers.missing(ASKED) == ASKED


def test_a_link_stays_one_and_leads_to_the_answers(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "out.jsonl")
    with closing(AnswerFile(tmp_path / "link", ASKED)) as answers:
        answers.write(ASKED[0], record(ASKED[0]))
    assert (tmp_path / "link").is_symlink()
    assert [line["id"] for line in lines(tmp_path / "out.jsonl")] == ["a"]


def test_a_file_that_only_its_owner_may_read_stays_so(tmp_path):
    path = tmp_path / "out.jsonl"
    path.touch(mode=0o600)
    with closing(AnswerFile(path, ASKED)) as answers:
        answers.write(ASKED[0], record(ASKED[0]))
    assert path.stat().st_mode & 0o777 == 0o600
