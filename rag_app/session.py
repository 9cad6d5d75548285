"""The session of a question: one generation of each index, from search to the last check."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType, TracebackType
from typing import ParamSpec, Self, TypeVar

from pipelines.errors import IndexEmptyError, StoreError
from rag_app.store.protocol import Snapshot, Store

P = ParamSpec("P")
T = TypeVar("T")


class QuerySession:
    """One snapshot of each index that a question searches, all opened at once.

    All code that reads for the question gets the session. Closing it ends the read
    transactions; an unreferenced session closes itself. Until then writers can
    continue, but the write-ahead log cannot be emptied.

    Several threads may use it one after the other.

    Args:
        stores: the indexes, by the name of their origin; a store that has two names is
            opened once.

    Raises:
        StoreError: an index cannot be read.
    """

    def __init__(self, stores: Mapping[str, Store]) -> None:
        self._guard = threading.Lock()
        self._readers, self._closed = 0, False
        with ExitStack() as stack:
            own = {id(store): store for store in stores.values()}
            self._of = {key: stack.enter_context(store.snapshot()) for key, store in own.items()}
            self._stack = stack.pop_all()
        self._snapshots = {origin: self._of[id(store)] for origin, store in stores.items()}
        self._stores = own  # kept alive, so that no other store gets their ids
        weakref.finalize(self, _let_go, self._stack)

    @property
    def snapshots(self) -> Mapping[str, Snapshot]:
        """Return the snapshots by the name of their origin."""
        return MappingProxyType(self._snapshots)

    def snapshot(self, store: Store) -> Snapshot:
        """Return the snapshot of a store.

        Raises:
            KeyError: the store is not in this session.
        """
        return self._of[id(store)]

    def check_not_empty(self) -> None:
        """Raise where all indexes are empty: no question can be answered from them.

        Raises:
            IndexEmptyError: nothing was ingested into any of them.
        """
        if not self._of or not all(snapshot.is_empty() for snapshot in self._of.values()):
            return
        raise IndexEmptyError(
            f"there is nothing in {', '.join(str(store.path) for store in self._stores.values())}: "
            "no file was ingested, or all were removed",
            hint="put files in with `rag ingest PATH… --index FOLDER` or `Index.ingest(…)`",
        )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Delay a close by another thread (of a cancelled question) until the block ends.

        Raises:
            StoreError: the session is closed.
        """
        with self._guard:
            if self._closed:
                raise StoreError("the question was cancelled", hint="ask again")
            self._readers += 1
        try:
            yield
        finally:
            with self._guard:
                self._readers -= 1
                over = self._closed and not self._readers
            if over:
                self._stack.close()

    def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of a function that reads in this session."""
        with self.reading():
            return function(*args, **kwargs)

    def close(self) -> None:
        """End the read transactions, at once or when the reading thread is done."""
        self.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._guard:
            self._closed = True
            in_use = self._readers > 0
        if not in_use:
            # With the error: a store translates the errors of its engine.
            self._stack.__exit__(kind, error, trace)


def _let_go(stack: ExitStack) -> None:
    """End the read transactions of an unreferenced session; errors cannot be reported."""
    with contextlib.suppress(Exception):
        stack.close()
