"""Flips, cuts, deletions and swaps: an answer is as before, or the damage is reported."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from pipelines.errors import IndexDamagedError
from rag_app.store.sqlite.schema import DATABASE, DERIVED
from rag_app.store.sqlite.store import open_store
from tests.hostile.damage import (
    Templates,
    answers,
    judge,
    make_templates,
    run,
    verifications_beside_a_writer,
)


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    return make_templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture
def folder(templates: Templates, tmp_path: Path) -> Path:
    shutil.copytree(templates.index, tmp_path / "index")
    return tmp_path / "index"


def test_no_damage_gives_a_wrong_answer_that_verification_does_not_find(tmp_path: Path) -> None:
    tally = run(tmp_path, range(100))
    assert tally.violations == []
    assert tally.outcomes["refused, says what to do"] > 10
    assert tally.outcomes["as before"] > 5


def test_derived_files_of_another_index_are_not_used(templates: Templates, folder: Path) -> None:
    expected = answers(folder)
    theirs = sorted((templates.other / DERIVED).iterdir())
    for path in (folder / DERIVED).iterdir():
        how = path.name.split("-")[0]
        shutil.copyfile(next(one for one in theirs if one.name.startswith(how)), path)
    assert judge(folder, expected) == "as before, found"
    with open_store(folder) as store:
        assert {"derived file→generation"} == {one.check for one in store.verify()}


def test_derived_files_of_an_older_generation_are_not_used(
    templates: Templates, folder: Path
) -> None:
    expected = answers(folder)
    older = sorted((templates.older / DERIVED).iterdir())
    for path in (folder / DERIVED).iterdir():
        how = path.name.split("-")[0]
        shutil.copyfile(next(one for one in older if one.name.startswith(how)), path)
    assert judge(folder, expected) == "as before, found"


def test_a_database_of_another_index_answers_for_itself(templates: Templates, folder: Path) -> None:
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        shutil.copyfile(templates.other / name, folder / name)
    assert answers(folder) == answers(templates.other)


def test_an_older_database_beside_newer_derived_files_is_found(
    templates: Templates, folder: Path
) -> None:
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        shutil.copyfile(templates.older / name, folder / name)
    with open_store(folder) as store:
        assert any("older copy" in finding.message for finding in store.verify())


@pytest.mark.parametrize("table", ["vectors", "words", "noted_sentences"])
def test_an_empty_blob_is_refused_or_found(folder: Path, table: str) -> None:
    expected = answers(folder)
    column = {"vectors": "matrix", "words": "entries", "noted_sentences": "starts"}[table]
    sql = sqlite3.connect(folder / DATABASE, isolation_level=None)
    sql.execute(f"UPDATE {table} SET {column} = x''")
    sql.close()
    shutil.rmtree(folder / DERIVED)  # nothing but the database is left to search
    assert judge(folder, expected) in ("refused, says what to do", "as before, found")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE pages SET number = number + 1",
        "UPDATE pages SET label = label || 'x'",
        "UPDATE pages SET start = start + 1 WHERE start > 0",
        "UPDATE names SET file_name = file_name || 'x'",
        "UPDATE contents SET title = title || 'x'",
        "UPDATE nodes SET start = start + 1",
        "DELETE FROM blocks WHERE start = 0",
        "DELETE FROM pages",
        "DELETE FROM nodes WHERE passage = node",
        "UPDATE nodes SET passage = passage + 1 WHERE passage <> node",
    ],
)
def test_what_would_make_a_wrong_citation_is_refused_when_it_is_read(
    folder: Path, statement: str
) -> None:
    sql = sqlite3.connect(folder / DATABASE, isolation_level=None)
    sql.execute(statement)
    sql.close()
    with pytest.raises(IndexDamagedError, match="rag repair --index"):
        answers(folder)


def test_verification_beside_a_writer_gives_no_false_alarm(folder: Path) -> None:
    assert [found for found in verifications_beside_a_writer(folder, 40) if found] == []
