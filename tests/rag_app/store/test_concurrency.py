"""Case 8: two processes write, others read, nobody is ever wrong."""

from __future__ import annotations

import os
from pathlib import Path

from rag_app.store.sqlite.schema import DATABASE, DERIVED, LOCK
from rag_app.store.sqlite.store import open_store
from tests.rag_app.store import concurrency

SECONDS = float(os.environ.get("RAG_TEST_CONCURRENCY_SECONDS", "10"))


def test_two_writers_and_four_readers_are_never_wrong(tmp_path: Path) -> None:
    path = tmp_path / "index"
    statuses, counts = concurrency.contest(path, SECONDS)
    assert statuses == [0] * 6
    assert min(counts) > 0
    assert concurrency.generations(path) > SECONDS
    with open_store(path) as store:
        assert store.verify() == []
    left = sorted(place.name for place in path.iterdir())
    assert left == [DATABASE, DERIVED, LOCK]
