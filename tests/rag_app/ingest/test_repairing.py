"""A damaged index is made whole: from its text, from its files, or without what is lost."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.errors import IndexDamagedError
from rag_app.index import Index
from rag_app.store.sqlite.schema import DATABASE, DERIVED
from tests.support.embedding import HashEmbedding
from tests.support.pdfs import make_pdf

_PAGE = 8192  # bytes of a page of the database
_AFTER_STATE = 4  # pages before it: schema and state

VALVE = "The valve AX-450 opens at a pressure of $4.2 million.\nIts lead time is twelve weeks."
CRANE = "The crane lifts seven tonnes.\nIts operator must hold a licence of class B."


@pytest.fixture
def pdfs(tmp_path: Path) -> Path:
    folder = tmp_path / "pdfs"
    folder.mkdir()
    make_pdf(folder / "valve.pdf", [VALVE])
    make_pdf(folder / "crane.pdf", [CRANE])
    shutil.copy(folder / "valve.pdf", folder / "copy.pdf")
    return folder


@pytest.fixture
def index(tmp_path: Path, pdfs: Path) -> Iterator[Index]:
    with Index.create(tmp_path / "index", embed_model=HashEmbedding()) as opened:
        opened.ingest(pdfs)
        yield opened


def change(index: Index, *statements: str) -> None:
    sql = sqlite3.connect(index.path / DATABASE, isolation_level=None)
    for statement in statements:
        sql.execute(statement)
    sql.close()


def reopened(index: Index) -> Index:
    """Open it again: what a process remembers of an index is not damaged by SQL."""
    index.close()
    return Index.open(index.path, embed_model=HashEmbedding())


def found(index: Index, question: str) -> list[str]:
    return [node.node.get_content() for node in index.as_retriever().retrieve(question)]


def names(index: Index) -> list[str]:
    with index.store.snapshot() as snapshot:
        return [Path(name).name for name in snapshot.names()]


CHANGED = "UPDATE blocks SET text = replace(text, '$4.2', '$9.2')"


def test_a_sound_index_is_not_touched(index: Index) -> None:
    before = (index.path / DATABASE).read_bytes()
    report = index.repair()
    assert report.ok
    assert (report.findings, report.files, report.derived) == ((), (), ())
    assert (index.path / DATABASE).read_bytes() == before


def test_a_changed_text_is_refused_found_and_read_again_with_all_names(index: Index) -> None:
    before = found(index, "pressure")
    change(index, CHANGED)
    with reopened(index) as index:
        with pytest.raises(IndexDamagedError, match=r"valve\.pdf|copy\.pdf") as caught:
            found(index, "pressure")
        assert f"rag repair --index {index.path}" in caught.value.hint
        findings = index.info(verify=True).findings
        assert findings
        assert all("rag repair --index" in finding.hint for finding in findings)
        report = index.repair()
        assert report.ok
        assert [file.outcome for file in report.files] == ["read_again"]
        assert index.info(verify=True).findings == ()
        assert found(index, "pressure") == before
        assert names(index) == ["copy.pdf", "crane.pdf", "valve.pdf"]


def test_a_file_whose_bytes_are_gone_is_left_out_and_named(index: Index, pdfs: Path) -> None:
    make_pdf(pdfs / "valve.pdf", ["Another text."])
    (pdfs / "copy.pdf").unlink()
    change(index, CHANGED)
    with reopened(index) as index:
        report = index.repair()
        assert not report.ok
        (lost,) = report.files
        assert lost.outcome == "left_out"
        assert {Path(name).name for name in lost.names} == {"copy.pdf", "valve.pdf"}
        assert "ingest it again" in lost.reason
        assert report.remaining == ()
        assert names(index) == ["crane.pdf"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vectors SET matrix = zeroblob(length(matrix))",
        "DELETE FROM words",
        "UPDATE noted_sentences SET starts = zeroblob(length(starts))",
        "UPDATE terms SET term = term || 'x'",
    ],
)
def test_what_is_searched_is_made_again_from_whole_texts(
    index: Index, pdfs: Path, statement: str
) -> None:
    before = found(index, "pressure")
    shutil.rmtree(pdfs)  # nothing can be read again
    change(index, statement)
    with reopened(index) as index:
        report = index.repair()
        assert report.ok, report
        assert {file.outcome for file in report.files} == {"completed"}
        assert found(index, "pressure") == before


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM nodes WHERE node = 1",
        "DELETE FROM pages",
        "DELETE FROM contents WHERE content = 1",
        "UPDATE contents SET title = 'Another'",
        "UPDATE nodes SET heading = 'Another' WHERE passage = node",
        "UPDATE pages SET label = '99'",
        "UPDATE kinds SET name = name || 'x'",
        "UPDATE sqlite_sequence SET seq = 1",
        "CREATE TABLE further (x)",
    ],
)
def test_whatever_row_is_damaged_the_index_is_whole_again(index: Index, statement: str) -> None:
    before = found(index, "pressure"), found(index, "crane")
    change(index, statement)
    with reopened(index) as index:
        assert index.store.verify()
        report = index.repair()
        assert report.ok, report
        assert index.store.verify() == []
        assert (found(index, "pressure"), found(index, "crane")) == before
        assert names(index) == ["copy.pdf", "crane.pdf", "valve.pdf"]


def test_a_reader_that_is_open_goes_on_and_sees_the_repaired_index(index: Index) -> None:
    change(index, CHANGED)
    with Index.open(index.path, embed_model=HashEmbedding()) as reader:
        with reader.store.snapshot() as snapshot:
            before = snapshot.generation
            assert index.repair().ok
            assert snapshot.generation == before
            assert len(snapshot.sources()) == 2
        with reader.store.snapshot() as snapshot:
            assert snapshot.generation > before
        assert "$4.2" in "".join(found(reader, "pressure"))


def test_derived_files_that_are_damaged_are_built_anew(index: Index) -> None:
    before = found(index, "pressure")
    files = sorted((index.path / DERIVED).iterdir())
    for path in files:
        data = bytearray(path.read_bytes())
        data[0] ^= 1
        path.write_bytes(data)
    with reopened(index) as index:
        assert {one.check for one in index.store.verify()} == {"derived file→generation"}
        assert found(index, "pressure") == before
        report = index.repair()
        assert report.ok
        assert sorted(report.derived) == [f"{DERIVED}/{path.name}" for path in files]
        assert not report.files
        assert index.store.verify() == []


def test_a_repair_that_fails_leaves_the_index_as_it_was(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(index, CHANGED)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("stop")

    monkeypatch.setattr("rag_app.ingest.repairing.ingest", fail)
    with reopened(index) as index:
        with pytest.raises(RuntimeError):
            index.repair()
        assert sorted(path.name for path in index.path.iterdir() if "merging" in path.name) == []
        assert index.store.verify()


def test_file_of_an_odd_name_is_read_again_from_its_path(tmp_path: Path) -> None:
    odd = make_pdf(tmp_path / os.fsdecode(b"odd\xff\n.pdf"), [VALVE])
    with Index.create(tmp_path / "index", embed_model=HashEmbedding()) as made:
        made.ingest(odd)
        change(made, "UPDATE blocks SET text = replace(text, '$4.2', '$9.2')")
        opened = reopened(made)
    with opened:
        [file] = opened.repair().files
        assert (file.outcome, names(opened)) == ("read_again", ["odd\\xff\\x0a.pdf"])
        assert "$4.2 million" in found(opened, "valve")[0]


@pytest.mark.parametrize("seed", range(8))
def test_an_index_with_a_destroyed_page_of_its_database_is_whole_again(
    index: Index, seed: int
) -> None:
    """Where the page held all names, what they named is left out, and that is said."""
    before = found(index, "pressure")
    index.close()
    path = index.path / DATABASE
    data = bytearray(path.read_bytes())
    page = random.Random(seed).randrange(_AFTER_STATE, len(data) // _PAGE)
    data[page * _PAGE : (page + 1) * _PAGE] = bytes(_PAGE)
    path.write_bytes(data)
    with Index.open(index.path, embed_model=HashEmbedding()) as index:
        report = index.repair()
        assert report.remaining == ()
        assert index.store.verify() == []
        if report.ok:
            assert found(index, "pressure") == before
            assert names(index) == ["copy.pdf", "crane.pdf", "valve.pdf"]
        else:
            left = [file for file in report.files if file.outcome == "left_out"]
            assert left
            assert all("its name cannot be read" in file.reason for file in left)
