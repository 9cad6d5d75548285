"""A cache of segments: the arrays of each kind for one generation, kept between queries.

The segments of a generation are those of the derived files, without the blobs that were
removed later, and the blobs that were added later, read from the database. Which blobs
those are is decided by the database in the same read transaction.
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
from rag_app.store.engine.bm25 import LexicalIndex
from rag_app.store.engine.cosine import DenseIndex
from rag_app.store.engine.segments import Segment, join_vectors, join_words
from rag_app.store.protocol import How
from rag_app.store.sqlite import blobs, derived
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.row_cache import RowCache

S = TypeVar("S", bound=Segment)
T = TypeVar("T")
V = TypeVar("V")
Stamp = tuple[int, int]  # (generation, epoch): the epoch changes with the list of derived files
_MIN_SIZE_RATIO = 2  # of two neighbouring segments: with less they are joined


@dataclass(frozen=True)
class CachedSegments(Generic[S]):
    """The segments of a kind in one generation: from files, and from the database (``delta``)."""

    stamp: Stamp
    files: dict[str, S]
    delta: list[S]


@dataclass(frozen=True)
class SegmentSource(Generic[S]):
    """How segments of vectors, or of words, are read from a blob or a file, and joined."""

    from_blob: Callable[[sqlite3.Connection, Checksums, int], S]
    from_file: Callable[[derived.Arrays], S]
    join: Callable[[Sequence[S], Collection[int]], S]


_VECTORS = SegmentSource(blobs.read_vectors, derived.vector_segment, join_vectors)
_WORDS = SegmentSource(blobs.read_words, derived.word_segment, join_words)


class _KindCache(Generic[S, V]):
    """The newest index of each kind, lexical or dense; the caller holds the lock."""

    def __init__(
        self,
        folder: Path,
        how: How,
        source: SegmentSource[S],
        index_of: Callable[[Sequence[tuple[S, Bools | None]]], V],
    ) -> None:
        self._folder, self._how, self._source, self._index_of = folder, how, source, index_of
        self._kept: dict[int, tuple[CachedSegments[S], V]] = {}

    def index(self, sql: sqlite3.Connection, kind: int, stamp: Stamp) -> V:
        """Return the index of a kind in the transaction on ``sql``."""
        kept = self._kept.get(kind)
        if kept is not None and kept[0].stamp == stamp:
            return kept[1]
        live = blobs.live_blobs(sql, self._how, kind).keys()
        files = derived.files_of(sql, self._how, kind)
        before = kept[0] if kept else None
        segments = gathered(sql, files, live, stamp, before, self._folder, self._source)
        index = self._index_of(with_live_rows(segments, live))
        # A long query on an older generation does not replace the newest index.
        if kept is None or kept[0].stamp < stamp:
            self._kept[kind] = (segments, index)
        return index

    def clear(self) -> None:
        """Drop all segments."""
        self._kept.clear()


class SegmentCache:
    """The segments of one index in one process, shared by its threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._guard = threading.Lock()
        self._pid = os.getpid()
        self._identity, self._rows = "", RowCache()
        self._vectors = _KindCache(folder, "vectors", _VECTORS, DenseIndex)
        self._words = _KindCache(folder, "words", _WORDS, LexicalIndex)
        self._made: dict[str, tuple[int, Any]] = {}

    def rows_of(self, identity: str) -> RowCache:
        """Return the row cache of an index; drop everything of another one at the same path."""
        with self._locked():
            if self._identity != identity:
                self._vectors.clear()
                self._words.clear()
                self._made.clear()
                self._identity, self._rows = identity, RowCache()
            return self._rows

    def of_generation(self, key: str, generation: int, make: Callable[[], T]) -> T:
        """Return what ``make`` returns, cached by key for the newest generation."""
        with self._locked():
            kept = self._made.get(key)
            if kept is not None and kept[0] == generation:
                found: T = kept[1]
                return found
            made = make()
            if kept is None or kept[0] < generation:
                self._made[key] = (generation, made)
            return made

    def vectors(self, sql: sqlite3.Connection, kind: int, stamp: Stamp) -> DenseIndex:
        """Return the dense index of a kind as the transaction on ``sql`` sees it."""
        with self._locked():
            return self._vectors.index(sql, kind, stamp)

    def words(self, sql: sqlite3.Connection, kind: int, stamp: Stamp) -> LexicalIndex:
        """Return the lexical index of a kind as the transaction on ``sql`` sees it."""
        with self._locked():
            return self._words.index(sql, kind, stamp)

    def clear(self) -> None:
        """Drop all arrays and close their files."""
        with self._locked():
            self._vectors.clear()
            self._words.clear()
            self._made.clear()

    def _locked(self) -> threading.Lock:
        if self._pid != os.getpid():  # another thread may have held it when the process forked
            self._guard, self._pid = threading.Lock(), os.getpid()
        return self._guard


def gathered(
    sql: sqlite3.Connection,
    listed: Sequence[derived.DerivedFile],
    live: Set[int],
    stamp: Stamp,
    before: CachedSegments[S] | None,
    folder: Path,
    source: SegmentSource[S],
) -> CachedSegments[S]:
    """Return the segments of a kind, reusing those of another generation.

    Args:
        sql: the reader's connection, in a transaction.
        listed: the derived files that its generation lists.
        live: the blobs of its generation.
        stamp: its (generation, epoch).
        before: the segments of an earlier generation, or of a later one.
        folder: the index's.
        source: how segments are read and joined.
    """
    files: dict[str, S] = {}
    for one in listed:
        known = before.files.get(one.file) if before else None
        segment = known or derived.try_open(source.from_file, folder, one)
        if segment is not None:
            files[one.file] = segment
    missing = live - _blobs(files.values())
    delta = _still_needed(before.delta if before else [], missing, source.join)
    new = sorted(missing - _blobs(delta))
    if new:
        sums = Checksums.at(sql)
        delta.append(source.join([source.from_blob(sql, sums, blob) for blob in new], set(new)))
    return CachedSegments(stamp, files, _compact(delta, source.join))


def with_live_rows(
    segments: CachedSegments[S], live: Collection[int]
) -> list[tuple[S, Bools | None]]:
    """Return each segment with its live rows; no blob counts twice."""
    left = set(live)
    found = []
    for segment in (*segments.files.values(), *segments.delta):
        found.append((segment, segment.alive(left)))
        left -= set(segment.blobs.tolist())
    return found


def _still_needed(
    delta: Iterable[S], missing: Set[int], join: Callable[[Sequence[S], Collection[int]], S]
) -> list[S]:
    kept = []
    for segment in delta:
        needed = missing & set(segment.blobs.tolist())
        if needed:
            whole = len(needed) == len(segment.blobs)
            kept.append(segment if whole else join([segment], needed))
    return kept


def _compact(delta: list[S], join: Callable[[Sequence[S], Collection[int]], S]) -> list[S]:
    delta = list(delta)
    while len(delta) > 1 and delta[-2].rows < _MIN_SIZE_RATIO * delta[-1].rows:
        pair = delta[-2:]
        delta[-2:] = [join(pair, _blobs(pair))]
    return delta


def _blobs(segments: Iterable[S]) -> set[int]:
    return {blob for segment in segments for blob in segment.blobs.tolist()}
