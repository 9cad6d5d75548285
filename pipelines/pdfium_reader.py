"""Reading with PDFium: 15 times as fast as pypdf on reports, and nearly the same words.

PDFium is not thread safe: one thread of a process reads at a time, others wait.
"""

from __future__ import annotations

import ctypes
import math
import re
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, suppress
from itertools import islice
from typing import Any

from pipelines.annotations import added_to
from pipelines.cleaning import sanitise
from pipelines.errors import DamagedError, EncryptedError
from pipelines.page_states import (
    MAX_PLACEHOLDER_CHARACTERS,
    PageState,
    is_code,
    is_undecodable,
)
from pipelines.pdfium_arranging import arranged
from pipelines.pictures import is_scan
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
from pipelines.vertical import Glyph, is_vertical, vertical_text

_KANA_OR_HAN = re.compile("[\u3041-\u30fa\u3400-\u9fff]")
# Title pages are short; text further down is not a title.
_MAX_TITLE_PAGE_CHARS = 3000
_SAMPLE_GLYPHS = 40
# Looking at every glyph for its character would cost half as much as reading the page.
_SAMPLE_CODES = 48
_MIN_SAMPLE_SHARE = 0.1
# Other pages are not looked at for text that is left out: it would cost a tenth more.
_MAX_SHORT_PAGE_CHARACTERS = 200
_END_WITHIN = 1024  # bytes
_MIN_WIDTH = 0.01  # points; PDFium passes over text that is narrower
_MAX_OBJECTS, _SAMPLE_OBJECTS, _MAX_FORM_DEPTH = 20_000, 100, 4
_DAMAGED: PageState = "damaged"
_one_at_a_time = threading.Lock()


def read_with_pypdfium2(data: bytes, password: str | None, limits: Limits) -> RawPdf:
    """Return the pages of a PDF; see ``Reader``."""
    with _one_at_a_time:
        return _read(data, password, limits)


def _read(data: bytes, password: str | None, limits: Limits) -> RawPdf:
    import pypdfium2

    pdf = _opened(data, password)
    try:
        pages = tuple(bounded(_pages(pdf), len(pdf), limits))
        return RawPdf(pages, _title(pdf), _largest(pdf))
    except pypdfium2.PdfiumError as error:
        raise DamagedError(f"PDFium cannot read it: {error}", hint="save it again") from error
    finally:
        pdf.close()


def pages_with_pypdfium2(
    data: bytes, password: str | None, indices: Iterable[int], total: int
) -> Generator[PageText]:
    """Yield single pages; see ``PageReader``."""
    import pypdfium2

    with _one_at_a_time:
        pdf = _opened(data, password)
        try:
            same_pages(len(pdf), total)
            is_placeholder = _is_dynamic_form(pdf)
            for index in indices:
                try:
                    yield _page(pdf, index, "", is_placeholder=is_placeholder)
                except pypdfium2.PdfiumError:
                    yield PageText("", "", _DAMAGED)
        finally:
            pdf.close()


def added_to_pages(data: bytes, password: str | None, total: int) -> Generator[str]:
    """Yield what was filled in and added to each page.

    Args:
        data: the file's bytes.
        password: opens it.
        total: pages that the reader of their text found.

    Raises:
        ReadError: PDFium cannot open it, or finds another number of pages.
    """
    import pypdfium2

    with _one_at_a_time:
        pdf = _opened(data, password)
        try:
            same_pages(len(pdf), total)
            for index in range(total):
                try:
                    with closing(_loaded(pdf, index)) as page:
                        yield added_to(page)
                except pypdfium2.PdfiumError:
                    yield ""
        finally:
            pdf.close()


def _opened(data: bytes, password: str | None) -> Any:
    import pypdfium2

    try:
        return _with_forms(pypdfium2.PdfDocument(data, password=password))
    except pypdfium2.PdfiumError as error:
        failure = _opening_error(error, password)
        if isinstance(failure, DamagedError) and _is_cut_off(data):
            with suppress(pypdfium2.PdfiumError):
                return _with_forms(pypdfium2.PdfDocument(with_an_end(data), password=password))
        raise failure from error


def _with_forms(pdf: Any) -> Any:
    """Make the values of form fields known; without them the file still has its text."""
    import pypdfium2

    with suppress(pypdfium2.PdfiumError):
        pdf.init_forms()
    return pdf


def _is_cut_off(data: bytes) -> bool:
    return b"startxref" not in data[-_END_WITHIN:]


def _opening_error(error: Exception, password: str | None) -> EncryptedError | DamagedError:
    if "password" in str(error).lower():
        return needs_password(password)
    return DamagedError(
        f"it is truncated or damaged: {str(error).rstrip('.')}", hint="copy or download it again"
    )


def _title(pdf: Any) -> str:
    import pypdfium2

    with suppress(pypdfium2.PdfiumError, UnicodeDecodeError):
        return clean_title(pdf.get_metadata_value("Title"))
    return ""


def _pages(pdf: Any) -> Iterator[PageText]:
    import pypdfium2

    is_placeholder = _is_dynamic_form(pdf)
    failed: Exception | None = None
    readable = 0
    for index in range(len(pdf)):
        label = _label(pdf, index)
        try:
            yield _page(pdf, index, label, is_placeholder=is_placeholder)
            readable += 1
        except pypdfium2.PdfiumError as error:
            failed = error
            yield PageText(label, "", _DAMAGED)
    if failed is not None and not readable:
        raise failed


def _label(pdf: Any, index: int) -> str:
    label = ""
    with suppress(UnicodeDecodeError):
        label = clean_label(pdf.get_page_label(index))
    return label or str(index + 1)


def _loaded(pdf: Any, index: int) -> Any:
    """Return a page, whose form is told nothing of it.

    Else PDFium would draw each field, in a time that grows with the square of their number.
    """
    forms, pdf.formenv = pdf.formenv, None
    try:
        return pdf[index]
    finally:
        pdf.formenv = forms


def _page(pdf: Any, index: int, label: str, *, is_placeholder: bool) -> PageText:
    with closing(_loaded(pdf, index)) as page:
        text, state = _page_text(page, is_placeholder=is_placeholder)
        added, hides_text = added_to(page), state == "hidden"
        if hides_text and _draws(page):
            state = "image"
        if state not in ("undecodable", "form") and (text + added).strip():
            state = "scan" if is_scan(page, text + added) else "text"
        incomplete = leaves_text_out(page, text)
        return PageText(
            label, text, state, incomplete=incomplete, added=added, hides_text=hides_text
        )


def _is_dynamic_form(pdf: Any) -> bool:
    """Tell whether the pages only say that a program that knows XFA would show a form."""
    import pypdfium2.raw as pdfium

    return bool(pdfium.FPDF_GetFormType(pdf) == pdfium.FORMTYPE_XFA_FULL)


def _page_text(page: Any, *, is_placeholder: bool) -> tuple[str, PageState]:
    """Return the text of a page and its state."""
    text, state = _decoded_text(page)
    if state == "undecodable":
        return "", state
    if is_placeholder and len(text) <= MAX_PLACEHOLDER_CHARACTERS:
        return "", "form"
    if text.strip():
        return text, "text"
    return "", "image" if state == "empty" and _draws(page) else state


def leaves_text_out(page: Any, text: str) -> bool:
    """Tell whether PDFium passes over text of the page: text that takes no width.

    So it takes vertical text whose font is not in the file and not on this machine.
    """
    if len(text) > _MAX_SHORT_PAGE_CHARACTERS and not _KANA_OR_HAN.search(text):
        return False
    import pypdfium2.raw as pdfium

    edges = [ctypes.c_float() for _ in range(4)]
    most = _MAX_OBJECTS if len(text) <= _MAX_SHORT_PAGE_CHARACTERS else _SAMPLE_OBJECTS
    for piece in _text_objects(page, most):
        if not pdfium.FPDFPageObj_GetBounds(piece, *map(ctypes.byref, edges)):
            continue
        if edges[2].value - edges[0].value >= _MIN_WIDTH:
            continue
        if pdfium.FPDFFont_GetIsEmbedded(pdfium.FPDFTextObj_GetFont(piece)) == 0:
            return True
    return False


def _text_objects(page: Any, most: int) -> Iterator[Any]:
    """Yield the pieces of text that a page draws, also in its forms; of many a sample."""
    import pypdfium2.raw as pdfium

    ways = [(pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject, page, 0)]
    left = most
    while ways and left > 0:
        count, get, holder, depth = ways.pop()
        total = count(holder)
        for index in range(0, total, max(1, -(-total // left))):
            left -= 1
            piece = get(holder, index)
            kind = pdfium.FPDFPageObj_GetType(piece)
            if kind == pdfium.FPDF_PAGEOBJ_TEXT:
                yield piece
            elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _MAX_FORM_DEPTH:
                form = pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject
                ways.append((*form, piece, depth + 1))


def _draws(page: Any) -> bool:
    """Tell whether the page draws anything but text: pictures, paths, shadings, forms of them."""
    import pypdfium2.raw as pdfium

    return any(
        pdfium.FPDFPageObj_GetType(pdfium.FPDFPage_GetObject(page, index))
        != pdfium.FPDF_PAGEOBJ_TEXT
        for index in range(pdfium.FPDFPage_CountObjects(page))
    )


def _decoded_text(page: Any) -> tuple[str, PageState]:
    """Return the text of a page as it is read, and what the page is as far as text tells."""
    textpage = page.get_textpage()
    try:
        text: str = textpage.get_text_range(errors="replace")
        if is_undecodable(text) or _is_code(textpage):
            return "", "undecodable"
        if not text.strip():
            return "", "empty"
        if _KANA_OR_HAN.search(text) and _is_vertical(textpage):
            text = vertical_text(list(_glyphs(textpage)))
        else:
            text = arranged(page, textpage, text)
        # U+FFFE stands for a hyphen at a line end, and swallows the line end.
        text = sanitise(text.replace("\ufffe", "-\n"))
        return text, "text" if text.strip() else "hidden"
    finally:
        textpage.close()


def _is_code(textpage: Any) -> bool:
    """Tell whether the characters of a page are codes of glyphs; looks at a sample first."""
    import pypdfium2.raw as pdfium

    raw, has_no_character = textpage.raw, pdfium.FPDFText_HasUnicodeMapError

    def is_unmapped(index: int) -> bool:
        return bool(has_no_character(raw, index) == 1)

    count = textpage.count_chars()
    sample = range(0, count, max(1, count // _SAMPLE_CODES))
    if sum(map(is_unmapped, sample)) < _MIN_SAMPLE_SHARE * len(sample) or not count:
        return False
    drawn = [i for i in range(count) if pdfium.FPDFText_IsGenerated(textpage, i) != 1]
    characters = "".join(chr(pdfium.FPDFText_GetUnicode(textpage, i)) for i in drawn)
    return is_code(characters, [is_unmapped(i) for i in drawn])


def _is_vertical(textpage: Any) -> bool:
    """Tell whether a page is set in columns; one that begins with a head, from all its glyphs."""
    middle = textpage.count_chars() // 2
    first, later = (
        is_vertical(list(islice(_glyphs(textpage, start), _SAMPLE_GLYPHS))) for start in (0, middle)
    )
    return first or (later and is_vertical(list(_glyphs(textpage))))


def _glyphs(textpage: Any, start: int = 0) -> Iterator[Glyph]:
    """Yield the characters that the page itself draws, from one on, with the place of each."""
    import pypdfium2.raw as pdfium

    for index in range(start, textpage.count_chars()):
        if pdfium.FPDFText_IsGenerated(textpage, index) == 1:
            continue
        code = pdfium.FPDFText_GetUnicode(textpage, index)
        left, bottom, right, top = textpage.get_charbox(index, loose=True)
        x, y = (left + right) / 2, (bottom + top) / 2
        yield Glyph(chr(code), x, y, right - left, top - bottom)


def _largest(pdf: Any) -> str:
    """Return what page 1 shows in the largest type; a guess that never costs the file."""
    import pypdfium2

    failure = pypdfium2.PdfiumError
    with (
        suppress(failure),
        closing(_loaded(pdf, 0)) as page,
        closing(page.get_textpage()) as textpage,
    ):
        return largest_type(_sized_characters(textpage))
    return ""


def _sized_characters(textpage: Any) -> Iterator[tuple[float, str]]:
    """Yield the characters of a page with the height of their type; 0 for slanted ones."""
    import pypdfium2.raw as pdfium

    matrix = pdfium.FS_MATRIX()
    size = 0.0
    for index in range(min(textpage.count_chars(), _MAX_TITLE_PAGE_CHARS)):
        character = chr(pdfium.FPDFText_GetUnicode(textpage, index))
        if pdfium.FPDFText_IsGenerated(textpage, index) == 1:
            yield size, character
            continue
        pdfium.FPDFText_GetMatrix(textpage, index, matrix)
        upright = abs(matrix.b) < 0.01 * math.hypot(matrix.a, matrix.b)
        scale = math.hypot(matrix.c, matrix.d) if upright else 0.0
        size = round(pdfium.FPDFText_GetFontSize(textpage, index) * scale, 1)
        yield size, character
