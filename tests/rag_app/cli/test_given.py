"""Questions from stdin, questions without quotes, and folders in place of files."""

from __future__ import annotations

import io
import os
import sys
import threading

import pytest

from tests.support.hanging import MAX_HANG_S
from tests.support.pdfs import make_pdf


class Stdin(io.TextIOWrapper):
    def __init__(self, data: bytes, *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data))
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.fixture
def stdin(monkeypatch):
    return lambda *given, **more: monkeypatch.setattr(sys, "stdin", Stdin(*given, **more))


@pytest.mark.parametrize("arguments", [("ask", "-"), ("ask",)])
@pytest.mark.parametrize(
    "data",
    [
        b"What is the lead time of the valve?\n",
        "What is the lead time\r\nof the valve?".encode("utf-16"),
    ],
)
def test_a_question_on_stdin_is_asked(rag, index, stdin, arguments, data):
    stdin(data)
    done = rag(*arguments)
    assert done.code == 0
    assert "twelve weeks" in done.out


def test_a_question_on_stdin_is_put_to_pdfs(rag, two, stdin):
    stdin(b"What is the lead time of the valve?")
    assert "twelve weeks" in rag("ask", "-", *two).out


@pytest.mark.parametrize(
    ("arguments", "data", "terminal", "words"),
    [
        (("ask",), b"", True, "or on stdin"),
        (("ask",), b" \n", False, "give a question"),
        (("ask", "-"), b"", False, "no question on stdin"),
        (("ask", "-"), b"\xff\xff", False, "byte 1 is not UTF-8"),
        (("ask", "-"), b"x" * 1_000_001, False, "--questions -"),
    ],
)
def test_no_question_is_a_usage_error(rag, index, stdin, arguments, data, terminal, words):
    stdin(data, terminal=terminal)
    done = rag(*arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_questions_come_from_a_pipe_with_a_name(rag, index, place):
    pipe = place / "questions"
    os.mkfifo(pipe)
    writer = threading.Thread(
        target=pipe.write_text, args=("What is the lead time of the valve?\n",)
    )
    writer.start()
    done = rag("ask", "--questions", pipe)
    writer.join(MAX_HANG_S)
    assert not writer.is_alive()
    assert [line["outcome"] for line in done.lines] == ["answered"]


def test_questions_come_from_stdin(rag, index, stdin):
    stdin(b"What is the lead time of the valve?\n")
    assert [line["outcome"] for line in rag("ask", "--questions", "-").lines] == ["answered"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("ask What is the lead time", 'rag ask "What is the lead time"'),
        ("ask What is it valve.pdf b/c.pdf", 'rag ask "What is it" valve.pdf b/c.pdf'),
        ("search lead time", 'rag search "lead time"'),
        ("search lead time valve.pdf -k 3", 'rag search "lead time" valve.pdf'),
        ("explain 納期 は 何日 --json", 'rag explain "納期 は 何日"'),
        ("ask costs $5 \\n today", r'rag ask "costs \$5 \\n today"'),
    ],
)
def test_a_question_without_quotes_is_told_to_be_quoted(rag, index, arguments, line):
    done = rag(*arguments.split())
    assert (done.code, done.out) == (2, "")
    assert f"put the question in quotes: {line} (see" in done.err


def test_one_word_and_files_that_are_there_or_look_like_it_are_no_such_question(rag, two):
    assert rag("ask", "crane", *two).code in (0, 3)
    missing = rag("ask", "crane", "missing.pdf")
    assert missing.code == 1
    assert "missing.pdf" in missing.err


def test_a_folder_stands_for_the_pdfs_below_it(rag, pdfs, place):
    (pdfs / "deep").mkdir()
    (pdfs / "valve.pdf").rename(pdfs / "deep" / "valve.pdf")
    done = rag("ask", "What is the lead time of the valve?", pdfs, "--json")
    assert done.json["citations"][0]["file"] == "valve.pdf"
    (place / "q.txt").write_text("What is the lead time of the valve?\n")
    (line,) = rag("ask", "--questions", "q.txt", pdfs).lines
    assert line["citations"][0]["file"] == "valve.pdf"


def test_a_folder_without_pdfs_is_named(rag, place):
    (place / "notes").mkdir()
    done = rag("ask", "What?", "notes")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "there is no PDF in the folder notes" in done.err


def test_a_folder_of_many_pdfs_is_to_be_ingested(rag, pdfs, monkeypatch):
    monkeypatch.setattr("rag_app.cached.pdfs.MAX_FOLDER_PDFS", 2)
    make_pdf(pdfs / "third.pdf", ["Three."])
    done = rag("ask", "What is the lead time of the valve?", "pdfs")
    assert done.code == 2
    assert "rag ingest pdfs --index DIR" in done.err


@pytest.mark.parametrize("words", [("valve.pdf",), ("valve.pdf", "crane.pdf")])
def test_files_without_a_question_are_a_usage_error(rag, pdfs, words):
    done = rag("ask", *(pdfs / word for word in words))
    assert done.code == 2
    assert "the question comes before the files" in done.err
