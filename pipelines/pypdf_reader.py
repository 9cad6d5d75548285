"""Reading with pypdf: pure Python, slower, and forgiving with broken files."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from pipelines.cleaning import sanitise
from pipelines.errors import DamagedError, TooLargeError
from pipelines.page_states import (
    MAX_PLACEHOLDER_CHARACTERS,
    PageState,
    is_code,
    is_undecodable,
)
from pipelines.readers import (
    Limits,
    PageText,
    RawPdf,
    bounded,
    clean_label,
    clean_title,
    largest_type,
    needs_password,
    same_pages,
    with_an_end,
)

logger = logging.getLogger(__name__)

# What pypdf raises, besides its own errors, on files whose structure is wrong.
_BROKEN = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, RecursionError,
    OverflowError, ZeroDivisionError, NotImplementedError, EOFError, OSError,
)  # fmt: skip
_DAMAGED: PageState = "damaged"
# Encodings of composite fonts that pypdf decodes.
_DECODED = re.compile("/(?:Uni|GB-EUC|GBpc-EUC|GBK|ETen|90ms-RKSJ|.*-UCS2-)")
# Operators that draw a picture, a path or a shading.
_DRAWS = re.compile(rb"(?:^|[\s\]>)])(?:Do|EI|f\*?|F|B\*?|b\*?|S|s|sh)(?=\s|$)")


def read_with_pypdf(data: bytes, password: str | None, limits: Limits) -> RawPdf:
    """Return the pages of a PDF; see ``Reader``."""
    with errors_of_ours():
        pdf = open_with_pypdf(data, password)
        total = len(pdf.pages)
        pages = tuple(bounded(_pages(pdf), total, limits))
        return RawPdf(pages, _title(pdf), _largest(pdf))


def pages_with_pypdf(
    data: bytes, password: str | None, indices: Iterable[int], total: int
) -> Generator[PageText]:
    """Yield single pages; see ``PageReader``."""
    from pypdf.errors import PyPdfError

    with errors_of_ours():
        pdf = open_with_pypdf(data, password)
        same_pages(len(pdf.pages), total)
        is_placeholder = _is_dynamic_form(pdf)
    for index in indices:
        text, state = "", _DAMAGED
        with suppress(PyPdfError, *_BROKEN):
            text, state = _page_text(pdf.pages[index], is_placeholder=is_placeholder)
        yield PageText("", text, state)


def open_with_pypdf(data: bytes, password: str | None) -> Any:
    """Return the file as pypdf has it; one that is cut off at its end opens if it can.

    Raises:
        EncryptedError: the file needs a password, or another one.
        Exception: what pypdf raises on a damaged file.
    """
    import pypdf
    from pypdf.errors import PyPdfError

    try:
        pdf = pypdf.PdfReader(io.BytesIO(data))
    except (PyPdfError, *_BROKEN) as error:
        try:
            pdf = pypdf.PdfReader(io.BytesIO(with_an_end(data)))
        except (PyPdfError, *_BROKEN):
            raise error from None
    if pdf.is_encrypted and not pdf.decrypt(password or ""):
        raise needs_password(password)
    return pdf


@contextmanager
def errors_of_ours() -> Iterator[None]:
    """Raise ``DamagedError``, with pypdf's reason, where pypdf raises anything."""
    from pypdf.errors import PyPdfError

    try:
        yield
    except (PyPdfError, *_BROKEN) as error:
        raise DamagedError(
            f"it is truncated or damaged: {error or type(error).__name__}",
            hint="copy or download it again",
        ) from error


def _pages(pdf: Any) -> Iterator[PageText]:
    from pypdf.errors import LimitReachedError, PyPdfError

    labels = _labels(pdf)
    is_placeholder = _is_dynamic_form(pdf)
    failed: Exception | None = None
    readable = 0
    for number, page in enumerate(pdf.pages, start=1):
        text, state = "", _DAMAGED
        try:
            text, state = _page_text(page, is_placeholder=is_placeholder)
            readable += 1
        except (PyPdfError, *_BROKEN) as error:
            logger.warning("page %d has text that pypdf cannot read: %s", number, error)
            failed = error
        label = labels[number - 1] if number <= len(labels) else ""
        yield PageText(label or str(number), text, state)
    if isinstance(failed, LimitReachedError) and not readable:
        raise TooLargeError(
            "its streams unfold beyond what pypdf allows", hint="leave it out, or save it again"
        ) from failed
    if failed is not None and not readable:
        raise DamagedError(f"no page can be read: {failed}") from failed


def _page_text(page: Any, *, is_placeholder: bool) -> tuple[str, PageState]:
    """Return the text of a page and its state."""
    pieces: list[tuple[str, bool]] = []

    def visit(text: str, _current: Any, _matrix: Any, font: Any, _size: float) -> None:
        pieces.append((text, _is_unmapped(font)))

    raw = page.extract_text(visitor_text=visit)
    text = sanitise(raw)
    if is_undecodable(raw) or _is_code(pieces):
        return "", "undecodable"
    if is_placeholder and len(text) <= MAX_PLACEHOLDER_CHARACTERS:
        return "", "form"
    if text.strip():
        return text, "text"
    contents = page.get_contents()
    data = contents.get_data() if contents is not None else b""
    return "", "image" if _DRAWS.search(data) else "empty"


def _is_unmapped(font: Any) -> bool:
    """Tell whether pypdf gives the codes of a font's glyphs in place of characters."""
    if font is None or font.get("/Subtype") != "/Type0" or "/ToUnicode" in font:
        return False
    encoding = font.get("/Encoding")
    return isinstance(encoding, str) and not _DECODED.match(encoding)


def _is_code(pieces: Sequence[tuple[str, bool]]) -> bool:
    if not any(odd for _, odd in pieces):
        return False
    unmapped = [odd for text, odd in pieces for _ in text]
    return is_code("".join(text for text, _ in pieces), unmapped)


def _is_dynamic_form(pdf: Any) -> bool:
    """Tell whether the pages only say that a program that knows XFA would show a form."""
    from pypdf.errors import PyPdfError

    try:
        root = pdf.root_object
        form = root.get("/AcroForm")
        form = form.get_object() if form is not None else {}
        return bool(root.get("/NeedsRendering")) and "/XFA" in form
    except (PyPdfError, *_BROKEN):
        return False


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
