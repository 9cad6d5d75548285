"""The display of an ingest: a line for each file, and what an interrupt leaves."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rag_app.cli.output import Output
from rag_app.cli.watching import IngestView, line, passed_over, reason
from rag_app.ingest import FileReport

ADDED = FileReport("a.pdf", "added", pages=2, nodes=5)
FAILED = FileReport("b.pdf", "failed", error="b.pdf: it is encrypted", hint="give a password")


class Pipe(io.StringIO):
    encoding = "utf-8"


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (ADDED, "added      a.pdf: 2 pages, 5 nodes"),
        (
            FileReport("a.pdf", "added", pages=3, nodes=1, page_states={"damaged": (2, 3)}),
            "added      a.pdf: 3 pages, 1 nodes, no text on page 2-3 (does not load)",
        ),
        (FAILED, "failed     b.pdf: it is encrypted (give a password)"),
    ],
)
def test_a_line_says_what_became_of_a_file(report, text):
    assert line(report) == text


def test_a_reason_names_the_file_once():
    assert reason(FAILED) == "b.pdf: it is encrypted (give a password)"


@pytest.mark.parametrize("json", [False, True])
def test_reports_go_to_stdout_or_beside_json_to_stderr(json):
    stdout, stderr = Pipe(), Pipe()
    view = IngestView(Output(stdout, stderr, json=json, quiet=False), Path("index"))
    view.settled(ADDED)
    assert ("a.pdf" in stdout.getvalue(), "a.pdf" in stderr.getvalue()) == (not json, json)


def test_an_interrupt_counts_the_files_that_are_in_the_index():
    view = IngestView(Output(Pipe(), Pipe(), json=True, quiet=True), Path("index"))
    assert view.interrupted().startswith("what was finished is in index;")
    view.progress("a.pdf", "check", 1, 3)
    view.settled(ADDED)
    view.settled(FAILED)
    assert view.interrupted().startswith("1 of 3 files are in index;")


@pytest.mark.parametrize(
    ("skipped", "said"),
    [
        ({".docx": 1}, "1 file that is not a PDF was passed over (.docx 1)"),
        ({".txt": 5, "": 7}, "12 files that are not PDFs were passed over (no ending 7, .txt 5)"),
    ],
)
def test_files_that_are_not_pdfs_are_counted_by_ending(skipped, said):
    assert passed_over(skipped) == said


def test_only_the_most_frequent_endings_are_named():
    assert passed_over({f".{n}": n for n in range(1, 9)}).endswith(".3 3, 2 other kinds)")
