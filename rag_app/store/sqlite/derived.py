"""Derived files: segments as memory-mapped arrays, never the only copy of anything."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipelines.errors import IndexDamagedError
from rag_app.store.array_types import Vector
from rag_app.store.engine.array_files import (
    ArrayFileError,
    ArrayWriter,
    FileIdentity,
    create_arrays,
    open_arrays,
)
from rag_app.store.engine.quantised import LEAST, CodedVectors, encode
from rag_app.store.engine.segments import (
    Piece,
    Segment,
    VectorSegment,
    WordSegment,
    joined_rows,
    merged_postings,
    pieces_of,
)
from rag_app.store.protocol import How
from rag_app.store.sqlite.folders import DERIVED_NAME

_log = logging.getLogger(__name__)
S = TypeVar("S", bound=Segment)


@dataclass(frozen=True, slots=True)
class Listed:
    """A derived file as the database lists it.

    Attributes:
        file: its path, relative to the index's folder.
        written: what tells it from every other file.
        info: what it says of itself: whose it is, of which kind and generation.
    """

    file: str
    written: FileIdentity
    info: Mapping[str, object]

    def open(self, opener: Callable[..., S], folder: Path, *, check: bool = False) -> S:
        """Map it; ``check`` compares every number of it with its checksum.

        Raises:
            ArrayFileError: damaged, or another file than was written.
            FileNotFoundError: gone.
        """
        return opener(folder / self.file, check=check, expected=self.written, info=self.info)


def about(identity: str, how: How, kind: int, generation: int) -> dict[str, object]:
    """Return what a derived file says of itself."""
    return {"identity": identity, "how": how, "kind": kind, "generation": generation}


def open_vectors(
    path: Path,
    *,
    check: bool = False,
    expected: FileIdentity | None = None,
    info: Mapping[str, object] | None = None,
) -> VectorSegment:
    """Map a file of vectors.

    Raises:
        ArrayFileError: damaged, or another file than is expected.
        FileNotFoundError: gone.
    """
    arrays = open_arrays(path, check=check, expected=expected, info=info)
    try:
        segment = VectorSegment(
            parts=arrays["parts"],
            ends=arrays["ends"],
            nodes=arrays["nodes"],
            passages=arrays["passages"],
            matrix=arrays["matrix"],
            coded=_coded(arrays),
        )
    except KeyError as error:
        raise ArrayFileError(f"{path} lacks the array {error}") from None
    _check_rows(path, segment, len(segment.matrix))
    coded = segment.coded
    if coded and (coded.codes.shape, len(coded.scales)) != (segment.matrix.shape, segment.rows):
        raise ArrayFileError(f"{path}: its codes do not fit its vectors")
    return segment


def _coded(arrays: Mapping[str, np.ndarray]) -> CodedVectors | None:
    if "codes" not in arrays:
        return None
    return CodedVectors(arrays["codes"], arrays["scales"], float(arrays["rest"].max(initial=0.0)))


def open_words(
    path: Path,
    *,
    check: bool = False,
    expected: FileIdentity | None = None,
    info: Mapping[str, object] | None = None,
) -> WordSegment:
    """Map a file of words.

    Raises:
        ArrayFileError: damaged, or another file than is expected.
        FileNotFoundError: gone.
    """
    arrays = open_arrays(path, check=check, expected=expected, info=info)
    try:
        segment = WordSegment(
            parts=arrays["parts"],
            ends=arrays["ends"],
            nodes=arrays["nodes"],
            passages=arrays["passages"],
            lengths=arrays["lengths"],
            terms=arrays["terms"],
            starts=arrays["starts"],
            entries=arrays["postings"][:, 0],
            counts=arrays["postings"][:, 1],
        )
    except KeyError as error:
        raise ArrayFileError(f"{path} lacks the array {error}") from None
    _check_rows(path, segment, len(segment.lengths))
    return segment


def files_of(sql: sqlite3.Connection, how: How, kind: int) -> list[Listed]:
    """Return the files of a kind that this transaction lists."""
    return [
        listed
        for listed in all_files(sql)
        if listed.info["how"] == how and listed.info["kind"] == kind
    ]


def all_files(sql: sqlite3.Connection) -> list[Listed]:
    """Return all files that this transaction lists.

    Raises:
        IndexDamagedError: one of them would lie elsewhere.
    """
    rows = sql.execute(
        "SELECT file, size, d.checksum, identity, how, kind, d.generation FROM derived d, state"
        " ORDER BY file"
    )
    found = [
        Listed(file, FileIdentity(size, checksum), about(*said))
        for file, size, checksum, *said in rows.fetchall()
    ]
    for listed in found:
        if not DERIVED_NAME.fullmatch(listed.file):
            raise IndexDamagedError(
                f"the database names a derived file {listed.file!r}, which is none of this program",
                hint="do not use this index; ingest its files again into another folder",
            )
    return found


def try_open(opener: Callable[..., S], folder: Path, listed: Listed) -> S | None:
    """Return the segment, or ``None`` when the file is gone, damaged or another one.

    What it would have held is then read from the database.
    """
    try:
        return listed.open(opener, folder)
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
    """Write the live rows of all segments as one file, parts in rising order.

    Args:
        path: the file.
        segments: files (with vectors), and parts of the database (rows only).
        live: numbers of the parts to write.
        fetch: returns the vectors of a part of the database; one at a time is in memory.
        dimension: length of a vector.
        info: what the file says of itself.
    """
    pieces = pieces_of(segments, live)
    rows = joined_rows(pieces)
    with create_arrays(path) as file:
        with file.array("matrix", "<f4", (dimension,)) as append:
            for piece in pieces:
                append(_matrix(piece, fetch))
        if sum(map(len, pieces)) >= LEAST:
            _write_codes(file, (_matrix(piece, fetch) for piece in pieces), dimension)
        for name, values in rows.items():
            file.put(name, values, "<i8")
        return file.finish(info)


def _write_codes(file: ArrayWriter, blocks: Iterable[Vector], dimension: int) -> None:
    scales, rests = [], []
    with file.array("codes", "|i1", (dimension,)) as append:
        for block in blocks:
            codes, steps, rest = encode(block)
            append(codes)
            scales.append(steps)
            rests.append(rest)
    file.put("scales", np.concatenate(scales), "<f4")
    # Rounded up: no vector may be farther from its codes than the file says.
    file.put("rest", np.nextafter(np.array(rests, np.float32), np.float32(np.inf)), "<f4")


def _matrix(piece: Piece[Segment], fetch: Callable[[int], Vector]) -> Vector:
    if isinstance(piece.segment, VectorSegment):
        return piece.segment.matrix[piece.rows]
    return fetch(piece.part)


def write_words(
    path: Path,
    segments: Sequence[WordSegment],
    live: Collection[int],
    info: Mapping[str, object],
) -> FileIdentity:
    """Write the live postings of all segments as one file."""
    pieces = pieces_of(segments, live)
    rows = joined_rows(pieces)
    lengths = [piece.segment.lengths[piece.rows] for piece in pieces]
    terms: list[np.ndarray] = []
    sizes: list[np.ndarray] = []
    with create_arrays(path) as file:
        with file.array("postings", "<u4", (2,)) as append:
            for block in merged_postings(segments, pieces):
                append(np.stack([block.entries, block.counts], axis=1))
                terms.append(block.terms)
                sizes.append(block.sizes)
        rows["lengths"] = np.concatenate([np.empty(0, np.int64), *lengths])
        rows["terms"] = np.concatenate([np.empty(0, np.int64), *terms])
        rows["starts"] = np.concatenate([[0], np.cumsum(np.concatenate([[], *sizes]))])
        for name, values in rows.items():
            file.put(name, values, "<i8")
        return file.finish(info)


def _check_rows(path: Path, segment: Segment, rows: int) -> None:
    ends = segment.ends
    last = int(ends[-1]) if len(ends) else 0
    if not (last == rows == len(segment.nodes) == len(segment.passages)) or len(ends) != len(
        segment.parts
    ):
        raise ArrayFileError(f"{path}: its arrays do not fit together")
