"""Exceptions while an index is read: damage is named, other exceptions are raised unchanged."""

from __future__ import annotations

import sqlite3

import pytest

from pipelines.errors import ConfigError, IndexDamagedError, StoreError
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.explaining import ForeignSelectionError, NotHereError, explained


class Reader:
    def __init__(self, sql):
        self._sql, self._sums = sql, Checksums.at(sql)

    @explained
    def read(self, error):
        if error is None:
            return 7
        raise error


@pytest.mark.parametrize("error", [ConfigError("x"), NotHereError("x"), ForeignSelectionError("x")])
def test_errors_that_say_what_is_wrong_are_raised_unchanged(tables, error):
    reader = Reader(tables)
    assert reader.read(None) == 7
    with pytest.raises(type(error)):
        reader.read(error)


def test_an_error_of_sqlite_is_an_error_of_the_store(tables):
    with pytest.raises(StoreError):
        Reader(tables).read(sqlite3.OperationalError("no such table: nodes"))


def test_any_other_exception_means_damage_only_where_there_is_some(empty):
    sound = Reader(empty)
    with pytest.raises(ZeroDivisionError):
        sound.read(ZeroDivisionError())
    empty.execute("UPDATE state SET generation = 99")
    with pytest.raises(IndexDamagedError, match="checksum"):
        sound.read(ZeroDivisionError())
