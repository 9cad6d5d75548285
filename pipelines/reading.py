"""The bytes of a PDF → the text of its pages, by the first reader that can read it.

This opens PDFs in the calling process, which a bad one may crash or fill: only
``pipelines.worker`` does so, everything else reads through ``pipelines.isolated``. The
module is small, so that the process that reads starts quickly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.errors import (
    DamagedError,
    EmptyFileError,
    EncryptedError,
    NoTextError,
    NotPdfError,
    ReadError,
    TooLargeError,
)
from pipelines.ocr import INSTALL, Ocr
from pipelines.page_states import counted
from pipelines.pdfium_reader import read_with_pypdfium2
from pipelines.pypdf_reader import read_with_pypdf
from pipelines.readers import Limits, RawPdf, Reader
from pipelines.regular_files import open_regular

READERS: Mapping[str, Reader] = {"pypdfium2": read_with_pypdfium2, "pypdf": read_with_pypdf}
DEFAULT_READER = "pypdfium2"


@dataclass(frozen=True)
class ReadPdf:
    """One file as it was read (``pipelines.isolated.read_file``).

    Attributes:
        path: the file.
        raw: its pages.
        content_hash: sha256, in hex, of its bytes.
        reader: name of the reader that was wanted.
        read_by: name of the one that could.
        ocr: what was to read its pictures; None: nothing was.
    """

    path: Path
    raw: RawPdf
    content_hash: str
    reader: str
    read_by: str
    ocr: Ocr | None = None


def content_hash(source: str | Path | bytes) -> str:
    """Return the sha256, in hex, of a file's bytes.

    Raises:
        NotPdfError: the path is not that of a regular file.
        OSError: the file cannot be read.
    """
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest()
    with open_regular(Path(source)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_data(
    data: bytes,
    reader: str,
    passwords: Sequence[str],
    limits: Limits,
    recognise: Callable[[RawPdf], RawPdf] | None = None,
) -> tuple[RawPdf, str]:
    """Return the pages of a PDF, and the name of the reader that could read it.

    Args:
        data: the file's bytes.
        reader: the one that is tried first.
        passwords: tried on an encrypted file, after the empty one.
        limits: beyond these the file is refused; memory and time are not limited here.
        recognise: reads the pages that no reader could, by OCR; None: nothing does.

    Raises:
        ReadError: no reader could; its subclass says why.
    """
    _check_header(data)
    first: ReadError | None = None
    blank: tuple[RawPdf, str] | None = None
    for name in (reader, *(other for other in READERS if other != reader)):
        try:
            raw = _opened(name, data, passwords, limits)
        except TooLargeError:
            raise
        except (DamagedError, EncryptedError) as error:
            first = first or error
            continue
        if _has_text(raw):
            return (recognise(raw) if recognise is not None else raw), name
        first, blank = first or _no_text(raw, tried=recognise is not None), blank or (raw, name)
    if blank is not None and recognise is not None and _has_text(raw := recognise(blank[0])):
        return raw, blank[1]
    raise first or DamagedError("no reader could read it")


def _opened(name: str, data: bytes, passwords: Sequence[str], limits: Limits) -> RawPdf:
    """Read with one reader; a wrong password does no harm to a file that needs none."""
    refused: EncryptedError | None = None
    for password in (None, *passwords):
        try:
            return READERS[name](data, password, limits)
        except EncryptedError as error:
            refused = error
    raise refused or DamagedError("no reader could read it")


def _has_text(raw: RawPdf) -> bool:
    return any(page.text and not page.text.isspace() for page in raw.pages)


def _no_text(raw: RawPdf, *, tried: bool) -> NoTextError:
    states = [page.state for page in raw.pages]
    hint = f"text recognition (OCR) may read it: {INSTALL}"
    if tried:
        hint = "text recognition (OCR) found none either: check what it shows"
    if "form" in states:
        hint = "print it to a PDF in the program that shows the form, and ingest that"
    elif set(states) == {"empty"}:
        hint = "its pages are empty: check what was saved under this name"
    return NoTextError(f"none of its {len(raw.pages)} pages has text: {counted(states)}", hint=hint)


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
