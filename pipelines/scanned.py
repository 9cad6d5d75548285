"""The pages of a PDF that are pictures of text → their text, by OCR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from pipelines.ocr import Ocr, wants
from pipelines.readers import Limits, PageText, RawPdf
from pipelines.recognition import Recogniser, readable, recognised

# A scan with a stamp is read in full only where OCR finds so many times the stamp's characters.
MIN_GAIN_OVER_STAMP = 2.0
# Reading a page once; several languages are tried, and several ways up.
_READINGS_PER_PAGE = 4


@cache
def tesseract(ocr: Ocr) -> Recogniser:
    """Return the engine; it stays loaded."""
    from pipelines.tesseract import Tesseract

    return Tesseract(ocr)


def read_scanned(
    data: bytes,
    passwords: Sequence[str],
    raw: RawPdf,
    engine: Recogniser,
    limits: Limits,
    on_page: Callable[[int, int], None],
) -> RawPdf:
    """Return the pages of a file, with those that are pictures read by OCR.

    A page on which nothing can be read stays as it is, and so does a file that PDFium does
    not open.

    Args:
        data: bytes of the file.
        passwords: tried on an encrypted file, after the empty one.
        raw: its pages, as readers read them.
        engine: recognises text.
        limits: what a page may cost.
        on_page: called before each page with its place among those to be read, and their count.
    """
    indices = [index for index, page in enumerate(raw.pages) if wants(page.state)]
    pdf = _opened(data, passwords) if indices else None
    if pdf is None:
        return raw
    pages, language = list(raw.pages), ""
    try:
        for count, index in enumerate(indices, start=1):
            on_page(count, len(indices))
            pages[index], language = _read(pdf, index, pages[index], engine, limits, language)
    finally:
        pdf.close()
    return replace(raw, pages=tuple(pages))


def _opened(data: bytes, passwords: Sequence[str]) -> Any:
    """Return the file as pypdfium2 has it; None: it does not open."""
    import pypdfium2

    for password in (None, *passwords):
        try:
            return pypdfium2.PdfDocument(data, password=password)
        except pypdfium2.PdfiumError:
            continue
    return None


def _read(
    pdf: Any, index: int, page: PageText, engine: Recogniser, limits: Limits, language: str
) -> tuple[PageText, str]:
    """Return a page, and the language that it is in, or that of the page before."""
    import pypdfium2

    try:
        shown = pdf[index]
    except (pypdfium2.PdfiumError, IndexError):  # another reader may know more pages
        return page, language
    try:
        seconds = limits.seconds_per_ocr_page / _READINGS_PER_PAGE
        found = recognised(shown, engine, seconds, language)
    except RuntimeError:  # of the engine, which leaves the page as it was
        found = None
    finally:
        shown.close()
    if found is None or readable(found.text) < MIN_GAIN_OVER_STAMP * readable(page.text):
        # A picture with a caption: its text is all that it says.
        return (replace(page, state="text") if page.says_something else page), language
    read = PageText(page.label, found.text, "ocr", found.confidence, added=page.added)
    return read, found.language
