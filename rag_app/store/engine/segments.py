"""Segments: what is searched, as arrays. A part is a small one, a derived file a large one.

All are read-only. A segment keeps which parts it was made of and where each
ends, so that the rows of a part that was removed since can be masked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from rag_app.store.array_types import Bools, Ints, Vector
from rag_app.store.engine.quantised import CodedVectors

Counts = npt.NDArray[np.uint32]
_BLOCK = 1 << 20  # postings merged at a time, so that memory stays bounded


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
        keep = np.array([part in live for part in self.parts.tolist()], np.bool_)
        if keep.all():
            return None
        return np.repeat(keep, np.diff(self.ends, prepend=0))


@dataclass(frozen=True, eq=False)
class VectorSegment(Segment):
    """Vectors of one kind.

    Attributes:
        matrix: shape (n, dimension), float32, unit rows.
        coded: the same in fewer bytes, when there are many.
        groups: the first row of each run of rows with the same passage.
        bounds: the same, and how many rows there are.
    """

    matrix: Vector
    coded: CodedVectors | None = None
    groups: Ints = field(init=False)
    bounds: Ints = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", np.append(runs(self.passages), self.rows))
        object.__setattr__(self, "groups", self.bounds[:-1])


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
        at = int(self.terms.searchsorted(term))
        if at == len(self.terms) or self.terms[at] != term:
            return None
        low, high = int(self.starts[at]), int(self.starts[at + 1])
        return self.entries[low:high], self.counts[low:high]


S = TypeVar("S", bound=Segment)


@dataclass(frozen=True, slots=True)
class Piece(Generic[S]):
    """The rows of one part inside a segment."""

    part: int
    segment: S
    rows: slice

    def __len__(self) -> int:
        return int(self.rows.stop) - int(self.rows.start)


@dataclass(frozen=True, slots=True)
class Postings:
    """Merged postings of some terms: ``sizes`` says how many each term has."""

    terms: Ints
    sizes: Ints
    entries: Counts
    counts: Counts


def pieces_of(segments: Sequence[S], live: Collection[int]) -> list[Piece[S]]:
    """Return the live parts of all segments by part number, none twice."""
    found: dict[int, Piece[S]] = {}
    for segment in segments:
        low = 0
        for part, high in zip(segment.parts.tolist(), segment.ends.tolist(), strict=True):
            if part in live:
                found.setdefault(part, Piece(part, segment, slice(low, high)))
            low = high
    return [found[part] for part in sorted(found)]


def joined_rows(pieces: Sequence[Piece[S]]) -> dict[str, Ints]:
    """Return ``parts``, ``ends``, ``nodes`` and ``passages`` of the pieces in this order."""
    return {
        "parts": np.array([piece.part for piece in pieces], dtype=np.int64),
        "ends": np.cumsum([len(piece) for piece in pieces], dtype=np.int64),
        "nodes": _joined([piece.segment.nodes[piece.rows] for piece in pieces], np.int64),
        "passages": _joined([piece.segment.passages[piece.rows] for piece in pieces], np.int64),
    }


def join_vectors(segments: Sequence[VectorSegment], live: Collection[int]) -> VectorSegment:
    """Return one segment with the live rows of all, parts in rising order."""
    pieces = pieces_of(segments, live)
    blocks = [piece.segment.matrix[piece.rows] for piece in pieces]
    matrix = np.concatenate(blocks) if blocks else np.empty((0, 0), np.float32)
    rows = joined_rows(pieces)
    return VectorSegment(rows["parts"], rows["ends"], rows["nodes"], rows["passages"], matrix)


def join_words(segments: Sequence[WordSegment], live: Collection[int]) -> WordSegment:
    """Return one segment with the live rows of all, parts in rising order."""
    pieces = pieces_of(segments, live)
    blocks = list(merged_postings(segments, pieces))
    sizes = _joined([block.sizes for block in blocks], np.int64)
    return WordSegment(
        **joined_rows(pieces),
        lengths=_joined([piece.segment.lengths[piece.rows] for piece in pieces], np.int64),
        terms=_joined([block.terms for block in blocks], np.int64),
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        entries=_joined([block.entries for block in blocks], np.uint32),
        counts=_joined([block.counts for block in blocks], np.uint32),
    )


def merged_postings(
    segments: Sequence[WordSegment], pieces: Sequence[Piece[WordSegment]]
) -> Iterator[Postings]:
    """Yield the postings of the pieces by rising term, a bounded number at a time."""
    moved = _new_rows(segments, pieces)
    for low, high in _term_ranges(segments):
        terms, entries, counts = [], [], []
        for segment, rows in zip(segments, moved, strict=True):
            first, last = np.searchsorted(segment.terms, [low, high])
            start, stop = int(segment.starts[first]), int(segment.starts[last])
            placed = rows[segment.entries[start:stop]]
            kept = placed >= 0
            sizes = np.diff(segment.starts[first : last + 1])
            terms.append(np.repeat(segment.terms[first:last], sizes)[kept])
            entries.append(placed[kept])
            counts.append(segment.counts[start:stop][kept])
        all_terms, all_entries = _joined(terms, np.int64), _joined(entries, np.int64)
        order = np.lexsort((all_entries, all_terms))
        unique, sizes = np.unique(all_terms, return_counts=True)
        yield Postings(
            terms=unique,
            sizes=sizes.astype(np.int64),
            entries=all_entries[order].astype(np.uint32),
            counts=_joined(counts, np.uint32)[order],
        )


def _new_rows(segments: Sequence[WordSegment], pieces: Sequence[Piece[WordSegment]]) -> list[Ints]:
    """Return for each segment where each of its rows goes; −1: nowhere."""
    moved = {id(segment): np.full(segment.rows, -1, np.int64) for segment in segments}
    start = 0
    for piece in pieces:
        moved[id(piece.segment)][piece.rows] = np.arange(start, start + len(piece))
        start += len(piece)
    return [moved[id(segment)] for segment in segments]


def _term_ranges(segments: Sequence[WordSegment]) -> Iterator[tuple[int, int]]:
    """Cut the range of term numbers so that each cut holds about ``_BLOCK`` postings."""
    terms = _joined([segment.terms for segment in segments], np.int64)
    sizes = _joined([np.diff(segment.starts) for segment in segments], np.int64)
    order = np.argsort(terms, kind="stable")
    terms, total = terms[order], np.cumsum(sizes[order])
    at = 0
    while at < len(terms):
        before = int(total[at - 1]) if at else 0
        stop = max(int(np.searchsorted(total, before + _BLOCK, side="right")), at + 1)
        high = int(terms[stop - 1]) + 1
        yield int(terms[at]), high
        at = int(np.searchsorted(terms, high, side="left"))


def _joined(arrays: Sequence[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *arrays])


def runs(values: Ints) -> Ints:
    """Return where each run of equal values begins."""
    if not len(values):
        return np.empty(0, np.int64)
    return np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1]).astype(np.int64)
