"""Views: the arrays of one kind for exactly one generation, kept between queries.

A view is what the derived files hold, less the parts that were removed since,
plus the parts that were added since (read from the database). Nothing of it is
trusted that the database of the same read transaction does not confirm.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from rag_app.store.array_types import Bools
from rag_app.store.engine.bm25 import WordView
from rag_app.store.engine.cosine import VectorView
from rag_app.store.engine.segments import Segment, join_vectors, join_words
from rag_app.store.protocol import How
from rag_app.store.sqlite import blobs, derived
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.memory import Memory

S = TypeVar("S", bound=Segment)
T = TypeVar("T")
V = TypeVar("V")
Stamp = tuple[int, int]  # (generation, epoch): the epoch changes with the list of derived files
_GROWTH = 2  # a segment joins its older neighbour unless that one is this many times larger


@dataclass(frozen=True)
class Held(Generic[S]):
    """The segments behind a view: from files, and from the database."""

    stamp: Stamp
    files: dict[str, S]
    delta: list[S]


@dataclass(frozen=True)
class Make(Generic[S]):
    """How segments of one sort are read from a part, opened from a file, and joined."""

    read: Callable[[sqlite3.Connection, Checksums, int], S]
    open: Callable[..., S]
    join: Callable[[Sequence[S], Collection[int]], S]


_VECTORS = Make(blobs.read_vectors, derived.open_vectors, join_vectors)
_WORDS = Make(blobs.read_words, derived.open_words, join_words)


class _Shelf(Generic[S, V]):
    """The newest view of each kind, for one way of searching; the caller holds the lock."""

    def __init__(
        self,
        folder: Path,
        how: How,
        make: Make[S],
        view: Callable[[Sequence[tuple[S, Bools | None]]], V],
    ) -> None:
        self._folder, self._how, self._make, self._view = folder, how, make, view
        self._kept: dict[int, tuple[Held[S], V]] = {}

    def view(self, sql: sqlite3.Connection, kind: int, stamp: Stamp) -> V:
        """Return the view of a kind in the transaction on ``sql``."""
        kept = self._kept.get(kind)
        if kept is not None and kept[0].stamp == stamp:
            return kept[1]
        live = blobs.live_parts(sql, self._how, kind).keys()
        files = derived.files_of(sql, self._how, kind)
        held = hold(sql, files, live, stamp, kept[0] if kept else None, self._folder, self._make)
        view = self._view(masked(held, live))
        # A long query on an older generation does not push out the newest view.
        if kept is None or kept[0].stamp < stamp:
            self._kept[kind] = (held, view)
        return view

    def clear(self) -> None:
        """Let go of all."""
        self._kept.clear()


class Views:
    """The views of one index in one process, for all its threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._guard = threading.Lock()
        self._pid = os.getpid()
        self._identity, self._memory = "", Memory()
        self._vectors = _Shelf(folder, "vectors", _VECTORS, VectorView)
        self._words = _Shelf(folder, "words", _WORDS, WordView)
        self._remembered: dict[str, tuple[int, Any]] = {}

    def belong_to(self, identity: str) -> Memory:
        """Let go of everything when it was of another index at the same path.

        Returns what is remembered of this one.
        """
        with self._locked():
            if self._identity != identity:
                self._vectors.clear()
                self._words.clear()
                self._remembered.clear()
                self._identity, self._memory = identity, Memory()
            return self._memory

    def remember(self, key: str, generation: int, make: Callable[[], T]) -> T:
        """Return what ``make`` gives for a generation; only the newest one is kept."""
        with self._locked():
            kept = self._remembered.get(key)
            if kept is not None and kept[0] == generation:
                found: T = kept[1]
                return found
            made = make()
            if kept is None or kept[0] < generation:
                self._remembered[key] = (generation, made)
            return made

    def vectors(self, sql: sqlite3.Connection, kind: int, stamp: Stamp) -> VectorView:
        """Return the vectors of a kind as the transaction on ``sql`` sees them."""
        with self._locked():
            return self._vectors.view(sql, kind, stamp)

    def words(self, sql: sqlite3.Connection, kind: int, stamp: Stamp) -> WordView:
        """Return the words of a kind as the transaction on ``sql`` sees them."""
        with self._locked():
            return self._words.view(sql, kind, stamp)

    def clear(self) -> None:
        """Let go of all arrays and files."""
        with self._locked():
            self._vectors.clear()
            self._words.clear()
            self._remembered.clear()

    def _locked(self) -> threading.Lock:
        if self._pid != os.getpid():  # another thread may have held it when the process forked
            self._guard, self._pid = threading.Lock(), os.getpid()
        return self._guard


def hold(
    sql: sqlite3.Connection,
    listed: Sequence[derived.Listed],
    live: Set[int],
    stamp: Stamp,
    before: Held[S] | None,
    folder: Path,
    make: Make[S],
) -> Held[S]:
    """Gather the segments of a kind, taking over what an earlier view holds already.

    Args:
        sql: the reader's connection, in a transaction.
        listed: the derived files that its generation lists.
        live: the parts of its generation.
        stamp: its (generation, epoch).
        before: an earlier view, or a later one.
        folder: the index's.
        make: how segments are read, opened and joined.
    """
    files: dict[str, S] = {}
    for one in listed:
        known = before.files.get(one.file) if before else None
        segment = known or derived.try_open(make.open, folder, one)
        if segment is not None:
            files[one.file] = segment
    missing = live - _parts(files.values())
    delta = _still_needed(before.delta if before else [], missing, make.join)
    new = sorted(missing - _parts(delta))
    if new:
        sums = Checksums.at(sql)
        delta.append(make.join([make.read(sql, sums, part) for part in new], set(new)))
    return Held(stamp, files, _compact(delta, make.join))


def masked(held: Held[S], live: Collection[int]) -> list[tuple[S, Bools | None]]:
    """Return each segment with its live rows; no part counts twice."""
    left = set(live)
    found = []
    for segment in (*held.files.values(), *held.delta):
        found.append((segment, segment.alive(left)))
        left -= set(segment.parts.tolist())
    return found


def _still_needed(
    delta: Iterable[S], missing: Set[int], join: Callable[[Sequence[S], Collection[int]], S]
) -> list[S]:
    kept = []
    for segment in delta:
        needed = missing & set(segment.parts.tolist())
        if needed:
            whole = len(needed) == len(segment.parts)
            kept.append(segment if whole else join([segment], needed))
    return kept


def _compact(delta: list[S], join: Callable[[Sequence[S], Collection[int]], S]) -> list[S]:
    delta = list(delta)
    while len(delta) > 1 and delta[-2].rows < _GROWTH * delta[-1].rows:
        pair = delta[-2:]
        delta[-2:] = [join(pair, _parts(pair))]
    return delta


def _parts(segments: Iterable[S]) -> set[int]:
    return {part for segment in segments for part in segment.parts.tolist()}
