"""How the time of some work grows with its input: what a noisy machine can tell."""

from __future__ import annotations

import time
from collections.abc import Callable

NOTHING_SECONDS = 0.3
MAX_GROWTH = 9.0
"""Of time when the size grows fourfold: linear is 4, quadratic 16."""


def growth(
    work: Callable[[str], object],
    make: Callable[[int], str],
    size: int,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Return how much longer work takes on a text four times as long; 0 where it takes no time.

    Args:
        work: what is measured, by the processor's time.
        make: makes a text of about so many characters.
        size: of the shortest text; doubled while it takes too little time to be measured.
        clock: tells the processor's time in seconds.
    """
    most = 4 * size
    while (first := _seconds(work, make(size), clock)) < NOTHING_SECONDS / 20 and size < most:
        size *= 2
    second, last = (_seconds(work, make(n * size), clock) for n in (2, 4))
    return max(last / first, 2 * second / first) if last > NOTHING_SECONDS else 0.0


def _seconds(work: Callable[[str], object], text: str, clock: Callable[[], float]) -> float:
    taken = []
    for _ in range(2):
        started = clock()
        work(text)
        taken.append(clock() - started)
    return max(min(taken), 1e-6)
