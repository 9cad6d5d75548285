"""Checksums of an index: a row that is not as it was written raises an error.

Each row carries a CRC-32 that begins with the index's identity and the row's own
key, so that a row of another index, or of another place in this one, does not fit.
It finds any change of up to 32 bits in a row, and costs a microsecond for a
slice of text. It does not protect against somebody who computes it again.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from pipelines.errors import IndexDamagedError

Value = str | int | bytes | None
_NO_CHECKSUM = -1  # of a value of another type than was written
_DIGEST_BYTES = 7  # a digest is a positive integer that SQLite can hold


def repair_command(folder: Path) -> str:
    """Return the command that repairs an index, quoted for a shell."""
    from shlex import quote

    return f"rag repair --index {quote(str(folder))}"


def damaged(folder: Path, what: str) -> IndexDamagedError:
    """Return the error for a damaged index: what is damaged, and the command that repairs it."""
    return IndexDamagedError(
        f"the index {folder} is damaged: {what}", hint=f"repair it with `{repair_command(folder)}`"
    )


@dataclass(frozen=True, slots=True)
class Checksums:
    """The checksums of one index.

    Attributes:
        folder: the index's, for errors.
        seed: start value of each checksum.
    """

    folder: Path
    seed: int

    @classmethod
    def of(cls, identity: str, folder: Path) -> Checksums:
        """Return those of an index with this identity."""
        return cls(folder, zlib.crc32(identity.encode()))

    @classmethod
    def at(cls, sql: sqlite3.Connection) -> Checksums:
        """Return those of the index that is open."""
        (identity,) = sql.execute("SELECT identity FROM state").fetchone()
        # As bytes: the name of a folder need not be UTF-8.
        (file,) = sql.execute("SELECT CAST(file AS BLOB) FROM pragma_database_list").fetchone()
        return cls.of(str(identity), Path(os.fsdecode(file)).parent)

    def row(self, *values: Value) -> int:
        """Return the checksum of short values; NULL reads as ``None``."""
        joined = "\x1f".join(map(str, values))
        return zlib.crc32(joined.encode(errors="surrogatepass"), self.seed)

    def text(self, content: int, start: int, stop: int, text: str) -> int:
        """Return the checksum of a slice of derived text."""
        if not isinstance(text, str):
            return _NO_CHECKSUM
        key = zlib.crc32(b"%d %d %d" % (content, start, stop), self.seed)
        return zlib.crc32(text.encode(errors="surrogatepass"), key)

    def blobs(self, key: tuple[Value, ...], *blobs: bytes) -> int:
        """Return the checksum of blobs, in order, that stand under a key."""
        if not all(isinstance(blob, bytes) for blob in blobs):
            return _NO_CHECKSUM
        found = self.row(*key, *map(len, blobs))
        for blob in blobs:
            found = zlib.crc32(blob, found)
        return found

    def digest(self, *values: Value) -> int:
        """Return a longer checksum, which can be joined with others by XOR."""
        joined = "\x1f".join(map(str, (self.seed, *values)))
        data = joined.encode(errors="surrogatepass")
        return int.from_bytes(blake2b(data, digest_size=_DIGEST_BYTES).digest(), "little")

    def check(self, stored: object, found: int, what: str) -> None:
        """Compare a checksum.

        Raises:
            IndexDamagedError: they differ; names ``what`` and the command that repairs it.
        """
        if stored != found:
            raise self.damaged(f"{what} does not match its checksum")

    def damaged(self, what: str) -> IndexDamagedError:
        """Return the error that names what is damaged."""
        return damaged(self.folder, what)
