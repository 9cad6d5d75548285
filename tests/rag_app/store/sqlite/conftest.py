"""Tables of an index in memory, with two contents written by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_app.store.config import dump_config
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.contents import insert
from rag_app.store.sqlite.schema import create_tables
from rag_app.store.sqlite.sealing import seal
from rag_app.store.sqlite.state import State, write_state
from tests.rag_app.store.make import CONFIG, prepared

SUMS = Checksums.of("an index", Path("index"))
CATS = prepared("/cats.pdf", ["Cats purr. Cats sleep.", "Dogs bark."], metadata={"year": 2018})
FISH = prepared("/fish.pdf", ["Fish swim."], script="none")


@pytest.fixture
def empty() -> Iterator[sqlite3.Connection]:
    sql = sqlite3.connect(":memory:", isolation_level=None)
    create_tables(sql, dump_config(CONFIG))
    sql.execute("UPDATE state SET identity = 'an index'")
    write_state(sql, SUMS.folder, State(0, 0, dump_config(CONFIG), "an index", 0, ""))
    yield sql
    sql.close()


@pytest.fixture
def tables(empty: sqlite3.Connection) -> sqlite3.Connection:
    """Content 1 is CATS, content 2 is FISH."""
    for number, content in enumerate((CATS, FISH), start=1):
        names = dict.fromkeys(content.names, "")
        assert insert(empty, SUMS, content, CONFIG, names) == number
        seal(empty, SUMS, number, rows=True)
    return empty
