"""The protocol of a store: what retrieval and ingestion need of it.

An engine (SQLite in a folder today; Postgres or Qdrant for those who outgrow
one machine) implements :class:`Store`, :class:`Snapshot` and :class:`Writer`.
The tests in ``tests/rag_app/store`` run against these protocols.

Terms: a *kind* names a set of nodes made by one rule (``parent``,
``child-128``, ``sentence``, ``piece``). A *passage* is a node that is read; every
searched node leads to one: a child to its parent, a piece to its parent, a
parent or a sentence to itself. Depth and k count passages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from rag_app.store.array_types import Vector
from rag_app.store.protocol.library import LibrarySnapshot
from rag_app.store.protocol.search import SearchSnapshot
from rag_app.store.protocol.values import (
    Finding,
    Hit,
    How,
    IndexConfig,
    Lost,
    NodeSpan,
    Prepared,
    Selection,
    SourceInfo,
)
from rag_app.store.protocol.writer import Writer

__all__ = [
    "Finding",
    "Hit",
    "How",
    "IndexConfig",
    "LibrarySnapshot",
    "Lost",
    "NodeSpan",
    "Prepared",
    "Salvaged",
    "SearchSnapshot",
    "Selection",
    "Snapshot",
    "SourceInfo",
    "Store",
    "Vector",
    "Writer",
]


@runtime_checkable
class Snapshot(SearchSnapshot, LibrarySnapshot, Protocol):
    """A reader's view of exactly one generation."""


class Store(Protocol):
    """An index on its engine."""

    @property
    def path(self) -> Path:
        """Where the index lies."""
        ...

    @property
    def config(self) -> IndexConfig:
        """The configuration as last seen by this process."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open a view of the newest generation for one query."""
        ...

    def writer(
        self, *, timeout: float = 30.0, on_wait: Callable[[str], None] | None = None
    ) -> AbstractContextManager[Writer]:
        """Become the writer, waiting ``timeout`` seconds for another one.

        Leaving builds the derived files once. ``on_wait`` is told, once and in
        words, when another process writes.

        Raises:
            IndexLockedError: another process still writes.
            IndexReadOnlyError: the index may not be written here.
        """
        ...

    def verify(self) -> list[Finding]:
        """Check every link of the index and return the faults."""
        ...

    def repair_files(self) -> tuple[str, ...]:
        """Build damaged derived files anew from the database; return which."""
        ...

    def salvaged(self) -> AbstractContextManager[Salvaged]:
        """Yield a new index with the undamaged contents of this one, which it then replaces.

        Nobody else writes meanwhile. After an error the index is as it was.
        """
        ...

    def close(self) -> None:
        """Close all connections; the last writer leaves no write-ahead log behind."""
        ...


class Salvaged(Protocol):
    """A new index with the undamaged contents of a damaged one."""

    @property
    def store(self) -> Store:
        """The new index; what is added to it will be in the repaired one."""
        ...

    @property
    def stripped(self) -> Sequence[str]:
        """First names of contents with text and nodes, of which the rest is to be made again."""
        ...

    @property
    def lost(self) -> Sequence[Lost]:
        """What is not in it."""
        ...
