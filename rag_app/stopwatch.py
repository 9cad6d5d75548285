"""Timing the stages of a question."""

from __future__ import annotations

import time


class Stopwatch:
    """Milliseconds by stage; repeated stages are summed."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._spent: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to a stage."""
        now = time.perf_counter()
        self._spent[stage] = self._spent.get(stage, 0.0) + 1000 * (now - self._last)
        self._last = now

    def mark(self, moment: str) -> None:
        """Record the time from the start to a moment; ends no stage."""
        self._spent[moment] = 1000 * (time.perf_counter() - self._start)

    def timings(self) -> dict[str, float]:
        """Return milliseconds by stage, and in ``total`` those from the start to the last lap."""
        return {**self._spent, "total": 1000 * (self._last - self._start)}
