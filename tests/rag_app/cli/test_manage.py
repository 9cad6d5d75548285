from __future__ import annotations


def test_remove_takes_a_file_away_by_name_or_path(rag, index, pdfs):
    done = rag("remove", "crane.pdf")
    assert (done.code, done.out) == (0, "removed pdfs/crane.pdf\n")
    assert "crane" not in rag("search", "crane lifts seven tonnes").out
    report = rag("remove", pdfs / "valve.pdf", "--json").json
    assert report == {"removed": [str(pdfs / "valve.pdf")], "unknown": [], "contents": 1}
    assert rag("info", "--json").json["sources"] == []


def test_remove_of_what_is_not_there_is_an_error(rag, index):
    done = rag("remove", "crane.pdf", "typo.pdf", "--json")
    assert done.code == 1
    assert done.json["unknown"] == ["typo.pdf"]
    assert done.json["contents"] == 1
    assert done.err == "error: not in .rag: typo.pdf (rag info shows what is)\n"


def test_merge_holds_what_is_common_once_and_embeds_nothing(rag, pdfs, model):
    """Case 21."""
    rag("ingest", pdfs, "--index", "A")
    rag("ingest", pdfs / "crane.pdf", "--index", "B")
    embedded = model.embedded
    done = rag("merge", "A", "B", "--into", "C", "--json")
    assert done.code == 0
    assert len(done.json["sources"]) == 2
    assert model.embedded == embedded
    found = rag("search", "valve crane", "--index", "C", "--json").json["results"]
    assert {result["origin"] for result in found} <= {"A", "B"}
    assert len(rag("info", "--index", "A", "--json").json["sources"]) == 2


def test_merge_says_what_it_did(rag, pdfs):
    rag("ingest", pdfs, "--index", "A")
    done = rag("merge", "A", "--into", "C")
    assert done.out == "C: 2 files, 3 pages, from 1 indexes; nothing was embedded again\n"


def test_merge_into_a_source_is_wrong_usage(rag):
    done = rag("merge", "A", "B", "--into", "./A")
    assert done.code == 2
    assert "--into" in done.err


def test_merge_needs_a_target(rag):
    done = rag("merge", "A")
    assert done.code == 2
    assert "--into" in done.err
