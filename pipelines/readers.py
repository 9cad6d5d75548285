"""PDF libraries behind one small interface: a file's bytes → the text of its pages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from pipelines.errors import DamagedError, EncryptedError, ReadError
from pipelines.text import sanitise

logger = logging.getLogger(__name__)

# Raise it when the derived text of the same file changes: ids and "unchanged" depend on it.
DERIVATION = 1


@dataclass(frozen=True, slots=True)
class PageText:
    """What a reader gives for one page: its printed label, and its text, sanitised only."""

    label: str
    text: str


@dataclass(frozen=True)
class RawPdf:
    """What a reader gives for one file.

    Attributes:
        pages: the pages in physical order.
        title: the PDF's own ``/Title``; often missing or an accession number.
        largest: the text in the largest type of page 1.
    """

    pages: tuple[PageText, ...]
    title: str
    largest: str


@dataclass(frozen=True)
class Limits:
    """Beyond these a file is refused: a small file can unfold into any amount of text.

    Attributes:
        pages: the most pages of one file.
        page_characters: the most characters of one page.
        characters: the most characters of one file.
    """

    pages: int = 20_000
    page_characters: int = 1_000_000
    characters: int = 100_000_000


# A reader: (bytes, password, limits) → RawPdf; raises EncryptedError or DamagedError.
Reader = Callable[[bytes, "str | None", Limits], RawPdf]


def reader_fingerprint(name: str) -> str:
    """Return a reader's name, its library's version and the version of our derivation."""
    return f"{name}/{version(name)}/{DERIVATION}"


def read_with_pypdfium2(data: bytes, password: str | None, limits: Limits) -> RawPdf:
    """Read with PDFium. It is not thread safe: one thread of a process at a time."""
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data, password=password)
    except pypdfium2.PdfiumError as error:
        raise _pdfium_error(error, password) from error
    try:
        total = len(pdf)
        _check_pages(total, limits)
        pages = tuple(_bounded(_pdfium_pages(pdf, total), limits))
        if not pages:
            raise DamagedError("it has no pages")
        title = ""
        with suppress(pypdfium2.PdfiumError, UnicodeDecodeError):
            title = pdf.get_metadata_value("Title")
        return RawPdf(pages, clean_line(title), _pdfium_largest(pdf))
    except pypdfium2.PdfiumError as error:
        raise DamagedError(f"PDFium cannot read it: {error}") from error
    finally:
        pdf.close()


def _pdfium_error(error: Exception, password: str | None) -> ReadError:
    if "password" in str(error).lower():
        return _needs_password(password)
    return DamagedError(f"PDFium cannot read it: {error}")


def _needs_password(password: str | None) -> EncryptedError:
    if password:
        return EncryptedError("the password given does not open it", hint="check the password")
    return EncryptedError(
        "it is encrypted and needs a password", hint="give its password, or save it without one"
    )


def _pdfium_pages(pdf: Any, total: int) -> Iterator[PageText]:
    for index in range(total):
        label = clean_line(pdf.get_page_label(index)) or str(index + 1)
        page = pdf[index]
        textpage = page.get_textpage()
        # U+FFFE stands for a hyphen at a line end, and swallows the line end.
        text = textpage.get_text_range(errors="replace").replace("\ufffe", "-\n")
        textpage.close()
        page.close()
        yield PageText(label, sanitise(text))


def _pdfium_largest(pdf: Any) -> str:
    """Return the text of the tallest lines of page 1."""
    page = pdf[0]
    textpage = page.get_textpage()
    boxes = []
    for index in range(min(textpage.count_rects(), 400)):
        left, bottom, right, top = textpage.get_rect(index)
        # Type that stands upright, and more of it than an ornamental initial.
        if right - left > 2 * (top - bottom) > 0:
            boxes.append((top - bottom, (left, bottom, right, top)))
    tallest = max((height for height, _ in boxes), default=0.0)
    parts = [textpage.get_text_bounded(*box) for height, box in boxes if height > 0.9 * tallest][:4]
    textpage.close()
    page.close()
    return clean_line(" ".join(parts))


def read_with_pypdf(data: bytes, password: str | None, limits: Limits) -> RawPdf:
    """Read with pypdf: slower, in pure Python, and forgiving with broken files."""
    import io

    import pypdf
    from pypdf.errors import PyPdfError

    try:
        pdf = pypdf.PdfReader(io.BytesIO(data))
        if pdf.is_encrypted and not pdf.decrypt(password or ""):
            raise _needs_password(password)
        total = len(pdf.pages)
        _check_pages(total, limits)
        labels = _pypdf_labels(pdf, total)
        pages = tuple(_bounded(_pypdf_pages(pdf, labels), limits))
        if not pages:
            raise DamagedError("it has no pages")
        return RawPdf(pages, _pypdf_title(pdf), _pypdf_largest(pdf))
    except ReadError:
        raise
    except (PyPdfError, *_BROKEN) as error:
        raise DamagedError(f"pypdf cannot read it: {error or type(error).__name__}") from error


# What pypdf's own code runs into on files that lie about their structure.
_BROKEN = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, RecursionError,
    OverflowError, ZeroDivisionError, NotImplementedError, EOFError, OSError, MemoryError,
)  # fmt: skip


def _pypdf_pages(pdf: Any, labels: list[str]) -> Iterator[PageText]:
    failed: Exception | None = None
    readable = 0
    for index, page in enumerate(pdf.pages):
        try:
            text = page.extract_text() or ""
            readable += 1
        except _BROKEN as error:
            logger.warning("page %d: pypdf cannot read its text: %s", index + 1, error)
            text, failed = "", error
        yield PageText(labels[index], sanitise(text))
    if failed is not None and not readable:
        raise DamagedError(f"pypdf cannot read any page: {failed}") from failed


def _pypdf_labels(pdf: Any, total: int) -> list[str]:
    try:
        labels = [clean_line(label) for label in pdf.page_labels]
    except _BROKEN:
        labels = []
    labels += [""] * (total - len(labels))
    return [label or str(index + 1) for index, label in enumerate(labels)]


def _pypdf_title(pdf: Any) -> str:
    try:
        metadata: Mapping[str, Any] | None = pdf.metadata
        return clean_line(str(metadata.get("/Title") or "")) if metadata else ""
    except _BROKEN:
        return ""


def _pypdf_largest(pdf: Any) -> str:
    sizes: list[tuple[float, str]] = []

    def visit(text: str, _cm: Any, matrix: Any, _font: Any, size: float) -> None:
        if len(text.strip()) > 2 and size:
            sizes.append((abs(size * (matrix[3] or matrix[0])), text))

    try:
        pdf.pages[0].extract_text(visitor_text=visit)
    except _BROKEN:
        return ""
    tallest = max((size for size, _ in sizes), default=0.0)
    return clean_line(" ".join([text for size, text in sizes if size > 0.9 * tallest][:4]))


def _check_pages(total: int, limits: Limits) -> None:
    if total > limits.pages:
        raise DamagedError(
            f"it says it has {total} pages", hint=f"the limit is {limits.pages} pages"
        )


def _bounded(pages: Iterator[PageText], limits: Limits) -> Iterator[PageText]:
    total = 0
    for number, page in enumerate(pages, start=1):
        total += len(page.text)
        if len(page.text) > limits.page_characters or total > limits.characters:
            raise DamagedError(
                f"page {number} unfolds into {len(page.text)} characters, {total} in all",
                hint=f"the limits are {limits.page_characters} and {limits.characters}",
            )
        yield page


def clean_line(text: str) -> str:
    """Return a text on one line, sanitised."""
    return " ".join(sanitise(text).split())


READERS: Mapping[str, Reader] = {"pypdfium2": read_with_pypdfium2, "pypdf": read_with_pypdf}
