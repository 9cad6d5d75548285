"""Queries of several threads compute in turn, and lend their turn while they wait.

Python's interpreter lock lets one thread compute at a time. A query gives it away at
every step of SQLite and every product of arrays, hundreds of times, and each time waits
to get it back: eight queries at once took 1.7 times as long as the same eight one after
the other. So a query takes its turn as a whole, and lends it while something computes
outside of Python: an embedding model, a language model.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0
"""Seconds that a query waits for its turn; then it goes on beside the others."""


class Turn:
    """What one thread at a time has.

    Args:
        patience: seconds to wait for it. A query that hangs, on a disk that does not
            answer, must not stop the others.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._renew()
        if hasattr(os, "register_at_fork"):  # where processes fork
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()
        self._mine = threading.local()

    @property
    def is_mine(self) -> bool:
        """Whether this thread has it."""
        return getattr(self._mine, "held", False)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Compute in one's turn; within a turn that was taken already, nothing happens."""
        mine = self._mine
        if getattr(mine, "entered", False):
            yield
            return
        mine.entered = True
        try:
            mine.held = self._lock.acquire(timeout=self._patience)
            yield
        finally:
            self._give()
            mine.entered = False

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let others compute meanwhile; without a turn nothing happens."""
        if not self._give():
            yield
            return
        try:
            yield
        finally:
            self._mine.held = self._lock.acquire(timeout=self._patience)

    def _give(self) -> bool:
        given = self.is_mine
        if given:
            self._mine.held = False
            self._lock.release()
        return given


turn = Turn()
"""The turn of this process: all indexes share its interpreter."""
