from __future__ import annotations

from pathlib import Path

import pytest

from rag_app.cli.output import Output
from tests.rag_app.cli.conftest import CRANE
from tests.support.openai_server import Failure, Reply
from tests.support.pdfs import make_pdf
from tests.support.scans import scan_of, varied_lines

KEY = "sk-a-secret-key-of-the-user-0123456789"


def test_the_report_names_each_file(rag, pdfs):
    done = rag("ingest", pdfs)
    assert done.code == 0
    assert "added      pdfs/crane.pdf: 1 pages" in done.out
    assert "added      pdfs/valve.pdf: 2 pages" in done.out
    assert ".rag: 2 added;" in done.out.splitlines()[-1]
    assert done.err == ""


def test_json_is_the_report_and_nothing_else(rag, pdfs):
    done = rag("ingest", pdfs / "valve.pdf", "--json")
    assert done.code == 0
    report = done.json
    assert report["embedded"] > 0
    assert report["seconds"] >= 0
    (file,) = report["files"]
    assert file.pop("nodes") > 1
    assert file == {
        "file": str(pdfs / "valve.pdf"),
        "status": "added",
        "pages": 2,
        "pages_without_text": [],
        "page_states": {},
        "ocr_pages": {},
        "page_readers": {},
        "error": None,
        "hint": None,
    }


def test_ingesting_again_embeds_nothing(rag, pdfs, model):
    """Case 5: the same folder three times."""
    first = rag("ingest", pdfs, "--json").json
    embedded = model.embedded
    counts = [file["nodes"] for file in first["files"]]
    for _ in range(2):
        again = rag("ingest", pdfs, "--json").json
        assert [file["status"] for file in again["files"]] == ["unchanged", "unchanged"]
        assert [file["nodes"] for file in again["files"]] == counts
        assert again["embedded"] == 0
    assert model.embedded == embedded


@pytest.fixture
def broken(pdfs) -> Path:
    """Files that cannot be read, each for another reason, beside two that can."""
    whole = (pdfs / "valve.pdf").read_bytes()
    (pdfs / "truncated.pdf").write_bytes(whole[: len(whole) // 3])
    (pdfs / "empty.pdf").write_bytes(b"")
    (pdfs / "page.pdf").write_text("<!DOCTYPE html><html><body>no</body></html>")
    make_pdf(pdfs / "locked.pdf", ["Secret."], password="open sesame")
    make_pdf(pdfs / "scan.pdf", ["", ""], scanned=[1, 2])
    return pdfs


def test_files_that_fail_are_named_with_their_reason_and_the_others_go_in(rag, broken):
    """Case 20."""
    done = rag("ingest", broken, "--json")
    assert done.code == 0
    files = {Path(file["file"]).name: file for file in done.json["files"]}
    failed = {name: file for name, file in files.items() if file["status"] == "failed"}
    assert set(failed) == {"truncated.pdf", "empty.pdf", "page.pdf", "locked.pdf", "scan.pdf"}
    assert len({file["error"].split(": ", 1)[1] for file in failed.values()}) == 5
    assert all(file["hint"] for file in failed.values())
    assert files["valve.pdf"]["status"] == files["crane.pdf"]["status"] == "added"
    assert rag("search", "lead time").code == 0


def test_the_report_for_people_has_a_line_for_each_failure(rag, broken):
    done = rag("ingest", broken)
    assert done.code == 0
    assert len([line for line in done.out.splitlines() if line.startswith("failed")]) == 5
    assert "2 added" in done.out.splitlines()[-1]
    assert "5 failed" in done.out.splitlines()[-1]


def test_nothing_indexed_is_an_error_of_one_line(rag, broken):
    done = rag("ingest", broken / "empty.pdf", broken / "page.pdf")
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert done.err.startswith("error: nothing was indexed: pdfs/empty.pdf: ")
    assert "and 1 more" in done.err


def test_a_missing_path_makes_no_index(rag):
    done = rag("ingest", "typo.pdf")
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: typo.pdf: there is no such file (check the path)\n"
    assert not Path(".rag").exists()


def test_a_missing_path_with_json_is_one_document(rag):
    done = rag("ingest", "typo.pdf", "--json")
    assert done.code == 1
    assert done.json["error"]["kind"] == "ReadError"


def test_prune_forgets_what_is_gone_below_the_folder_only(rag, pdfs, place):
    elsewhere = make_pdf(place / "other.pdf", ["Another text altogether."])
    rag("ingest", pdfs, elsewhere)
    (pdfs / "crane.pdf").unlink()
    elsewhere.unlink()
    done = rag("ingest", pdfs, "--prune", "--json")
    assert done.json["removed"] == [str(pdfs / "crane.pdf")]
    names = [source["names"] for source in rag("info", "--json").json["sources"]]
    assert sorted(names) == [[str(elsewhere)], [str(pdfs / "valve.pdf")]]


def test_pipeline_builds_what_a_strategy_searches(rag, index, pdfs):
    missing = rag("search", "crane", "--strategy", "naive")
    assert missing.code == 1
    assert "rag ingest --pipeline naive" in missing.err
    assert rag("ingest", pdfs, "--pipeline", "naive").code == 0
    found = rag("search", "crane lifts", "--strategy", "naive", "--json")
    assert found.json["results"][0]["file"] == "crane.pdf"


def test_an_unknown_pipeline_is_an_error_that_names_the_known(rag, pdfs):
    done = rag("ingest", pdfs, "--pipeline", "magic")
    assert done.code == 1
    assert "magic" in done.err
    assert "hybrid" in done.err
    assert not Path(".rag").exists()


def test_an_embedder_that_fails_keeps_the_old_version(rag, pdfs, model):
    """Case 6."""
    rag("ingest", pdfs)
    make_pdf(pdfs / "crane.pdf", [CRANE.replace("seven", "nine"), "A second page of it."])
    model.fail_after = 0
    failed = rag("ingest", pdfs, "--json").json["files"]
    assert [file["status"] for file in failed] == ["failed", "unchanged"]
    assert "seven tonnes" in rag("search", "crane lifts tonnes").out
    model.fail_after = None
    assert "replaced" in rag("ingest", pdfs).out
    assert "nine tonnes" in rag("search", "crane lifts tonnes").out


def test_the_key_is_nowhere(rag, pdfs, place, monkeypatch):
    """Case 23: a key in the environment, then ingest, merge and JSON."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("RAG_LLM_API_KEY", KEY)
    monkeypatch.setenv("RAG_LLM", "openai:gpt-4o-mini")
    outputs = [
        rag("ingest", pdfs, "--json", "--verbose"),
        rag("ingest", pdfs / "crane.pdf", "--index", "other"),
        rag("merge", ".rag", "other", "--into", "both", "--json", "--verbose"),
        rag("info", "--index", "both", "--json", "--verify"),
        rag("search", "lead time", "--index", "both", "--json", "--verbose"),
        rag("explain", "lead time", "--json"),
    ]
    assert [done.code for done in outputs] == [0] * 6
    assert all(KEY not in done.out + done.err for done in outputs)
    written = [path for path in place.parent.rglob("*") if path.is_file()]
    assert written
    assert all(KEY.encode() not in path.read_bytes() for path in written)


def test_the_report_for_people_names_what_was_pruned(rag, index, pdfs):
    (pdfs / "crane.pdf").unlink()
    done = rag("ingest", pdfs, "--prune")
    assert "removed    pdfs/crane.pdf: it is no longer there\n" in done.out


def test_pages_without_text_are_named(rag, place):
    make_pdf(place / "mixed.pdf", ["Text.", "", "More text."], scanned=[2])
    assert "3 pages, " in (out := rag("ingest", "mixed.pdf").out)
    assert ", no text on page 2 (image only)\n" in out
    assert "\n1 pages have no text: 1 image only\n" in out
    assert "page 2 (image only)" in " ".join(rag("info").out.split())


def test_a_person_sees_progress_on_stderr(rag, pdfs, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(Output, "stderr_on_terminal", True)
    done = rag("ingest", pdfs, "--json")
    assert "valve.pdf" in done.err
    assert "2/2 files 100%" in done.err
    assert done.json["files"]


def test_a_model_writes_what_multi_vector_searches(rag, index, pdfs, serve):
    def write(request):
        asked = "question" in request.prompt.lower()
        return Reply("What hoists loads?" if asked else "A lorry that hoists heavy loads.")

    with serve(write) as server:
        model = ("--llm", "like:test", "--base-url", server.url)
        done = rag("ingest", pdfs, "--pipeline", "multi_vector", *model)
    assert done.code == 0
    assert "summaries and questions to search by" in done.out
    found = rag("search", "lorry hoists", "--strategy", "multi_vector", "--json")
    assert found.code == 0
    assert any(
        match["arm"].endswith(":piece")
        for result in found.json["results"]
        for match in result["matched"]
    )


def test_a_model_that_fails_leaves_the_files_usable(rag, pdfs, serve):
    with serve(Failure(400, "no")) as server:
        model = ("--llm", "like:test", "--base-url", server.url)
        done = rag("ingest", pdfs, "--pipeline", "hybrid", "--pipeline", "multi_vector", *model)
    assert done.code == 0
    assert "passages have none yet, run it again" in done.err
    assert rag("search", "lead time").code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--llm", "like:test"], "add --pipeline multi_vector"),
        (["--base-url", "http://localhost:1/v1"], "name it with --llm"),
    ],
)
def test_a_model_that_would_do_nothing_is_wrong_usage(rag, pdfs, options, said):
    done = rag("ingest", pdfs, *options)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not Path(".rag").exists()


def test_multi_vector_without_a_model_says_what_is_missing(rag, pdfs):
    done = rag("ingest", pdfs, "--pipeline", "hybrid", "--pipeline", "multi_vector")
    assert done.code == 0
    assert "none is named (--llm)" in done.err


def test_files_that_are_no_pdfs_are_counted_in_one_line(rag, pdfs):
    for name in ("a.docx", "b.txt", "c.txt"):
        (pdfs / name).write_text("x")
    done = rag("ingest", pdfs)
    said = "3 files that are not PDFs were passed over (.txt 2, .docx 1)"
    assert done.out.splitlines()[2] == said
    assert rag("ingest", pdfs, "--json").json["skipped"] == {".docx": 1, ".txt": 2}


@pytest.fixture
def scan(place):
    """A file of one page, a scan about a ferry."""
    lines = ["The ferry to Marrowby leaves from quay seven.", *varied_lines(10)]
    path = make_pdf(place.parent / "page.pdf", ["\n".join(lines)])
    (place / "scan.pdf").write_bytes(scan_of(path, noise=10))
    return place / "scan.pdf"


def test_a_scan_is_read_by_ocr_and_its_citation_says_so(rag, scan):
    done = rag("ingest", scan.name)
    assert "scan.pdf: 1 pages, 1 of them read by OCR, " in done.out
    question = "From which quay does the ferry to Marrowby leave?"
    answer = rag("ask", question, "--json").json
    (citation,) = answer["citations"]
    assert "from quay seven" in citation["quotes"][0]["text"]
    assert citation["quotes"][0]["verified"]
    assert citation["read_by"] == "ocr"
    assert 0.8 < citation["confidence"] <= 1
    assert f"scan.pdf, page 1, read by OCR, {citation['confidence']:.0%} certain" in (
        rag("ask", question).out
    )
    (source,) = rag("info", "--json").json["sources"]
    assert source["ocr_pages"] == {"1": citation["confidence"]}


def test_a_scan_that_nothing_reads_is_named_with_the_line_that_installs_what_does(
    rag, place, scan, monkeypatch
):
    make_pdf(place / "mixed.pdf", ["Text.", ""], scanned=[2])
    out = rag("ingest", "mixed.pdf", "--no-ocr").out
    assert "text recognition (OCR) may read 1 of them: give --ocr, or leave out --no-ocr" in out
    monkeypatch.setattr("pipelines.ocr._has_engine", lambda: False)
    done = rag("ingest", "mixed.pdf", "scan.pdf")
    assert "may read 1 of them: in the clone of rag_app: pip install -c" in done.out
    assert "text recognition (OCR) may read it: in the clone of rag_app: pip install" in done.out
    refused = rag("ingest", "mixed.pdf", "--ocr")
    assert refused.code == 1
    assert "text recognition needs tesserocr, not installed" in refused.err
