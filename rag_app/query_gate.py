"""A gate that lets one query compute in Python at a time, and is released while it waits.

Python's interpreter lock lets one thread compute at a time. A query releases it at every
step of SQLite and every product of arrays, hundreds of times, and each time waits to
acquire it again: eight queries at once took 1.7 times as long as the same eight one after
the other. So a query holds the gate as a whole, and releases it while an embedding model
or a language model computes outside of Python.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MAX_WAIT_S = 1.0
"""Seconds that a query waits at the gate; then it computes beside the others."""


class QueryGate:
    """A lock that one thread holds at a time, and that no thread waits for too long.

    Args:
        max_wait_s: seconds to wait for it. A query that hangs, for example on a dead disk,
            must not stop the others.
    """

    def __init__(self, max_wait_s: float = MAX_WAIT_S) -> None:
        self._max_wait_s = max_wait_s
        self._renew()
        if hasattr(os, "register_at_fork"):  # where processes fork
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()
        self._mine = threading.local()

    @property
    def is_mine(self) -> bool:
        """Whether this thread holds the gate."""
        return getattr(self._mine, "held", False)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Hold the gate for the block; does nothing in a thread that holds it already."""
        mine = self._mine
        if getattr(mine, "entered", False):
            yield
            return
        mine.entered = True
        try:
            mine.held = self._lock.acquire(timeout=self._max_wait_s)
            yield
        finally:
            self._give()
            mine.entered = False

    @contextmanager
    def released(self) -> Iterator[None]:
        """Release the gate for the block; does nothing in a thread that does not hold it."""
        if not self._give():
            yield
            return
        try:
            yield
        finally:
            self._mine.held = self._lock.acquire(timeout=self._max_wait_s)

    def _give(self) -> bool:
        given = self.is_mine
        if given:
            self._mine.held = False
            self._lock.release()
        return given


query_gate = QueryGate()
"""The gate of this process: all indexes share its interpreter."""
