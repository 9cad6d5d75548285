"""Case 7: kill -9 at any moment of an ingest; each file is whole, and the next run finishes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.rag_app.store import crash
from tests.rag_app.store.crash import Stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return crash.prepare(tmp_path_factory.mktemp("crash"))


@pytest.mark.parametrize(("arm", "count"), [(crash.arm_sqlite, 60), (crash.arm_files, 25)])
def test_a_kill_at_a_counted_point_leaves_every_file_whole(
    stage: Stage, tmp_path: Path, arm, count: int
) -> None:
    points = crash.count_points(stage, tmp_path / "counted", arm)
    chosen = crash.spread(points, count)
    died = 0
    for nth in chosen:
        died += crash.kill_at(stage, tmp_path / "index", lambda nth=nth: arm(nth))
        assert crash.check(stage, tmp_path / "index") == []
    assert died == len(chosen) >= min(count, 20)


def test_a_kill_in_the_middle_of_a_write_leaves_every_file_whole(
    stage: Stage, tmp_path: Path
) -> None:
    largest = max(path.stat().st_size for path in stage.before.rglob("*"))
    died = 0
    for size in crash.spread(largest, 25):
        died += crash.kill_at(stage, tmp_path / "index", lambda size=size: crash.arm_bytes(size))
        assert crash.check(stage, tmp_path / "index") == []
    assert died >= 20


def test_a_kill_at_a_random_time_leaves_every_file_whole(stage: Stage, tmp_path: Path) -> None:
    """Where it strikes is chance, on a fast machine and a slow one; what must hold is not."""
    began = time.monotonic()
    crash.kill_at(stage, tmp_path / "timed", lambda: None)
    longest = time.monotonic() - began
    for delay in crash.random_delays(longest, 10, seed=1):
        crash.kill_at(stage, tmp_path / "index", lambda: None, delay)
        assert crash.check(stage, tmp_path / "index") == []
