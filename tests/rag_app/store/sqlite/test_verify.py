"""Verification: a sound index has no findings, and each broken link is named."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pipelines.errors import IndexDamagedError
from rag_app.store.sqlite.schema import DATABASE
from rag_app.store.sqlite.store import create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    with create_store(path, CONFIG) as store, store.writer() as writer:
        writer.put(prepared("/a.pdf", ["Cats sit. Dogs run.", "Birds fly."]))
        writer.put(prepared(["/b.pdf", "/c.pdf"], ["Fish swim."]))
    return path


def checks(folder: Path) -> set[str]:
    with open_store(folder) as store:
        return {finding.check for finding in store.verify()}


def test_a_sound_index_has_no_findings(folder: Path) -> None:
    assert checks(folder) == set()


CHILD = "(SELECT max(node) FROM nodes)"


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("DELETE FROM names WHERE name = '/a.pdf'", "content→name"),
        ("UPDATE names SET content = 99 WHERE name = '/a.pdf'", "name→content"),
        ("DELETE FROM nodes WHERE passage = node AND start = 0", "child→parent"),
        (f"UPDATE nodes SET passage = node WHERE node = {CHILD}", "vector→node"),
        (f"DELETE FROM nodes WHERE node = {CHILD}", "vector→node"),
        (f"DELETE FROM nodes WHERE node = {CHILD}", "content→nodes"),
        (f"UPDATE nodes SET content = 99 WHERE node = {CHILD}", "node→document"),
        (f"UPDATE nodes SET kind = 99 WHERE node = {CHILD}", "node→kind"),
        (f"UPDATE nodes SET stop = 9999 WHERE node = {CHILD}", "span→text"),
        (f"UPDATE nodes SET start = NULL WHERE node = {CHILD}", "span→text"),
        ("UPDATE pages SET stop = 9999", "page→text"),
        ("UPDATE pages SET content = 99", "page→document"),
        ("DELETE FROM blocks WHERE content = 1", "document→text"),
        ("UPDATE noted_sentences SET content = 99 WHERE content = 1", "sentence→text"),
        ("UPDATE noted_sentences SET starts = x'ffffff00ffffff01'", "sentence→text"),
        ("UPDATE noted_sentences SET starts = x'0900000000000000'", "sentence→text"),
        ("UPDATE noted_sentences SET starts = x'000000'", "sentence→text"),
        ("UPDATE noted_sentences SET terms = x'00000000'", "sentence→text"),
        ("UPDATE noted_sentences SET sizes = substr(sizes, 1, 4)", "sentence→text"),
        ("UPDATE noted_sentences SET stops = zeroblob(4)", "sentence→text"),
        ("UPDATE pages SET raw = zeroblob(9)", "page→checksum"),
        ("UPDATE pages SET label = '9' WHERE page = 1", "page→checksum"),
        ("UPDATE pages SET number = 9 WHERE page = 1", "page→checksum"),
        ("DELETE FROM pages WHERE page = 1", "content→checksum"),
        ("UPDATE blocks SET text = replace(text, 'Cats', 'Dogs')", "document→text"),
        ("UPDATE contents SET title = 'Another'", "content→checksum"),
        ("UPDATE contents SET metadata = '{}' || ' '", "content→checksum"),
        ("DELETE FROM contents WHERE content = 2", "state→contents"),
        ("UPDATE names SET name = '/z.pdf' WHERE name = '/a.pdf'", "name→checksum"),
        ("DELETE FROM names WHERE name = '/c.pdf'", "content→checksum"),
        ("UPDATE nodes SET heading = 'Another' WHERE node = 1", "node→checksum"),
        ("UPDATE nodes SET stop = stop - 1 WHERE node = 1", "node→checksum"),
        ("UPDATE kinds SET name = 'child-129' WHERE name = 'child-128'", "node→checksum"),
        ("UPDATE terms SET term = 'fisk' WHERE term = 'fish'", "words→term"),
        ("UPDATE sqlite_sequence SET seq = 1 WHERE name = 'nodes'", "state→contents"),
        ("CREATE INDEX further ON nodes (kind)", "tables"),
        ("UPDATE blocks SET text = 'short' WHERE start = 0", "document→text"),
        ("UPDATE vectors SET content = 99", "vector→content"),
        ("UPDATE vectors SET matrix = zeroblob(length(matrix))", "vector→node"),
        ("UPDATE vectors SET matrix = substr(matrix, 1, 7)", "vector→node"),
        ("UPDATE vectors SET matrix = substr(matrix, 1, length(matrix) / 2)", "vector→node"),
        ("DELETE FROM vectors WHERE part = 1", "node→vector"),
        ("UPDATE words SET content = 99", "words→content"),
        ("UPDATE words SET lengths = zeroblob(length(lengths))", "words→node"),
        ("UPDATE words SET entries = substr(entries, 1, 3)", "words→node"),
        ("DELETE FROM terms WHERE term = 'fish'", "words→term"),
        ("UPDATE terms SET uses = 7 WHERE term = 'fish'", "words→term"),
        (
            "UPDATE derived SET file = 'derived/none.arrays' WHERE how = 'words'",
            "derived file→generation",
        ),
    ],
)
def test_each_broken_link_is_found(folder: Path, statement: str, check: str) -> None:
    sql = sqlite3.connect(folder / DATABASE, isolation_level=None)
    sql.execute(statement)
    sql.close()
    assert check in checks(folder)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE state SET config = replace(config, 'hash', 'hush')",
        "UPDATE state SET generation = 1",
        "UPDATE state SET identity = '0123456789abcdef'",
        "DELETE FROM state",
    ],
)
def test_an_index_whose_state_was_changed_is_not_opened(folder: Path, statement: str) -> None:
    sql = sqlite3.connect(folder / DATABASE, isolation_level=None)
    sql.execute(statement)
    sql.close()
    with pytest.raises(IndexDamagedError, match="rag repair --index"):
        open_store(folder)


def test_a_derived_file_of_other_numbers_is_found(folder: Path) -> None:
    """Whole and well formed, but not what the database holds."""
    sql = sqlite3.connect(folder / DATABASE, isolation_level=None)
    (matrix,) = sql.execute("SELECT matrix FROM vectors WHERE part = 1").fetchone()
    turned = b"".join(matrix[at : at + 64] for at in range(len(matrix) - 64, -1, -64))
    sql.execute("UPDATE vectors SET matrix = ? WHERE part = 1", (turned,))
    sql.close()
    assert checks(folder) == {"derived file→generation", "vector→node"}


def test_many_findings_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "index"
    with create_store(path, CONFIG) as store, store.writer() as writer:
        for n in range(30):
            writer.put(prepared(f"/{n}.pdf", [f"Text {n}."]))
    sql = sqlite3.connect(path / DATABASE, isolation_level=None)
    sql.execute("DELETE FROM names")
    sql.close()
    with open_store(path) as store:
        findings = [f for f in store.verify() if f.check == "content→name"]
    assert len(findings) == 21
    assert findings[-1].message == "and 10 more"
