from __future__ import annotations

import io
import sys

import pytest

from pipelines.errors import ConfigError
from rag_app.cli.questions import read_questions


def written(tmp_path, text: str | bytes) -> str:
    path = tmp_path / "questions.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_plain_lines_have_their_number_as_id(tmp_path):
    asked = read_questions(written(tmp_path, "\ufeffFirst?\r\n\r\n  二番目は？  \r\n"))
    assert [(one.id, one.question) for one in asked] == [(1, "First?"), (3, "二番目は？")]


def test_json_lines_keep_their_ids(tmp_path):
    asked = read_questions(written(tmp_path, '{"id": "a", "question": "Q?"}\n{"question": "R?"}'))
    assert [(one.id, one.question) for one in asked] == [("a", "Q?"), (2, "R?")]


def test_the_same_question_twice_has_two_keys(tmp_path):
    asked = read_questions(written(tmp_path, "Q?\nQ?\nR?"))
    assert len({one.key for one in asked}) == 3


def test_a_key_does_not_depend_on_the_line(tmp_path):
    assert (
        read_questions(written(tmp_path, "Q?"))[0].key
        == read_questions(written(tmp_path, "\n\nQ?"))[0].key
    )


def test_stdin_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Q?\n")))
    assert [one.question for one in read_questions("-")] == ["Q?"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no question"),
        ("\n \n", "no question"),
        ('{"question": 3}', "line 1"),
        ('Q?\n{"question": " "}', "line 2"),
        ("{broken", "line 1 is not JSON"),
        ('{"id": 1, "question": "a"}\n{"id": 1, "question": "b"}', "occurs twice"),
        (b"ok\n\xff\xfe", "byte 4 is not UTF-8"),
    ],
)
def test_what_is_no_question_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        read_questions(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.txt: No such file"):
        read_questions(str(tmp_path / "none.txt"))


def test_lines_may_end_as_on_any_system(tmp_path):
    asked = read_questions(written(tmp_path, "One?\rTwo?\r\nThree?\nFour?"))
    assert [one.question for one in asked] == ["One?", "Two?", "Three?", "Four?"]


def test_utf_16_is_read_by_its_first_bytes_and_named_without_them(tmp_path):
    assert read_questions(written(tmp_path, "納期は？".encode("utf-16")))[0].question == "納期は？"
    with pytest.raises(ConfigError, match="character 2 is NUL") as caught:
        read_questions(written(tmp_path, "One?".encode("utf-16-le")))
    assert caught.value.hint == "save it as UTF-8"
