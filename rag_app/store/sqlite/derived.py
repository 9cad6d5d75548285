"""Derived files: segments as memory-mapped arrays; everything in them is in the database too."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipelines.errors import IndexDamagedError
from rag_app.store.array_types import Ints, Vector
from rag_app.store.engine.array_files import (
    ArrayFileError,
    ArrayWriter,
    FileIdentity,
    create_arrays,
    open_arrays,
)
from rag_app.store.engine.quantised import MIN_QUANTISED_ROWS, QuantisedVectors, quantise
from rag_app.store.engine.segments import (
    Extent,
    Segment,
    VectorSegment,
    WordSegment,
    extents_of,
    joined_rows,
    merged_postings,
)
from rag_app.store.protocol import How
from rag_app.store.sqlite.folders import DERIVED_NAME

_log = logging.getLogger(__name__)
S = TypeVar("S", bound=Segment)
Arrays = Mapping[str, np.ndarray]
# The names that arrays of rows have in a file, by the attribute of a segment.
_ROW_ARRAYS = {"blobs": "parts", "ends": "ends", "nodes": "nodes", "passages": "passages"}


@dataclass(frozen=True, slots=True)
class DerivedFile:
    """A derived file as the database lists it.

    Attributes:
        file: its path, relative to the index's folder.
        written: what tells it from every other file.
        info: what it says of itself: whose it is, of which kind and generation.
    """

    file: str
    written: FileIdentity
    info: Mapping[str, object]

    def open(self, read: Callable[[Arrays], S], folder: Path, *, check: bool = False) -> S:
        """Map it; ``check`` compares every number of it with its checksum.

        Raises:
            ArrayFileError: damaged, or another file than was written.
            FileNotFoundError: gone.
        """
        path = folder / self.file
        return open_segment(read, path, check=check, expected=self.written, info=self.info)


def about(identity: str, how: How, kind: int, generation: int) -> dict[str, object]:
    """Return what a derived file says of itself."""
    return {"identity": identity, "how": how, "kind": kind, "generation": generation}


def open_segment(
    read: Callable[[Arrays], S],
    path: Path,
    *,
    check: bool = False,
    expected: FileIdentity | None = None,
    info: Mapping[str, object] | None = None,
) -> S:
    """Map a derived file.

    Args:
        read: makes the segment of its arrays: :func:`vector_segment`, :func:`word_segment`.
        path: the file.
        check: compare every array with its checksum, not only small ones.
        expected: what was written; another file, however well formed, is refused.
        info: what its table must say of it.

    Raises:
        ArrayFileError: damaged, or another file than is expected.
        FileNotFoundError: gone.
    """
    arrays = open_arrays(path, check=check, expected=expected, info=info)
    try:
        return read(arrays)
    except KeyError as error:
        raise ArrayFileError(f"{path} lacks the array {error}") from None
    except ValueError as error:
        raise ArrayFileError(f"{path}: {error}") from None


def vector_segment(arrays: Arrays) -> VectorSegment:
    """Return the segment that a file of vectors holds.

    Raises:
        KeyError: an array is missing.
        ValueError: they do not fit together.
    """
    matrix, quantised = arrays["matrix"], _quantised(arrays)
    segment = VectorSegment(**_rows(arrays, len(matrix)), matrix=matrix, quantised=quantised)
    if quantised and (quantised.values.shape, len(quantised.scales)) != (matrix.shape, len(matrix)):
        raise ValueError("its quantised vectors do not fit its vectors")
    return segment


def _quantised(arrays: Arrays) -> QuantisedVectors | None:
    if "codes" not in arrays:
        return None
    rest = float(arrays["rest"].max(initial=0.0))
    return QuantisedVectors(arrays["codes"], arrays["scales"], rest)


def word_segment(arrays: Arrays) -> WordSegment:
    """Return the segment that a file of words holds.

    Raises:
        KeyError: an array is missing.
        ValueError: they do not fit together.
    """
    lengths, postings = arrays["lengths"], arrays["postings"]
    return WordSegment(
        **_rows(arrays, len(lengths)),
        lengths=lengths,
        terms=arrays["terms"],
        starts=arrays["starts"],
        entries=postings[:, 0],
        counts=postings[:, 1],
    )


def _rows(arrays: Arrays, count: int) -> dict[str, Ints]:
    """Return the arrays of ``count`` rows by the attribute of a segment that each is."""
    rows = {attribute: arrays[name] for attribute, name in _ROW_ARRAYS.items()}
    ends = rows["ends"]
    last = int(ends[-1]) if len(ends) else 0
    fit = last == count == len(rows["nodes"]) == len(rows["passages"])
    if not fit or len(ends) != len(rows["blobs"]):
        raise ValueError("its arrays do not fit together")
    return rows


def files_of(sql: sqlite3.Connection, how: How, kind: int) -> list[DerivedFile]:
    """Return the files of a kind that this transaction lists."""
    return [
        listed
        for listed in all_files(sql)
        if listed.info["how"] == how and listed.info["kind"] == kind
    ]


def all_files(sql: sqlite3.Connection) -> list[DerivedFile]:
    """Return all files that this transaction lists.

    Raises:
        IndexDamagedError: one of them would lie elsewhere.
    """
    rows = sql.execute(
        "SELECT file, size, d.checksum, identity, how, kind, d.generation FROM derived d, state"
        " ORDER BY file"
    )
    found = [
        DerivedFile(file, FileIdentity(size, checksum), about(*said))
        for file, size, checksum, *said in rows.fetchall()
    ]
    for listed in found:
        if not DERIVED_NAME.fullmatch(listed.file):
            raise IndexDamagedError(
                f"the database names a derived file {listed.file!r} that is not of this program",
                hint="do not use this index; ingest its files again into another folder",
            )
    return found


def try_open(read: Callable[[Arrays], S], folder: Path, listed: DerivedFile) -> S | None:
    """Return the segment, or ``None`` when the file is gone, damaged or another one.

    What it would have held is then read from the database.
    """
    try:
        return listed.open(read, folder)
    except FileNotFoundError:
        return None  # a writer replaced it since this transaction began
    except (OSError, ValueError, TypeError, KeyError, IndexError) as error:
        _log.warning("%s is not used: %s", listed.file, error)
        return None


def write_vectors(
    path: Path,
    segments: Sequence[Segment],
    live: Collection[int],
    fetch: Callable[[int], Vector],
    dimension: int,
    info: Mapping[str, object],
) -> FileIdentity:
    """Write the live rows of all segments as one file, blobs in rising order.

    Args:
        path: the file.
        segments: files (with vectors), and blobs of the database (rows only).
        live: numbers of the blobs to write.
        fetch: returns the vectors of a blob of the database; one at a time is in memory.
        dimension: length of a vector.
        info: what the file says of itself.
    """
    extents = extents_of(segments, live)
    with create_arrays(path) as file:
        with file.array("matrix", "<f4", (dimension,)) as append:
            for extent in extents:
                append(_matrix(extent, fetch))
        if sum(map(len, extents)) >= MIN_QUANTISED_ROWS:
            _write_quantised(file, (_matrix(extent, fetch) for extent in extents), dimension)
        _put_rows(file, joined_rows(extents))
        return file.finish(info)


def _put_rows(file: ArrayWriter, rows: Mapping[str, Ints]) -> None:
    for attribute, values in rows.items():
        file.put(_ROW_ARRAYS.get(attribute, attribute), values, "<i8")


def _write_quantised(file: ArrayWriter, blocks: Iterable[Vector], dimension: int) -> None:
    scales, rests = [], []
    with file.array("codes", "|i1", (dimension,)) as append:
        for block in blocks:
            values, steps, rest = quantise(block)
            append(values)
            scales.append(steps)
            rests.append(rest)
    file.put("scales", np.concatenate(scales), "<f4")
    # Rounded up: no vector may be farther from its quantised one than the file says.
    file.put("rest", np.nextafter(np.array(rests, np.float32), np.float32(np.inf)), "<f4")


def _matrix(extent: Extent[Segment], fetch: Callable[[int], Vector]) -> Vector:
    if isinstance(extent.segment, VectorSegment):
        return extent.segment.matrix[extent.rows]
    return fetch(extent.blob)


def write_words(
    path: Path,
    segments: Sequence[WordSegment],
    live: Collection[int],
    info: Mapping[str, object],
) -> FileIdentity:
    """Write the live postings of all segments as one file."""
    extents = extents_of(segments, live)
    rows = joined_rows(extents)
    lengths = [extent.segment.lengths[extent.rows] for extent in extents]
    terms: list[np.ndarray] = []
    sizes: list[np.ndarray] = []
    with create_arrays(path) as file:
        with file.array("postings", "<u4", (2,)) as append:
            for block in merged_postings(segments, extents):
                append(np.stack([block.entries, block.counts], axis=1))
                terms.append(block.terms)
                sizes.append(block.sizes)
        rows["lengths"] = np.concatenate([np.empty(0, np.int64), *lengths])
        rows["terms"] = np.concatenate([np.empty(0, np.int64), *terms])
        rows["starts"] = np.concatenate([[0], np.cumsum(np.concatenate([[], *sizes]))])
        _put_rows(file, rows)
        return file.finish(info)
