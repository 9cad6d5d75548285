"""Pixels → PNG (W3C Recommendation, third edition): eight bits for each of red, green, blue."""

from __future__ import annotations

import struct
import zlib

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS, _RGB = 8, 2
CHANNELS = 3


def png_of(width: int, height: int, pixels: bytes) -> bytes:
    """Return a picture as a PNG file.

    Args:
        width: pixels of a row.
        height: rows.
        pixels: red, green and blue of each pixel, row by row from the top.

    Raises:
        ValueError: there are more or fewer pixels than the size says.
    """
    row = CHANNELS * width
    if width < 1 or height < 1 or len(pixels) != row * height:
        raise ValueError(f"{len(pixels)} bytes are no picture of {width} × {height} pixels")
    # Each row begins with the number of its filter: 0, none.
    lines = b"".join(b"\0" + pixels[at : at + row] for at in range(0, len(pixels), row))
    header = struct.pack(">IIBBBBB", width, height, _EIGHT_BITS, _RGB, 0, 0, 0)
    return b"".join(
        (_SIGNATURE, _chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(lines, 6)),
         _chunk(b"IEND", b""))
    )  # fmt: skip


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
