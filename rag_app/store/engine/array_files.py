"""A file of named arrays: raw numbers, memory-mapped, no pickle.

Arrays come first, each at a multiple of 64 bytes; then a table of contents as
JSON; then a trailer of fixed size that says where the table is. A file that
was cut short has no trailer, so it is noticed without reading the arrays::

    [array]…[array][table of contents][offset, length, crc32 of the table, magic]
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

MAGIC = b"RAGARRAY"
FORMAT = 1
MAX_CHECKED_BYTES = 8 << 20  # of an array that is checked whole on opening
_TRAILER = struct.Struct("<QQQ8s")
_ALIGNMENT_BYTES = 64
_DTYPES = frozenset({"<i8", "<u4", "<f4", "|i1"})  # nothing that could hold an object


class ArrayFileError(OSError):
    """The file is not one of ours, or is damaged."""


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """The identity of a file: its size, and the checksum of its table.

    The table holds the checksums of all arrays.
    """

    size: int
    checksum: int


@dataclass(frozen=True, slots=True)
class _ArrayEntry:
    dtype: str
    shape: tuple[int, ...]
    offset: int
    crc: int


class ArrayWriter:
    """Writes arrays piece by piece, so that none has to fit into memory."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle
        self._table: dict[str, _ArrayEntry] = {}

    @contextlib.contextmanager
    def array(
        self, name: str, dtype: str, width: tuple[int, ...] = ()
    ) -> Iterator[Callable[[npt.NDArray[Any]], None]]:
        """Yield a function that appends rows to the array ``name`` of shape (n, *width)."""
        self._handle.write(b"\0" * (-self._handle.tell() % _ALIGNMENT_BYTES))
        offset, rows, crc = self._handle.tell(), 0, 0

        def append(values: npt.NDArray[Any]) -> None:
            nonlocal rows, crc
            block = np.ascontiguousarray(values, dtype=dtype)
            data = block.reshape(-1).view(np.uint8).data
            crc = zlib.crc32(data, crc)
            self._handle.write(data)
            rows += len(block)

        yield append
        self._table[name] = _ArrayEntry(dtype, (rows, *width), offset, crc)

    def put(self, name: str, values: npt.NDArray[Any], dtype: str) -> None:
        """Write a whole array."""
        with self.array(name, dtype, values.shape[1:]) as append:
            append(values)

    def finish(self, info: Mapping[str, object]) -> FileIdentity:
        """Write the table of contents, ``info`` in it, and the trailer."""
        table = {
            "format": FORMAT,
            "info": dict(info),
            "arrays": {name: asdict(entry) for name, entry in self._table.items()},
        }
        blob = json.dumps(table).encode()
        offset = self._handle.tell()
        self._handle.write(blob)
        checksum = zlib.crc32(blob)
        self._handle.write(_TRAILER.pack(offset, len(blob), checksum, MAGIC))
        return FileIdentity(offset + len(blob) + _TRAILER.size, checksum)


@contextlib.contextmanager
def create_arrays(path: Path) -> Iterator[ArrayWriter]:
    """Write a file of arrays under another name; leaving makes it durable and names it ``path``.

    The caller ends with :meth:`ArrayWriter.finish`. After an error nothing is left.
    """
    draft = path.with_name(f"{path.name}.new")
    # Never through a link, nor over a file that is there.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(draft, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            yield ArrayWriter(handle)
            handle.flush()
            os.fsync(handle.fileno())
        draft.rename(path)
        sync_folder(path.parent)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make new names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_arrays(
    path: Path,
    *,
    check: bool = False,
    expected: FileIdentity | None = None,
    info: Mapping[str, object] | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Map the arrays of a file, read-only; they stay valid when the file is removed.

    Args:
        path: the file.
        check: compare every array with its checksum, not only small ones.
        expected: what was written; another file, however well formed, is refused.
        info: what its table must say of it.

    Raises:
        ArrayFileError: cut short, changed, or another kind of file.
        FileNotFoundError: it is gone.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as handle:
        size = os.fstat(handle.fileno()).st_size
        table, crc = _read_table(handle, size, path)
        for key, value in (info or {}).items():
            if table["info"].get(key) != value:
                raise ArrayFileError(
                    f"{path}: its {key} is {table['info'].get(key)!r}, not {value!r}"
                )
        if expected is not None and expected != FileIdentity(size, crc):
            raise ArrayFileError(f"{path} is not the file that was written under this name")
        data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
    arrays = {}
    for name, raw in table["arrays"].items():
        entry = _ArrayEntry(**{**raw, "shape": tuple(raw["shape"])})
        arrays[name] = _view(data, entry, path)
        if (check or arrays[name].nbytes <= MAX_CHECKED_BYTES) and zlib.crc32(
            _bytes(arrays[name])
        ) != entry.crc:
            raise ArrayFileError(f"{path}: the array {name!r} does not match its checksum")
    return arrays


def read_info(path: Path) -> dict[str, Any]:
    """Return what a file says of itself.

    Raises:
        ArrayFileError: cut short, changed, or another kind of file.
        FileNotFoundError: it is gone.
    """
    with path.open("rb") as handle:
        table, _ = _read_table(handle, os.fstat(handle.fileno()).st_size, path)
    return dict(table["info"])


def _read_table(handle: BinaryIO, size: int, path: Path) -> tuple[dict[str, Any], int]:
    if size < _TRAILER.size:
        raise ArrayFileError(f"{path} is cut short")
    handle.seek(size - _TRAILER.size)
    offset, length, crc, magic = _TRAILER.unpack(handle.read(_TRAILER.size))
    if magic != MAGIC or offset + length + _TRAILER.size != size:
        raise ArrayFileError(f"{path} is cut short, or not a file of arrays")
    handle.seek(offset)
    blob = handle.read(length)
    if zlib.crc32(blob) != crc:
        raise ArrayFileError(f"{path}: its table of contents does not match its checksum")
    table: dict[str, Any] = json.loads(blob)
    if table.get("format") != FORMAT:
        raise ArrayFileError(f"{path} has format {table.get('format')}, not {FORMAT}")
    return table, crc


def _view(data: mmap.mmap, entry: _ArrayEntry, path: Path) -> npt.NDArray[Any]:
    if entry.dtype not in _DTYPES:
        raise ArrayFileError(f"{path} holds numbers of type {entry.dtype!r}")
    count = int(np.prod(entry.shape, dtype=np.int64))
    if entry.offset + count * np.dtype(entry.dtype).itemsize > len(data):
        raise ArrayFileError(f"{path}: an array reaches past the end")
    flat = np.frombuffer(data, dtype=entry.dtype, count=count, offset=entry.offset)
    return flat.reshape(entry.shape)


def _bytes(values: npt.NDArray[Any]) -> memoryview:
    return values.reshape(-1).view(np.uint8).data
