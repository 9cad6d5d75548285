"""Segments: arrays that are searched, small ones from blobs, large ones from derived files.

All are read-only. A segment records which blobs it was made of and where each
ends, so that the rows of a blob that was removed later can be masked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from rag_app.store.array_types import Bools, Ints, Vector
from rag_app.store.engine.quantised import QuantisedVectors

Counts = npt.NDArray[np.uint32]
_MERGE_POSTINGS = 1 << 20  # merged at a time, so that memory stays bounded


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows of several blobs, one after the other.

    Attributes:
        blobs: numbers of the blobs, rising, shape (p,).
        ends: row at which each blob ends, shape (p,).
        nodes: node row of each row, shape (n,).
        passages: row of the passage that the node leads to, shape (n,).
    """

    blobs: Ints
    ends: Ints
    nodes: Ints
    passages: Ints

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.nodes)

    def alive(self, live: Collection[int]) -> Bools | None:
        """Return which rows belong to a blob in ``live``; ``None`` when all do."""
        keep = np.array([blob in live for blob in self.blobs.tolist()], np.bool_)
        if keep.all():
            return None
        return np.repeat(keep, np.diff(self.ends, prepend=0))


@dataclass(frozen=True, eq=False)
class VectorSegment(Segment):
    """Vectors of one kind.

    Attributes:
        matrix: shape (n, dimension), float32, unit rows.
        quantised: the same in fewer bytes, when there are many.
        groups: the first row of each run of rows with the same passage.
        bounds: the same, followed by the number of rows.
    """

    matrix: Vector
    quantised: QuantisedVectors | None = None
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
class Extent(Generic[S]):
    """The rows of one blob inside a segment."""

    blob: int
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


def extents_of(segments: Sequence[S], live: Collection[int]) -> list[Extent[S]]:
    """Return the live blobs of all segments by blob number, none twice."""
    found: dict[int, Extent[S]] = {}
    for segment in segments:
        low = 0
        for blob, high in zip(segment.blobs.tolist(), segment.ends.tolist(), strict=True):
            if blob in live:
                found.setdefault(blob, Extent(blob, segment, slice(low, high)))
            low = high
    return [found[blob] for blob in sorted(found)]


def joined_rows(extents: Sequence[Extent[S]]) -> dict[str, Ints]:
    """Return ``blobs``, ``ends``, ``nodes`` and ``passages`` of the extents in this order."""
    return {
        "blobs": np.array([extent.blob for extent in extents], dtype=np.int64),
        "ends": np.cumsum([len(extent) for extent in extents], dtype=np.int64),
        "nodes": _joined([extent.segment.nodes[extent.rows] for extent in extents], np.int64),
        "passages": _joined([extent.segment.passages[extent.rows] for extent in extents], np.int64),
    }


def join_vectors(segments: Sequence[VectorSegment], live: Collection[int]) -> VectorSegment:
    """Return one segment with the live rows of all, blobs in rising order."""
    extents = extents_of(segments, live)
    blocks = [extent.segment.matrix[extent.rows] for extent in extents]
    matrix = np.concatenate(blocks) if blocks else np.empty((0, 0), np.float32)
    rows = joined_rows(extents)
    return VectorSegment(rows["blobs"], rows["ends"], rows["nodes"], rows["passages"], matrix)


def join_words(segments: Sequence[WordSegment], live: Collection[int]) -> WordSegment:
    """Return one segment with the live rows of all, blobs in rising order."""
    extents = extents_of(segments, live)
    blocks = list(merged_postings(segments, extents))
    sizes = _joined([block.sizes for block in blocks], np.int64)
    return WordSegment(
        **joined_rows(extents),
        lengths=_joined([extent.segment.lengths[extent.rows] for extent in extents], np.int64),
        terms=_joined([block.terms for block in blocks], np.int64),
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        entries=_joined([block.entries for block in blocks], np.uint32),
        counts=_joined([block.counts for block in blocks], np.uint32),
    )


def merged_postings(
    segments: Sequence[WordSegment], extents: Sequence[Extent[WordSegment]]
) -> Iterator[Postings]:
    """Yield the postings of the extents by rising term, a bounded number at a time."""
    moved = _new_rows(segments, extents)
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


def _new_rows(
    segments: Sequence[WordSegment], extents: Sequence[Extent[WordSegment]]
) -> list[Ints]:
    """Return for each segment the new number of each of its rows; −1: none."""
    moved = {id(segment): np.full(segment.rows, -1, np.int64) for segment in segments}
    start = 0
    for extent in extents:
        moved[id(extent.segment)][extent.rows] = np.arange(start, start + len(extent))
        start += len(extent)
    return [moved[id(segment)] for segment in segments]


def _term_ranges(segments: Sequence[WordSegment]) -> Iterator[tuple[int, int]]:
    """Cut the range of term numbers so that each cut holds about ``_MERGE_POSTINGS`` postings."""
    terms = _joined([segment.terms for segment in segments], np.int64)
    sizes = _joined([np.diff(segment.starts) for segment in segments], np.int64)
    order = np.argsort(terms, kind="stable")
    terms, total = terms[order], np.cumsum(sizes[order])
    at = 0
    while at < len(terms):
        before = int(total[at - 1]) if at else 0
        stop = max(int(np.searchsorted(total, before + _MERGE_POSTINGS, side="right")), at + 1)
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
