"""Answers and passages as text: places, quotes, origin and failed parts."""

from __future__ import annotations

import io

import pytest

from rag_app.cli.output import Output
from rag_app.cli.show import degraded, excerpt, place, results, unread_pages

SOURCE = {"file": "a.pdf", "page": 4, "pages": [4], "page_label": "4", "origin": ""}


class Pipe(io.StringIO):
    encoding = "utf-8"


@pytest.fixture
def out():
    return Output(Pipe(), Pipe(), json=False, quiet=False)


def written(out):
    out.flush()
    return out.stdout.getvalue() if hasattr(out, "stdout") else out._stdout.getvalue()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "a.pdf, page 4"),
        ({"page_label": "iv"}, "a.pdf, page 4 (iv)"),
        ({"pages": [4, 5]}, "a.pdf, page 4 (also 5)"),
        ({"page": None, "pages": []}, "a.pdf"),
        ({"origin": "reports"}, "a.pdf, page 4, in reports"),
        ({"file": "a\x1b[31m.pdf"}, "a.pdf, page 4"),
    ],
)
def test_a_place_is_file_page_label_and_index(change, words):
    assert place(SOURCE | change) == words


@pytest.mark.parametrize(
    ("text", "length", "shown"),
    [("a  b\nc", 9, "a b c"), ("abcdef", 4, "abc…"), ("ab cdef", 4, "ab…")],
)
def test_an_excerpt_is_one_line_of_limited_length(text, length, shown):
    assert excerpt(text, length) == shown


def test_results_show_rank_score_arms_and_the_matched_text(out):
    match = {"arm": "words:parent", "rank": 2, "text": "It leaks."}
    found = {**SOURCE, "rank": 1, "score": 0.5, "matched": [match], "text": "The whole passage."}
    results(out, [found])
    results(out, [])
    shown = written(out)
    assert "1. a.pdf, page 4  (score 0.5000)" in shown
    assert "words:parent #2" in shown
    assert "It leaks." in shown
    assert "The whole passage." not in shown
    assert shown.endswith("nothing found\n")


def test_each_reason_of_a_failed_part_is_said_once(out):
    part = {"kind": "failed", "reason": "no model", "hint": "install it"}
    silent = {"kind": "silent", "reason": "Latin only", "hint": "", "part": "vectors:parent"}
    degraded(out, [{**part, "part": "a"}, {**part, "part": "b"}, silent])
    assert out.stderr.getvalue().splitlines() == [
        "warning: a, b failed: no model (install it)",
        "note: vectors:parent took no part: Latin only",
    ]


def test_pages_without_text_are_named(out):
    unread_pages(out, [{"file": "a.pdf", "pages": [2, 3], "states": {"image": [2, 3]}}])
    unread_pages(out, [])
    assert written(out).split("\n")[1] == "not searched: a.pdf, page 2-3 (image only)"
