"""The report of an ingest: counts, failures, JSON, and the report of a further run."""

from __future__ import annotations

import json

import pytest

from rag_app.ingest.report import FileReport, IngestReport, RemoveReport

ADDED = FileReport(
    "a.pdf", "added", pages=2, pages_without_text=(2,), nodes=5, page_states={"image": (2,)}
)
FAILED = FileReport("b.pdf", "failed", error="it is encrypted", hint="give a password", kind="E")


def report(*files, **values):
    return IngestReport(files, 7, 1.25, **values)


@pytest.mark.parametrize(("files", "ok"), [((), True), ((ADDED, FAILED), True), ((FAILED,), False)])
def test_an_ingest_is_ok_while_one_input_is_in_the_index(files, ok):
    assert report(*files).ok == ok
    assert report(*files).failed == tuple(file for file in files if file is FAILED)


def test_the_text_names_counts_and_each_failure():
    assert str(report(ADDED, FAILED)) == (
        "1 added, 1 failed; 7 texts embedded in 1.2 s\n"
        "no text: a.pdf: page 2 (image only)\n"
        "failed: b.pdf: it is encrypted (give a password)"
    )
    assert repr(report()) == "<IngestReport: no files>"


def test_the_json_of_a_file_has_null_for_no_error():
    found = json.loads(json.dumps(report(ADDED, FAILED, skipped={".docx": 1}).to_dict()))
    assert found["files"][0] == {
        **{"file": "a.pdf", "status": "added", "pages": 2, "pages_without_text": [2]},
        **{"page_states": {"image": [2]}, "ocr_pages": {}, "page_readers": {}},
        **{"nodes": 5, "error": None, "hint": None},
    }
    assert (found["files"][1]["error"], found["files"][1]["hint"]) == (FAILED.error, FAILED.hint)
    assert found["page_states"] == {"image": 1}
    assert (found["skipped"], found["seconds"]) == ({".docx": 1}, 1.25)


def test_a_later_run_replaces_its_files_and_adds_its_counts():
    first = report(ADDED, FAILED, too_long={"parent": 1})
    later = IngestReport((FileReport("b.pdf", "added"),), 3, 1.0, too_long={"parent": 2})
    both = first.followed_by(later)
    assert [file.status for file in both.files] == ["added", "added"]
    assert (both.embedded, both.seconds, both.too_long) == (10, 2.25, {"parent": 3})


def test_a_removal_reports_names_and_contents():
    assert RemoveReport(("a",), ("b",), 1).to_dict() == {
        **{"removed": ["a"], "unknown": ["b"], "contents": 1}
    }
