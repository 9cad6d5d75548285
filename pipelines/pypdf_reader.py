"""Reading with pypdf: pure Python, slower, and forgiving with broken files."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from typing import Any

from pipelines.cleaning import sanitise
from pipelines.errors import DamagedError, ReadError, TooLargeError
from pipelines.readers import (
    Limits,
    PageText,
    RawPdf,
    bounded,
    clean_label,
    clean_title,
    largest_type,
    needs_password,
)

logger = logging.getLogger(__name__)

# What pypdf raises, besides its own errors, on files whose structure is wrong.
_BROKEN = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, RecursionError,
    OverflowError, ZeroDivisionError, NotImplementedError, EOFError, OSError,
)  # fmt: skip


def read_with_pypdf(data: bytes, password: str | None, limits: Limits) -> RawPdf:
    """Return the pages of a PDF; see ``Reader``."""
    import pypdf
    from pypdf.errors import PyPdfError

    try:
        pdf = pypdf.PdfReader(io.BytesIO(data))
        if pdf.is_encrypted and not pdf.decrypt(password or ""):
            raise needs_password(password)
        total = len(pdf.pages)
        pages = tuple(bounded(_pages(pdf), total, limits))
        return RawPdf(pages, _title(pdf), _largest(pdf))
    except ReadError:
        raise
    except (PyPdfError, *_BROKEN) as error:
        raise DamagedError(
            f"it is truncated or damaged: {error or type(error).__name__}",
            hint="copy or download it again",
        ) from error


def _pages(pdf: Any) -> Iterator[PageText]:
    from pypdf.errors import LimitReachedError, PyPdfError

    labels = _labels(pdf)
    failed: Exception | None = None
    readable = 0
    for number, page in enumerate(pdf.pages, start=1):
        text = ""
        try:
            text = page.extract_text()
            readable += 1
        except (PyPdfError, *_BROKEN) as error:
            logger.warning("page %d has text that pypdf cannot read: %s", number, error)
            failed = error
        label = labels[number - 1] if number <= len(labels) else ""
        yield PageText(label or str(number), sanitise(text))
    if isinstance(failed, LimitReachedError) and not readable:
        raise TooLargeError(
            "its streams unfold beyond what pypdf allows", hint="leave it out, or save it again"
        ) from failed
    if failed is not None and not readable:
        raise DamagedError(f"no page can be read: {failed}") from failed


def _labels(pdf: Any) -> list[str]:
    from pypdf.errors import PyPdfError

    try:
        return [clean_label(label) for label in pdf.page_labels]
    except (PyPdfError, *_BROKEN):
        return []


def _title(pdf: Any) -> str:
    from pypdf.errors import PyPdfError

    try:
        return clean_title(str(pdf.metadata.get("/Title") or "")) if pdf.metadata else ""
    except (PyPdfError, *_BROKEN):
        return ""


def _largest(pdf: Any) -> str:
    from pypdf.errors import PyPdfError

    pieces: list[tuple[float, str]] = []

    def visit(text: str, current: Any, matrix: Any, _font: Any, size: float) -> None:
        upright = abs(matrix[1]) < 0.01 and abs(current[1]) < 0.01
        pieces.append((round(abs(size * matrix[3] * current[3]), 1) if upright else 0.0, text))

    try:
        pdf.pages[0].extract_text(visitor_text=visit)
    except (PyPdfError, *_BROKEN):
        return ""
    return largest_type(pieces)
