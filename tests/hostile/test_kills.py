"""kill -9 at any moment of whatever writes: the index is whole, and the next run finishes.

A share of the kills; ``python -m benchmarks.store_crash`` does the whole.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import kills


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, kills.Operation]:
    made = kills.operations(tmp_path_factory.mktemp("kills"))
    return {operation.name: operation for operation in made}


@pytest.mark.parametrize("name", kills.OPERATIONS)
def test_a_kill_leaves_whole_files_and_the_next_run_finishes(
    operations: dict[str, kills.Operation], tmp_path: Path, name: str
) -> None:
    operation, died = operations[name], 0
    for sort, arm, delay in kills.trials(operation, tmp_path, sqlite=6, files=6, sizes=2, times=0):
        died += kills.kill(operation, tmp_path / "trial", arm, delay)
        assert kills.check(operation, tmp_path / "trial") == [], sort
    assert died >= 12  # the rest was finished before a file grew to its limit


def test_a_killed_worker_costs_its_own_file_at_most(tmp_path: Path) -> None:
    killed, wrong = kills.kill_workers(tmp_path, seed=1)
    assert wrong == []
    assert killed >= 1
