"""Forty good files and one of each bad kind: the good ones go in, each bad one has its reason."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.documents import Limits, read_pdf
from pipelines.errors import ReadError
from rag_app import Index, load_settings
from tests.support.embedding import HashEmbedding
from tests.support.hostile_pdfs import KINDS, write_bad_pdf
from tests.support.pdfs import make_pdf

GOOD = 40
MEMORY = "beyond the memory limit of 300 MB"
# What becomes of each kind; None: a reader finds its text, and it goes in.
REASONS = {
    "page label cycle": "crashed the PDF reader (SIGSEGV)",
    "1.5 GB of spaces": MEMORY,
    "6 GB deflated twice": MEMORY,
    "nested forms": MEMORY,
    "form draws itself": MEMORY,
    "object stream of 1.5 GB": MEMORY,
    "xref loop": None,
    "deep page tree": "Failed to load page",
    "page tree cycle": "Failed to load page",
    "claims two billion pages": None,
    "one page 30,000 times": "it claims 30000 pages",
    "font of 1.5 GB": MEMORY,
    "character map of 1.5 GB": MEMORY,
    "character map uses itself": None,
    "inline image of 4 billion GB": None,
    "JBIG2 image": None,
    "outline cycle": None,
    "huge media box": None,
    "length refers to itself": "unfold beyond what pypdf allows",
    "deep arrays": None,
    "deep content": None,
    "100 million saved states": MEMORY,
    "slow pages": "took longer than",
    "label of 1 MB": None,
    "label in Roman numerals": None,
    "no catalog": "truncated or damaged",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    for number in range(GOOD):
        make_pdf(folder / f"good{number:02}.pdf", [f"Report {number} on sales.", "They grew."])
    for number, kind in enumerate(KINDS):
        write_bad_pdf(folder / f"{number:02}-{kind.replace(' ', '_')}.pdf", kind)
    return folder


def check(files):
    """Compare a report's files (name, status, error) with what should become of them."""
    kinds = list(KINDS)
    said = {}
    for name, status, error in files:
        if name.startswith("good"):
            assert status == "added", (name, error)
        else:
            said[kinds[int(name[:2])]] = error if status == "failed" else None
    assert set(said) == set(REASONS)
    for kind, reason in REASONS.items():
        if reason is None:
            assert said[kind] is None, kind
        else:
            assert reason in (said[kind] or ""), kind
    assert len(files) == GOOD + len(KINDS)


def test_every_kind_has_its_outcome():
    assert set(REASONS) == set(KINDS)


def test_a_program_gets_every_good_file_and_a_reason_for_each_bad_one(folder, tmp_path):
    settings = load_settings(read_memory_mb=300, read_seconds=2)
    with Index.create(tmp_path / "own", embed_model=HashEmbedding(), settings=settings) as index:
        report = index.ingest(folder)
    check([(Path(file.file).name, file.status, file.error) for file in report.files])
    assert all(file.hint for file in report.failed)


def test_a_shell_gets_every_good_file_and_a_reason_for_each_bad_one(folder, tmp_path):
    arguments = ["ingest", str(folder), "--json", "--index", str(tmp_path / "own")]
    arguments += ["--pipeline", "bm25"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "rag_app", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "RAG_READ_MEMORY_MB": "300", "RAG_READ_SECONDS": "2"},
    )
    assert done.returncode == 0, done.stderr
    files = json.loads(done.stdout)["files"]
    check([(Path(f["file"]).name, f["status"], f["error"] or "") for f in files])


@pytest.mark.parametrize("kind", [kind for kind, reason in REASONS.items() if reason])
def test_one_file_alone_is_an_error_of_its_own(tmp_path, kind):
    bad = write_bad_pdf(tmp_path / "bad.pdf", kind)
    with pytest.raises(ReadError) as raised:
        read_pdf(bad, limits=Limits(memory_mb=300, seconds=1, seconds_per_mb=1))
    assert REASONS[kind] in raised.value.message


def test_one_file_put_beside_a_question_is_one_line(tmp_path):
    bad = write_bad_pdf(tmp_path / "bad.pdf", "page label cycle")
    arguments = ["ask", "What grew?", str(bad), "--strategy", "bm25", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "rag_app", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "RAG_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "crashed the PDF reader" in done.stderr
