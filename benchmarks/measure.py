"""Time and memory of a process with all its children, and simple statistics."""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SAMPLE_S = 0.1


@dataclass(frozen=True)
class Measured:
    """One run of a command.

    Attributes:
        seconds: from start to exit.
        cpu_seconds: user and system time, children included.
        peak_mb: highest proportional set size of the process and its children
            together, sampled ten times a second (shared pages count once).
        output: what it wrote to stdout.
        returncode: its exit code.
    """

    seconds: float
    cpu_seconds: float
    peak_mb: float
    output: str
    returncode: int


def run(command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Measured:
    """Run a command to its exit and measure it."""
    before = os.times()
    started = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )
    peak = _Peak(process.pid)
    output, errors = process.communicate()
    seconds = time.perf_counter() - started
    after = os.times()
    if process.returncode not in (0, 3):
        raise RuntimeError(f"{command[:4]} ended with {process.returncode}: {errors[-800:]}")
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return Measured(seconds, cpu, peak.stop(), output, process.returncode)


class _Peak(threading.Thread):
    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid, self._peak, self._over = pid, 0.0, threading.Event()
        self.start()

    def run(self) -> None:
        while not self._over.wait(_SAMPLE_S):
            self._peak = max(self._peak, sum(map(pss_mb, _tree(self._pid))))

    def stop(self) -> float:
        self._over.set()
        self.join()
        return self._peak


def _tree(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            found += _tree(int(child))
    return found


def pss_mb(pid: int | str = "self") -> float:
    """Return the proportional set size of a process in MB; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def interleaved(
    jobs: Mapping[str, Callable[[], Any]], rounds: int, *, warm_up: bool = False
) -> dict[str, list[Any]]:
    """Run all jobs once per round, so that a slow minute of the machine hits all of them."""
    results: dict[str, list[Any]] = {name: [] for name in jobs}
    for number in range(-1 if warm_up else 0, rounds):
        for name, job in jobs.items():
            result = job()
            if number >= 0:
                results[name].append(result)
    return results


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return float(statistics.median(values))


def timed(call: Callable[[], Any], repeats: int, warm_up: int = 3) -> list[float]:
    """Return the seconds of each of ``repeats`` calls, after some that do not count."""
    for _ in range(warm_up):
        call()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return seconds


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return b of ``value = a · size^b`` by least squares over the logarithms."""
    xs, ys = [math.log(x) for x in sizes], [math.log(y) for y in values]
    mean_x, mean_y = statistics.fmean(xs), statistics.fmean(ys)
    top = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return top / sum((x - mean_x) ** 2 for x in xs)
