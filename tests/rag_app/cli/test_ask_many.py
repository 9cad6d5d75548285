from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.support.openai_server import Failure, Reply

QUESTIONS = [
    "What is the lead time of the valve?",
    "Which galaxy did Zyxwvut colonise?",
    "Which class of licence must the operator of the crane hold?",
]


@pytest.fixture
def questions(place) -> Path:
    path = place / "questions.txt"
    path.write_text("\n".join(QUESTIONS))
    return path


def test_answers_are_json_lines_in_the_order_of_the_questions(rag, index, questions):
    done = rag("ask", "--questions", questions, "--workers", "3")
    assert done.code == 0
    assert [line["id"] for line in done.lines] == [1, 2, 3]
    assert [line["outcome"] for line in done.lines] == ["answered", "refused", "answered"]
    assert all(line["error"] is None for line in done.lines)
    assert done.err == "2 answered, 1 refused, 0 failed\n"


def test_stdin_and_pdfs(rag, pdfs, monkeypatch):
    text = json.dumps({"id": "a", "question": QUESTIONS[0]})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    done = rag("ask", "--questions", "-", pdfs / "valve.pdf", pdfs / "crane.pdf", "-q")
    assert (done.code, done.err) == (0, "")
    assert (done.lines[0]["id"], done.lines[0]["outcome"]) == ("a", "answered")


def test_a_question_beside_a_file_of_questions_is_wrong_usage(rag, questions):
    done = rag("ask", "What is it?", "--questions", questions)
    assert (done.code, done.out) == (2, "")
    assert "give a question, or a file of them with --questions, not both" in done.err


def test_out_is_continued_where_it_stopped(rag, index, questions, place):
    out = place / "answers.jsonl"
    first = rag("ask", "--questions", questions, "--out", out)
    assert (first.code, first.out) == (0, "")
    lines = out.read_text().splitlines(keepends=True)
    out.write_text(lines[0] + lines[1] + lines[2][:40])
    again = rag("ask", "--questions", questions, "--out", out)
    assert again.code == 0
    assert again.err == "1 answered, 0 refused, 0 failed, 2 done before\n"
    ids = [json.loads(line)["id"] for line in out.read_text().splitlines()]
    assert ids == [1, 2, 3]


def test_a_file_of_something_else_is_not_overwritten(rag, index, questions, place):
    (place / "notes.txt").write_text("precious\n")
    done = rag("ask", "--questions", questions, "--out", "notes.txt")
    assert done.code == 1
    assert (place / "notes.txt").read_text() == "precious\n"


def test_one_that_fails_is_in_the_output_and_the_exit_code_is_1(rag, index, place, serve):
    path = place / "q.txt"
    path.write_text(f"{QUESTIONS[0]}\n{QUESTIONS[2]}\n")

    def answer(request):
        if "operator of the crane" in request.prompt.split("QUESTION")[-1]:
            return Failure(400, "no")
        return Reply("Twelve weeks [1].")

    with serve(answer) as server:
        model = ("--llm", "like:test", "--base-url", server.url)
        done = rag("ask", "--questions", path, *model, "--workers", "1")
    assert done.code == 1
    failed = [line for line in done.lines if line["error"]]
    assert len(done.lines) == 2
    assert failed
    assert {"kind", "message", "hint", "retryable"} == set(failed[0]["error"])
    assert "failed" in done.err


def test_tokens_are_summed(rag, index, place, serve):
    (place / "q.txt").write_text(f"{QUESTIONS[0]}\n{QUESTIONS[0]}\n")
    with serve(Reply("Twelve weeks [1].")) as server:
        done = rag("ask", "--questions", "q.txt", "--llm", "like:test", "--base-url", server.url)
    assert done.code == 0
    assert "200 tokens read and 40 written by the model" in done.err


def test_no_question_is_an_error(rag, index, place):
    (place / "q.txt").write_text("\n")
    done = rag("ask", "--questions", "q.txt")
    assert done.code == 1
    assert done.lines[0]["error"]["kind"] == "ConfigError"


def test_ctrl_c_says_where_the_answers_are(rag, index, questions, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("rag_app.cli.batch.Tally.add", interrupt)
    done = rag("ask", "--questions", questions, "--out", "answers.jsonl")
    assert done.code == 130
    assert done.err == (
        "interrupted: the answers so far are in answers.jsonl; run it again to go on\n"
    )
    assert len(Path("answers.jsonl").read_text().splitlines()) == 1
