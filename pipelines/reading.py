"""PDF file → the text of its pages, by whichever reader can; nothing of LlamaIndex.

What reads files must be small: it may run in processes of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipelines.errors import (
    ConfigError,
    DamagedError,
    EmptyFileError,
    EncryptedError,
    NoTextError,
    NotPdfError,
    ReadError,
    TooLargeError,
)
from pipelines.file_names import printable
from pipelines.pdfium_reader import read_with_pypdfium2
from pipelines.pypdf_reader import read_with_pypdf
from pipelines.readers import Limits, RawPdf, Reader
from pipelines.regular_files import open_regular

READERS: Mapping[str, Reader] = {"pypdfium2": read_with_pypdfium2, "pypdf": read_with_pypdf}
DEFAULT_READER = "pypdfium2"


@dataclass(frozen=True)
class ReadPdf:
    """One file as it was read.

    Attributes:
        path: the file.
        raw: its pages.
        content_hash: sha256, in hex, of its bytes.
        reader: name of the reader that was wanted.
        read_by: name of the one that could.
    """

    path: Path
    raw: RawPdf
    content_hash: str
    reader: str
    read_by: str


def read_file(
    path: Path,
    reader: str = DEFAULT_READER,
    password: str | None = None,
    limits: Limits | None = None,
) -> ReadPdf:
    """Return the pages of a PDF; arguments and errors as of ``pipelines.documents.read_pdf``."""
    if reader not in READERS:
        raise ConfigError(
            f"there is no PDF reader {reader!r}", hint=f"choose one of: {', '.join(READERS)}"
        )
    try:
        with open_regular(path) as file:
            data = file.read()
    except OSError as error:
        raise ReadError(
            f"{printable(path)}: {error.strerror or error}",
            hint="check the path and its permissions",
        ) from error
    try:
        raw, read_by = _read(data, reader, password, limits or Limits())
    except ReadError as error:
        named = f"{printable(path.name)}: {error.message}"
        raise type(error)(named, hint=error.hint) from error
    return ReadPdf(path, raw, content_hash(data), reader, read_by)


def content_hash(source: str | Path | bytes) -> str:
    """Return the sha256, in hex, of a file's bytes.

    Raises:
        NotPdfError: the path is that of no regular file.
        OSError: the file cannot be read.
    """
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest()
    with open_regular(Path(source)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(data: bytes, reader: str, password: str | None, limits: Limits) -> tuple[RawPdf, str]:
    _check_header(data)
    first: ReadError | None = None
    for name in (reader, *(other for other in READERS if other != reader)):
        try:
            raw = READERS[name](data, password, limits)
        except TooLargeError:
            raise
        except (DamagedError, EncryptedError) as error:
            first = first or error
            continue
        if any(not page.text.isspace() and page.text for page in raw.pages):
            return raw, name
        first = first or NoTextError(
            f"none of its {len(raw.pages)} pages has text",
            hint="it is a scan or drawings only: run text recognition (OCR) on it first",
        )
    raise first or DamagedError("no reader could read it")


def _check_header(data: bytes) -> None:
    if not data:
        raise EmptyFileError("the file has 0 bytes", hint="copy or download it again")
    # Readers look for the mark within the first 1024 bytes.
    if b"%PDF-" in data[:1024]:
        return
    start = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")):
        what = "it is a web page (HTML), not a PDF"
    elif start.startswith((b"pk\x03\x04", b"\xd0\xcf\x11\xe0")):
        what = "it is an office document or an archive, not a PDF"
    elif start.startswith((b"\x89png", b"\xff\xd8\xff", b"gif8", b"ii*\0", b"mm\0*")):
        what = "it is an image, not a PDF"
    else:
        what = "it does not begin like a PDF"
    raise NotPdfError(what, hint="check what was saved under this name")
