"""The seal of a content: a changed column, and a row too many or too few, break it."""

from __future__ import annotations

import pytest

from pipelines.errors import IndexDamagedError
from rag_app.store.sqlite.sealing import check_content, check_rows, content_digest, seal
from tests.rag_app.store.sqlite.conftest import SUMS


def test_a_content_as_written_passes(tables):
    for content in (1, 2):
        assert check_content(tables, SUMS, content) == content_digest(tables, SUMS, content)
        check_rows(tables, SUMS, content)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE contents SET title = 'x'",
        "UPDATE contents SET metadata = '{}'",
        "UPDATE contents SET rows_digest = 1",
        "UPDATE names SET file_name = 'x'",
        "DELETE FROM names WHERE content = 1",
    ],
)
def test_a_changed_column_or_name_breaks_the_seal(tables, change):
    tables.execute(change)
    with pytest.raises(IndexDamagedError, match="the record of content 1"):
        check_content(tables, SUMS, 1)


@pytest.mark.parametrize(
    "table", ["pages", "blocks", "nodes", "noted_sentences", "vectors", "words"]
)
def test_a_missing_row_breaks_the_list_of_rows(tables, table):
    tables.execute(f"DELETE FROM {table} WHERE content = 1")
    with pytest.raises(IndexDamagedError, match="the list of rows of content 1"):
        check_rows(tables, SUMS, 1)


def test_sealing_returns_the_change_of_the_digest(tables):
    before = content_digest(tables, SUMS, 1)
    assert seal(tables, SUMS, 1, rows=True) == 0
    tables.execute("DELETE FROM pages WHERE content = 1")
    tables.execute("UPDATE contents SET title = 'x' WHERE content = 1")
    assert seal(tables, SUMS, 1, rows=True) == before ^ content_digest(tables, SUMS, 1)
    check_content(tables, SUMS, 1)
    check_rows(tables, SUMS, 1)


def test_a_content_that_is_not_there_is_damage(tables):
    with pytest.raises(IndexDamagedError, match="content 9 is not there"):
        content_digest(tables, SUMS, 9)
