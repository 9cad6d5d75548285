from __future__ import annotations

import sqlite3
from contextlib import closing

from tests.support.pdfs import make_pdf


def test_text_tells_files_model_and_what_is_built(rag, index):
    done = rag("info")
    assert done.code == 0
    assert ".rag: 2 files, 3 pages" in done.out
    assert "embedding model: hash, knows all" in done.out
    assert "built: " in done.out
    assert "child-256" in done.out
    assert "valve.pdf" in done.out


def test_json_has_config_and_sources(rag, index, pdfs):
    document = rag("info", "--json").json
    assert document["config"]["embed_model"] == "hash"
    assert document["findings"] is None
    assert [source["names"] for source in document["sources"]] == [
        [str(pdfs / "crane.pdf")],
        [str(pdfs / "valve.pdf")],
    ]
    assert document["scripts"]["latin"] > 0


def test_verify_finds_nothing_wrong_with_a_whole_index(rag, index):
    assert "every link holds" in rag("info", "--verify").out
    assert rag("info", "--verify", "--json").json["findings"] == []


def test_no_index_is_an_error(rag):
    done = rag("info", "--index", "nowhere")
    assert done.code == 1
    assert "nowhere" in done.err


def test_another_model_of_the_same_length_is_an_error_that_names_both(rag, index, model):
    """Case 18."""
    model.model_name = "another"
    done = rag("search", "valve", "--embed-model", "another")
    assert done.code == 1
    assert "hash" in done.err
    assert "another" in done.err


def test_verify_names_what_is_broken_and_exits_with_1(rag, index):
    with closing(sqlite3.connect(index / "index.sqlite")) as database:
        database.execute("DELETE FROM vectors")
        database.commit()
    done = rag("info", "--verify")
    assert done.code == 1
    assert "every link holds" not in done.out
    assert "vector" in done.out.splitlines()[-2]
    assert done.out.splitlines()[-1] == "repair it with `rag repair --index .rag`"
    assert rag("info", "--verify", "--json").json["findings"]


def test_scripts_that_the_model_does_not_know_are_named(rag, place, model):
    model.scripts = ("latin",)
    make_pdf(place / "ja.pdf", ["就業規則の第十二条は年次有給休暇を定める。"])
    ingested = rag("ingest", "ja.pdf")
    assert "in cjk script are found by words alone" in ingested.err
    done = rag("info")
    assert "in cjk script are searched by words alone: hash does not know it" in done.out
    assert rag("info", "--json").json["silent_scripts"] == ["cjk"]
    asked = rag("search", "年次有給休暇")
    assert asked.out.startswith("1. ja.pdf, page 1")
    assert asked.err.count("took no part") == 1


def test_what_is_damaged_is_named_with_the_command_that_repairs_it(rag, index, pdfs):
    with closing(sqlite3.connect(index / "index.sqlite")) as database:
        database.execute("UPDATE blocks SET text = replace(text, '4.2', '9.2')")
        database.commit()
    done = rag("info", "--verify")
    assert done.code == 1
    assert "valve.pdf was changed between characters 0 and" in done.out
    assert "repair it with `rag repair --index .rag`" in done.out
    asked = rag("search", "valve pressure")
    assert asked.code == 1
    assert "valve.pdf does not match its checksum" in asked.err
    assert "rag repair" in asked.err
