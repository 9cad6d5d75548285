"""Wrong paths and questions: each is said in words with what to do, never as an errno."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from rag_app.cli import questions as reading
from rag_app.cli.given import text_of
from rag_app.evaluation import questions as evaluated

QUESTION = "What is the lead time of the valve?"
# Of each command: its arguments up to a path, and whether that must be a file, a folder or either.
FILES = [
    ["ask", QUESTION, "--config"],
    ["search", QUESTION, "--config"],
    ["trust"],
    ["eval"],
    ["ask", "--questions"],
]
FOLDERS = [
    ["ask", QUESTION, "--index"],
    ["search", QUESTION, "--index"],
    ["explain", QUESTION, "-i"],
    ["info", "--index"],
    ["repair", "--index"],
    ["remove", "a.pdf", "--index"],
    ["eval", "questions.jsonl", "--index"],
]
OTHERS = [
    ["ingest"],
    ["ask", QUESTION],
    ["merge", "--into", "new"],
    ["merge", "a", "--into"],
    ["remove"],
    ["ask", "--out"],
]
PATHS = {
    "empty": "",
    "missing": "nowhere",
    "below a file": "afile/x",
    "a newline": "two\nlines",
    "an escape": "\x1b[31mred",
    "long": "x" * 5000,
    "a loop": "loop",
    "a device": "/dev/null",
    "a pipe": "pipe",
    "a folder": "folder",
    "a file": "afile",
}
NEVER = ("Errno", "Traceback", "bug", "argument:", "\x1b", ": :")


@pytest.fixture
def things(pdfs, place) -> Path:
    (place / "afile").write_text("not what is expected\n")
    (place / "folder").mkdir()
    (place / "questions.jsonl").write_text('{"question": "Q?", "answers": ["x"]}\n')
    (place / "loop").symlink_to("loop")
    os.mkfifo(place / "pipe")
    return place


@pytest.mark.parametrize("kind", PATHS)
def test_a_path_of_the_wrong_kind_is_said_in_words(rag, things, kind):
    for arguments in FILES + FOLDERS + OTHERS:
        if kind == "a pipe" and arguments == ["ask", "--questions"]:
            continue  # which is read, as a shell's <(…) is
        more = ["--questions", "questions.jsonl"] if arguments == ["ask", "--out"] else []
        done = rag(*arguments, PATHS[kind], *more)
        assert done.code in (1, 2), arguments
        assert "error: " in done.err, arguments
        assert not [one for one in NEVER if one in done.err], (arguments, done.err)
    assert not Path(".rag").exists()


def test_an_empty_path_is_not_the_working_folder(rag, things):
    others = [["ingest", "pdfs", "--index"], ["ingest"], ["merge", "a", "--into"], ["trust"]]
    for arguments in [*FOLDERS, *others]:
        done = rag(*arguments, "")
        assert (done.code, done.out) == (2, ""), arguments
        assert "an empty name is not a path" in done.err, arguments


def test_links_that_lead_in_a_circle_are_said(rag, things):
    for arguments in (["ask", QUESTION], ["ingest", "pdfs"], ["info"]):
        done = rag(*arguments, "--index", "loop")
        assert (done.code, done.out) == (2, "")
        assert "'loop': its links lead in a circle" in done.err


def test_a_file_where_an_index_should_be_is_said(rag, things):
    for arguments in (["ask", QUESTION], ["ingest", "pdfs"], ["info"]):
        done = rag(*arguments, "--index", "afile")
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("error: afile is a file, and an index is a folder (")


def test_answers_that_cannot_be_written_name_the_file_that_was_given(rag, index, things):
    (things / "q.txt").write_text(f"{QUESTION}\n")
    done = rag("ask", "--questions", "q.txt", "--out", "nodir/x.jsonl")
    assert done.code == 1
    assert "--out nodir/x.jsonl cannot be written: No such file" in done.err
    assert f"(there is no folder {things / 'nodir'})" in done.err


@pytest.mark.parametrize("command", ["ask", "search", "explain"])
def test_a_question_that_begins_with_a_dash_is_told_how_it_is_asked(rag, command):
    done = rag(command, "-What is it?")
    assert (done.code, done.out) == (2, "")
    assert f"rag {command} -- '-What is it?'" in done.err


def test_a_wrong_option_is_no_question(rag):
    assert "No such option" in rag("ask", "--nonsense", QUESTION).err
    assert "No such option" in rag("ask", QUESTION, "--no-such=a b").err


def test_questions_without_an_end_are_refused_at_a_limit(rag, monkeypatch):
    monkeypatch.setattr(reading, "MAX_QUESTIONS_BYTES", 100)
    done = rag("ask", "--questions", "/dev/zero")
    assert done.code == 1
    assert done.err.startswith("error: /dev/zero: there are more than 100 bytes in it")


def test_a_file_to_measure_that_is_too_large_is_refused(rag, things, monkeypatch):
    monkeypatch.setattr(evaluated, "MAX_QUESTIONS_BYTES", 10)
    done = rag("eval", "questions.jsonl")
    assert (done.code, done.out) == (1, "")
    assert "questions.jsonl is larger than 10 bytes" in done.err


def test_json_nested_too_deeply_is_no_json(rag, things):
    (things / "deep.jsonl").write_text('{"question": ' + "[" * 100_000 + "\n")
    for arguments in (["eval", "deep.jsonl"], ["ask", "--questions", "deep.jsonl"]):
        done = rag(*arguments)
        assert done.code == 1
        assert "deep.jsonl, line 1 is not JSON" in done.err


def test_a_question_is_text_where_python_takes_arguments_for_ascii(monkeypatch):
    given = "納期は？".encode().decode("ascii", "surrogateescape")
    monkeypatch.setattr(os, "fsencode", lambda text: text.encode("ascii", "surrogateescape"))
    assert text_of(given) == "納期は？"
    assert sys.getfilesystemencoding() == "utf-8"
