"""The undamaged contents of an index are copied into one that takes its place."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from rag_app.store.sqlite.salvage import repair_files
from rag_app.store.sqlite.schema import DATABASE, DERIVED
from tests.rag_app.store.make import vector
from tests.rag_app.store.sqlite.conftest import CATS, FISH


@pytest.fixture
def filled(store):
    with store.writer() as writer:
        writer.put(CATS)
        writer.put(FISH)
    return store


def damage(store, statement):
    sql = sqlite3.connect(Path(store.path) / DATABASE, isolation_level=None)
    sql.execute(statement)
    sql.close()


def names(store):
    with store.snapshot() as snapshot:
        return snapshot.names()


def test_a_content_with_damaged_text_is_lost_and_the_others_stay(filled):
    damage(filled, "UPDATE blocks SET text = 'x' WHERE content = 1")
    with filled.salvaged() as found:
        assert [(lost.names, bool(lost.reason)) for lost in found.lost] == [(("/cats.pdf",), True)]
        assert found.stripped == []
    assert names(filled) == ["/fish.pdf"]
    assert filled.verify() == []


def test_a_content_with_damaged_vectors_keeps_its_text(filled):
    damage(filled, "UPDATE vectors SET matrix = zeroblob(length(matrix)) WHERE content = 1")
    with filled.salvaged() as found:
        assert (found.stripped, found.lost) == (["/cats.pdf"], [])
    assert names(filled) == ["/cats.pdf", "/fish.pdf"]


def test_after_an_error_the_index_is_as_it_was(filled):
    before = names(filled)
    with pytest.raises(ZeroDivisionError), filled.salvaged():
        raise ZeroDivisionError
    assert names(filled) == before
    assert sorted(path.name for path in Path(filled.path).iterdir() if "merging" in path.name) == []


def test_a_damaged_derived_file_is_built_again(filled):
    (file,) = (Path(filled.path) / DERIVED).glob("vectors-*")
    file.write_bytes(file.read_bytes()[:-40])
    assert repair_files(Path(filled.path)) == (f"{DERIVED}/{file.name}",)
    assert filled.verify() == []
    with filled.snapshot() as snapshot:
        assert snapshot.search_vectors("child-128", vector("Fish swim."), 1)[0].score > 0.99
