"""Stages, moments and their sum, with a clock that stands where the test puts it."""

from __future__ import annotations

import pytest

from rag_app.stopwatch import Stopwatch


@pytest.fixture
def at(monkeypatch):
    times = iter([0.0, 1.0, 1.5, 3.0, 3.25])
    monkeypatch.setattr("rag_app.stopwatch.time.perf_counter", lambda: next(times))


def test_a_stage_that_comes_again_adds_up_and_a_moment_ends_no_stage(at):
    watch = Stopwatch()
    watch.lap("search")
    watch.mark("first_words")
    watch.lap("read")
    watch.lap("search")
    assert watch.timings() == {
        "search": 1250.0,
        "first_words": 1500.0,
        "read": 2000.0,
        "total": 3250.0,
    }
