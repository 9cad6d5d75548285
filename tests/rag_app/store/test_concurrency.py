"""Case 8: two processes write, others read, nobody is ever wrong."""

from __future__ import annotations

from pathlib import Path

from rag_app.store.sqlite.schema import DATABASE, DERIVED, LOCK
from rag_app.store.sqlite.store import open_store
from tests.rag_app.store import concurrency

RUNS = 25
"""Of each writer."""


def test_two_writers_and_four_readers_are_never_wrong(tmp_path: Path) -> None:
    path = tmp_path / "index"
    statuses, counts = concurrency.contest(path, lambda runs: runs < RUNS)
    assert statuses == [0] * 6
    assert counts[:2] == [RUNS] * 2
    assert min(counts) > 0
    assert concurrency.generations(path) >= 2 * RUNS
    with open_store(path) as store:
        assert store.verify() == []
    left = sorted(place.name for place in path.iterdir())
    assert left == [DATABASE, DERIVED, LOCK]
