"""Reading text in fonts that are neither in the file nor on this machine.

PDFium knows which character each code of Adobe's Japanese, Chinese and Korean collections
stands for, but passes over text that takes no width; vertical text takes none where its font
is missing. In a copy of the file such fonts get one with a single square glyph: PDFium then
reads the text, in its place, whatever fonts a machine has.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Generator, Iterable, Iterator
from typing import Any

from pipelines.pdfium_reader import pages_with_pypdfium2
from pipelines.pypdf_reader import errors_of_ours, open_with_pypdf
from pipelines.readers import PageText

MAX_COPIED_BYTES = 64_000_000  # a larger file is not copied
_EM = 1000
_GLYPH_BOX = (0, -120, 1000, 880)  # left, bottom, right, top: as of a Japanese character
_CODES = 65_536
_EMBEDDED = ("/FontFile", "/FontFile2", "/FontFile3")


def pages_with_stand_in_font(
    data: bytes, password: str | None, indices: Iterable[int], total: int
) -> Generator[PageText]:
    """Yield single pages; see ``PageReader``."""
    if len(data) > MAX_COPIED_BYTES:
        return
    yield from pages_with_pypdfium2(with_stand_in_font(data, password), None, indices, total)


def with_stand_in_font(data: bytes, password: str | None) -> bytes:
    """Return a copy of a file, without its password, whose missing fonts have a stand-in.

    Raises:
        ReadError: pypdf cannot open or copy the file.
    """
    from pypdf import PdfWriter

    with errors_of_ours():
        writer = PdfWriter(clone_from=open_with_pypdf(data, password))
        _embed(writer)
        copy = io.BytesIO()
        writer.write(copy)
    return copy.getvalue()


def _embed(writer: Any) -> None:
    from pypdf.generic import DictionaryObject, NameObject

    missing = [font for font in _fonts(writer) if _is_missing(font)]
    program, glyphs = _added(writer, square_font()), _added(writer, bytes(2 * _CODES))
    for font in missing:
        descriptor = font.get("/FontDescriptor")
        known = descriptor.get_object() if descriptor is not None else {}
        filled = DictionaryObject(known)
        filled[NameObject("/Type")] = NameObject("/FontDescriptor")
        filled[NameObject("/FontFile2")] = program
        font[NameObject("/FontDescriptor")] = writer._add_object(filled)
        font[NameObject("/Subtype")] = NameObject("/CIDFontType2")
        font[NameObject("/CIDToGIDMap")] = glyphs


def _fonts(writer: Any) -> Iterator[Any]:
    """Yield the fonts of many characters, each once."""
    from pypdf.generic import DictionaryObject

    seen = set()
    for one in list(writer._objects):
        if not isinstance(one, DictionaryObject) or one.get("/Subtype") != "/Type0":
            continue
        for font in one.get("/DescendantFonts", ()):
            descendant = font.get_object()
            if isinstance(descendant, DictionaryObject) and id(descendant) not in seen:
                seen.add(id(descendant))
                yield descendant


def _is_missing(font: Any) -> bool:
    """Tell whether a font is of a known collection of characters, and not in the file."""
    if "/CIDSystemInfo" not in font:
        return False
    descriptor = font.get("/FontDescriptor")
    known = descriptor.get_object() if descriptor is not None else {}
    return not any(key in known for key in _EMBEDDED)


def _added(writer: Any, data: bytes) -> Any:
    from pypdf.generic import DecodedStreamObject

    stream = DecodedStreamObject()
    stream.set_data(data)
    return writer._add_object(stream.flate_encode())


def square_font() -> bytes:
    """Return a TrueType font of one glyph: a square as large as a Japanese character."""
    left, bottom, right, top = _GLYPH_BOX
    corners = struct.pack(">4h4h", left, right, 0, -right, bottom, 0, top - bottom, 0)
    glyph = struct.pack(">5hHH4B", 1, *_GLYPH_BOX, 3, 0, 1, 1, 1, 1) + corners
    version = 0x00010000
    tables = {
        b"glyf": glyph,
        b"head": struct.pack(
            ">4I2H2Q4h2H3h",
            *(version, version, 0, 0x5F0F3CF5, 0, _EM, 0, 0, *_GLYPH_BOX, 0, 8, 2, 0, 0),
        ),
        b"hhea": struct.pack(
            ">I3hH11hH", version, top, bottom, 0, right, 0, 0, right, 1, *[0] * 7, 1
        ),
        b"hmtx": struct.pack(">Hh", right, 0),
        b"loca": struct.pack(">2H", 0, len(glyph) // 2),
        b"maxp": struct.pack(">I14H", version, 1, 4, 1, 0, 0, 1, *[0] * 8),
    }
    directory = struct.pack(">I4H", version, len(tables), 64, 2, 32)
    start, body = len(directory) + 16 * len(tables), b""
    for name, table in sorted(tables.items()):
        directory += name + struct.pack(">3I", 0, start + len(body), len(table))
        body += table + bytes(-len(table) % 4)
    return directory + body
