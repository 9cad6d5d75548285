"""Segments: what is searched, as arrays. A part is a small one, a derived file a large one.

All are read-only. A segment keeps which parts it was made of and where each
ends, so that the rows of a part that was removed since can be masked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rag_app.store.codec import Ints
from rag_app.store.protocol import Vector

Bools = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows of several parts, one after the other.

    Attributes:
        parts: numbers of the parts, rising, shape (p,).
        ends: row at which each part ends, shape (p,).
        nodes: node row of each row, shape (n,).
        passages: row of the passage that the node leads to, shape (n,).
    """

    parts: Ints
    ends: Ints
    nodes: Ints
    passages: Ints

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.nodes)

    def alive(self, live: Collection[int]) -> Bools | None:
        """Return which rows belong to a part in ``live``; ``None`` when all do."""
        keep = np.isin(self.parts, np.fromiter(live, np.int64, len(live)))
        if keep.all():
            return None
        return np.repeat(keep, np.diff(self.ends, prepend=0))


@dataclass(frozen=True, eq=False)
class VectorSegment(Segment):
    """Vectors of one kind: ``matrix`` of shape (n, dimension), float32, unit rows.

    ``groups`` holds the first row of each run of rows with the same passage.
    """

    matrix: Vector
    groups: Ints = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", _runs(self.passages))


@dataclass(frozen=True, eq=False)
class WordSegment(Segment):
    """Counted words of one kind, as postings.

    Attributes:
        lengths: counted terms of each node, repetitions included, shape (n,).
        terms: numbers of the terms that occur, rising, shape (t,).
        starts: where the postings of each term start, shape (t + 1,).
        entries: the row of each posting, rising within a term, shape (m,).
        counts: how often the term occurs in that row, shape (m,).
    """

    lengths: Ints
    terms: Ints
    starts: Ints
    entries: Counts
    counts: Counts

    def postings(self, term: int) -> tuple[Counts, Counts] | None:
        """Return the rows that hold a term and how often; ``None`` when none does."""
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return None
        low, high = int(self.starts[at]), int(self.starts[at + 1])
        return self.entries[low:high], self.counts[low:high]


S = TypeVar("S", bound=Segment)


def join_vectors(segments: Sequence[VectorSegment], live: Collection[int]) -> VectorSegment:
    """Return one segment with the live rows of all, parts in rising order."""
    pieces = [piece for segment in segments for piece in _pieces(segment, live)]
    pieces.sort(key=lambda piece: piece[0])
    pick = [(segment, slice(low, high)) for _, segment, low, high in pieces]
    return VectorSegment(
        parts=np.array([part for part, *_ in pieces], dtype=np.int64),
        ends=np.cumsum([high - low for *_, low, high in pieces], dtype=np.int64),
        nodes=_joined([s.nodes[rows] for s, rows in pick], np.int64),
        passages=_joined([s.passages[rows] for s, rows in pick], np.int64),
        matrix=np.concatenate([s.matrix[rows] for s, rows in pick])
        if pick
        else np.empty((0, 0), np.float32),
    )


def join_words(segments: Sequence[WordSegment], live: Collection[int]) -> WordSegment:
    """Return one segment with the live rows of all, parts in rising order."""
    pieces = [piece for segment in segments for piece in _pieces(segment, live)]
    pieces.sort(key=lambda piece: piece[0])
    ends = np.cumsum([high - low for *_, low, high in pieces], dtype=np.int64)
    moved = {id(segment): np.full(segment.rows, -1, np.int64) for segment in segments}
    for (_, segment, low, high), end in zip(pieces, ends, strict=True):
        moved[id(segment)][low:high] = np.arange(end - (high - low), end)
    terms, entries, counts = [], [], []
    for segment in segments:
        rows = moved[id(segment)][segment.entries]
        kept = rows >= 0
        terms.append(np.repeat(segment.terms, np.diff(segment.starts))[kept])
        entries.append(rows[kept])
        counts.append(segment.counts[kept])
    all_terms, all_entries = _joined(terms, np.int64), _joined(entries, np.int64)
    order = np.lexsort((all_entries, all_terms))
    unique, starts = np.unique(all_terms[order], return_index=True)
    pick = [(segment, slice(low, high)) for _, segment, low, high in pieces]
    return WordSegment(
        parts=np.array([part for part, *_ in pieces], dtype=np.int64),
        ends=ends,
        nodes=_joined([s.nodes[rows] for s, rows in pick], np.int64),
        passages=_joined([s.passages[rows] for s, rows in pick], np.int64),
        lengths=_joined([s.lengths[rows] for s, rows in pick], np.int64),
        terms=unique,
        starts=np.append(starts, len(order)).astype(np.int64),
        entries=all_entries[order].astype(np.uint32),
        counts=_joined(counts, np.uint32)[order],
    )


def _pieces(segment: S, live: Collection[int]) -> list[tuple[int, S, int, int]]:
    """Return (part, segment, first row, end row) of each live part."""
    lows = np.concatenate([[0], segment.ends[:-1]]).astype(int)
    return [
        (int(part), segment, int(low), int(high))
        for part, low, high in zip(segment.parts, lows, segment.ends, strict=True)
        if int(part) in live
    ]


def _joined(arrays: Sequence[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *arrays])


def _runs(values: Ints) -> Ints:
    if not len(values):
        return np.empty(0, np.int64)
    return np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1]).astype(np.int64)
