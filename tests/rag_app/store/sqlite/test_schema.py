"""Databases are told by their schema: ours, earlier, later, or of another program."""

from __future__ import annotations

import sqlite3

import pytest

from pipelines.errors import IndexDamagedError, IndexMismatchError, IndexNewerError
from rag_app.store.sqlite.schema import SCHEMA_VERSION, check_schema, create_tables


def test_a_new_index_is_accepted_and_has_an_identity_of_its_own():
    identities = set()
    for _ in range(2):
        sql = sqlite3.connect(":memory:", isolation_level=None)
        create_tables(sql, "{}")
        check_schema(sql, "index")
        identities.add(sql.execute("SELECT identity FROM state").fetchone())
        sql.close()
    assert len(identities) == 2


@pytest.mark.parametrize(
    ("version", "error"),
    [
        (SCHEMA_VERSION + 1, IndexNewerError),
        (SCHEMA_VERSION - 1, IndexMismatchError),
        (0, IndexDamagedError),
    ],
)
def test_another_version_is_refused_with_what_to_do(empty, version, error):
    empty.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(error, match="index") as caught:
        check_schema(empty, "index")
    assert caught.value.hint


def test_a_database_of_another_program_is_not_ours():
    sql = sqlite3.connect(":memory:")
    with pytest.raises(IndexDamagedError, match="not a database of this program"):
        check_schema(sql, "index")
    sql.close()
