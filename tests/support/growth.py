"""How the time of some work grows with its input, told apart on any machine.

A clock tells little on a busy machine, and nothing of what takes less than its tick. So the
text grows until the work takes measurable time, however fast the machine is, and what looks
worse than linear is measured again: noise does not repeat itself, quadratic work does.
"""

from __future__ import annotations

import time
from collections.abc import Callable

MIN_SECONDS = 0.012
"""Of processor time: longer than the tick of a coarse clock."""

MAX_DOUBLINGS = 8
MAX_GROWTH = 9.0
"""Of time when the size grows fourfold: linear is 4, quadratic 16."""

ROUNDS = 3
"""What is linear passes in one of them; what is not fails in all."""


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
        size: of the shortest text; doubled while its work takes too little to be measured.
        clock: tells the processor's time in seconds.
    """
    for _ in range(MAX_DOUBLINGS):
        if seconds(work, make(size), clock=clock) >= MIN_SECONDS:
            break
        size *= 2
    else:
        return 0.0
    texts = [make(n * size) for n in (1, 2, 4)]
    least = float("inf")
    for _ in range(ROUNDS):
        first, second, last = (seconds(work, text, tries=2, clock=clock) for text in texts)
        least = min(least, max(last / first, 2 * second / first))
        if least < MAX_GROWTH:
            break
    return least


def seconds(
    work: Callable[[str], object],
    text: str,
    tries: int = 1,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Return the least processor time of some tries."""
    taken = []
    for _ in range(tries):
        started = clock()
        work(text)
        taken.append(clock() - started)
    return max(min(taken), 1e-6)
