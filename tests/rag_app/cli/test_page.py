"""``rag show``: the page of a source of the last answer."""

from __future__ import annotations

import json

from PIL import Image

QUESTION = "What is the lead time of the valve?"


def test_the_page_of_a_source_is_written_as_a_new_png(rag, index, place):
    assert rag("ask", QUESTION, "--index", ".rag").code == 0
    done = rag("show", "1")
    assert done.code == 0, done.err
    written = done.out.split(": ")[0]
    with Image.open(place / written) as image:
        assert image.format == "PNG"
    again = rag("show", "1").out.split(": ")[0]
    assert again != written


def test_json_says_what_is_marked_and_where(rag, index, place):
    rag("ask", QUESTION, "--index", ".rag", "--json")
    done = rag("show", "1", "--output", "page.png", "--scale", "1", "--json")
    document = json.loads(done.out)
    assert document["image"] == "page.png"
    assert document["marked"] > 0
    assert document["changed"] is False
    assert document["rectangles"][0][0]["boxes"]
    assert (place / "page.png").stat().st_size > 100


def test_a_file_that_has_gone_is_said_in_a_line(rag, index, place):
    rag("ask", QUESTION, "--index", ".rag")
    for file in (place / "pdfs").iterdir():
        file.unlink()
    done = rag("show")
    assert done.code == 1
    assert "is gone" in done.err
    assert done.err.count("\n") == 1


def test_a_number_that_the_answer_does_not_have_says_how_many_it_has(rag, index):
    rag("ask", QUESTION, "--index", ".rag")
    done = rag("show", "77")
    assert done.code == 1
    assert "no source 77" in done.err


def test_without_an_answer_it_says_to_ask_first(rag, place):
    done = rag("show")
    assert done.code == 1
    assert "rag ask" in done.err


def test_a_scale_out_of_bounds_is_a_usage_error(rag, index):
    assert rag("show", "1", "--scale", "0").code == 2
    assert rag("show", "1", "--scale", "1e9").code == 2
