"""The bytes of a PDF → the text of its pages, by the first reader that can open it, and more.

This opens PDFs in the calling process, which a bad one may crash or fill: only
``pipelines.worker`` does so, everything else reads through ``pipelines.isolated``. The
module is small, so that the process that reads starts quickly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.annotations import with_added
from pipelines.errors import (
    DamagedError,
    EmptyFileError,
    EncryptedError,
    NoTextError,
    NotPdfError,
    RagError,
    ReadError,
    TooLargeError,
)
from pipelines.ocr import INSTALL, Ocr
from pipelines.page_choice import improved
from pipelines.page_states import counted
from pipelines.pdfium_reader import read_with_pypdfium2
from pipelines.pypdf_reader import read_with_pypdf
from pipelines.readers import Limits, RawPdf, Reader
from pipelines.regular_files import open_regular

READERS: Mapping[str, Reader] = {"pypdfium2": read_with_pypdfium2, "pypdf": read_with_pypdf}
DEFAULT_READER = "pypdfium2"
_HEADER_WITHIN = 1024 - len(b"%PDF-")  # bytes: readers look no further


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
    recognise: Callable[[RawPdf, bytes], RawPdf] | None = None,
) -> tuple[RawPdf, str]:
    """Return the pages of a PDF, and the name of the reader that could read it.

    Args:
        data: the file's bytes.
        reader: the one that is tried first.
        passwords: tried on an encrypted file, after the empty one.
        limits: beyond these the file is refused; memory and time are not limited here.
        recognise: reads the pages of a file (its bytes) that no reader could, by OCR; None:
            nothing does.

    Raises:
        ReadError: no reader could; its subclass says why.
    """
    start, no_header = _header(data), _no_header(data)
    data = data[start:] if start else data  # PDFium knows no header further down
    failures: list[ReadError] = []
    for name in (reader, *(other for other in READERS if other != reader)):
        try:
            return _read(name, data, passwords, limits, recognise), name
        except TooLargeError:
            raise
        except ReadError as error:
            failures.append(error)
            if isinstance(error, NoTextError):
                break  # each page that another reader might know has been tried with it
    if start >= _HEADER_WITHIN:
        failures.insert(0, no_header)
    raise min(failures, key=lambda error: not isinstance(error, EncryptedError))


def _read(
    name: str,
    data: bytes,
    passwords: Sequence[str],
    limits: Limits,
    recognise: Callable[[RawPdf, bytes], RawPdf] | None,
) -> RawPdf:
    """Return the pages of a file that one reader opens, with what others know more of them.

    A wrong password does no harm to a file that needs none.

    Raises:
        ReadError: the reader cannot open it, or no page has text.
    """
    refused: ReadError = DamagedError("no reader could read it")
    for password in (None, *passwords):
        try:
            raw = _opened(name, data, password, limits)
        except EncryptedError as error:
            refused = error
            continue
        if raw.pages[0].state == "undecodable":
            raw = replace(raw, largest="")  # as little a title as the page is text
        raw = improved(raw, name, data, password, limits)
        raw = whole(raw if recognise is None else recognise(raw, data))
        if _has_text(raw):
            return raw
        raise _no_text(raw, tried=recognise is not None)
    raise refused


def whole(raw: RawPdf) -> RawPdf:
    """Return pages whose text has at its end what was filled in and added to them."""
    if not any(page.added for page in raw.pages):
        return raw
    pages = (
        replace(page, text=with_added(page.text, page.added), added="") if page.added else page
        for page in raw.pages
    )
    return replace(raw, pages=tuple(pages))


def _has_text(raw: RawPdf) -> bool:
    return any(page.text and not page.text.isspace() for page in raw.pages)


def _opened(name: str, data: bytes, password: str | None, limits: Limits) -> RawPdf:
    try:
        return READERS[name](data, password, limits)
    except (RagError, MemoryError):
        raise
    except Exception as error:  # of a library, on a file that its authors did not think of
        raise DamagedError(
            f"{name} cannot read it: {type(error).__name__}: {error}",
            hint="open it in a viewer and save it again",
        ) from error


def _no_text(raw: RawPdf, *, tried: bool) -> ReadError:
    states = [page.state for page in raw.pages]
    if set(states) == {"damaged"}:
        return DamagedError(
            f"none of its {len(states)} pages loads: it is truncated or damaged",
            hint="copy or download it again",
        )
    hint = f"text recognition (OCR) may read it: {INSTALL}"
    if tried:
        hint = (
            "text recognition (OCR) found none either in the time that it has: "
            "check what it shows, or allow more: RAG_READ_SECONDS"
        )
    if "form" in states:
        hint = "print it to a PDF in the program that shows the form, and ingest that"
    elif set(states) == {"empty"}:
        hint = "its pages are empty: check what was saved under this name"
    elif set(states) <= {"hidden", "empty"}:
        hint = "it has text that is not painted or lies outside the page: save it so that it shows"
    return NoTextError(f"none of its {len(raw.pages)} pages has text: {counted(states)}", hint=hint)


def _header(data: bytes) -> int:
    """Return where the PDF begins; 0 where readers find that themselves.

    Raises:
        EmptyFileError, NotPdfError: there is no header.
    """
    if not data:
        raise EmptyFileError("the file has 0 bytes", hint="copy or download it again")
    start = data.find(b"%PDF-")
    if start < 0:
        raise _no_header(data)
    return start if start >= _HEADER_WITHIN else 0


def _no_header(data: bytes) -> NotPdfError:
    start = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")):
        what = "it is a web page (HTML), not a PDF"
    elif start.startswith((b"pk\x03\x04", b"\xd0\xcf\x11\xe0")):
        what = "it is an office document or an archive, not a PDF"
    elif start.startswith((b"\x89png", b"\xff\xd8\xff", b"gif8", b"ii*\0", b"mm\0*")):
        what = "it is an image, not a PDF"
    else:
        what = "it does not begin like a PDF"
    return NotPdfError(what, hint="check what was saved under this name")
