"""Which reader reads a page: the first one, and another where that gives little or nothing.

Measured on 86 PDFs that are hard to read and on 192 pages of 48 annual reports: on no page of
a report does another reader give more than PDFium, at 15 times its time. So a page is read
again only where PDFium itself shows a sign that it gives too little.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace

from pipelines.errors import DamagedError, EncryptedError
from pipelines.page_reader_names import PAGE_READER_NAMES, STAND_IN
from pipelines.page_states import READ_STATES, PageState
from pipelines.pdfium_reader import added_to_pages, pages_with_pypdfium2
from pipelines.pypdf_reader import pages_with_pypdf
from pipelines.readers import Limits, PageReader, PageText, RawPdf, bounded
from pipelines.stand_in_font import pages_with_stand_in_font

PAGE_READERS: Mapping[str, PageReader] = dict(
    zip(
        PAGE_READER_NAMES,
        (pages_with_pypdfium2, pages_with_stand_in_font, pages_with_pypdf),
        strict=True,
    )
)
_ANOTHER_MAY_READ: tuple[PageState, ...] = ("undecodable", "damaged")
# A state that says more of a page without text than another.
_SAYS_MORE = {
    ("empty", "damaged"), ("damaged", "image"), ("damaged", "undecodable"), ("damaged", "form"),
}  # fmt: skip
_WITHOUT_TEXT: tuple[PageState, ...] = ("image", "empty", "damaged", "hidden")
_KNOWS_ADDED = "pypdfium2"  # the reader that tells what was filled in and added to pages
MIN_GAIN = 1.05  # characters, as a multiple: one reader may write a ligature as two
# A reader that gives nothing more on so many pages of a file is not asked again.
MAX_PAGES_WITHOUT_GAIN = 8
# Of the processor time that a file may take: what the first reader gave is not to be lost.
MAX_SHARE_OF_TIME = 0.5


def wants(page: PageText, reader: str, *, file_has_text: bool = True) -> bool:
    """Tell whether a page is to be read by another reader too.

    Args:
        page: as it was read so far.
        reader: one of ``PAGE_READERS``.
        file_has_text: whether any page has text; where none has, readers may know why.
    """
    if reader == STAND_IN:
        return page.incomplete
    if page.incomplete or page.state in _ANOTHER_MAY_READ:
        return True
    return not file_has_text and page.state in ("image", "empty") and not page.hides_text


def better(found: PageText, page: PageText) -> bool:
    """Tell whether a page as it was found by another reader is to be kept in its place."""
    if found.state not in READ_STATES and found.state != "scan":
        return (page.state, found.state) in _SAYS_MORE
    return _visible(found.text) > MIN_GAIN * _visible(page.text)


def _visible(text: str) -> int:
    return len("".join(text.split()))


def improved(raw: RawPdf, first: str, data: bytes, password: str | None, limits: Limits) -> RawPdf:
    """Return the pages of a file, each by the reader that gives the most of it.

    Args:
        raw: the pages as the first reader gave them.
        first: its name.
        data: the file's bytes.
        password: opens it.
        limits: what the file may cost.

    Raises:
        TooLargeError: the pages exceed the limits.
    """
    pages = list(raw.pages)
    until = time.process_time() + MAX_SHARE_OF_TIME * limits.seconds_for(len(data))
    for name, read in PAGE_READERS.items():
        if name == first:
            continue
        has_text = any(page.says_something for page in pages)
        asked = [
            index for index, page in enumerate(pages) if wants(page, name, file_has_text=has_text)
        ]
        if not asked:
            continue
        # What another reader cannot open stays as the first one gave it.
        found = read(data, password, asked, len(pages))
        with suppress(DamagedError, EncryptedError), closing(found):
            _take(pages, asked, found, name, until)
    if first != _KNOWS_ADDED:
        added = added_to_pages(data, password, len(pages))
        with suppress(DamagedError, EncryptedError), closing(added):
            _add(pages, added, until)
    if pages == list(raw.pages):
        return raw
    return replace(raw, pages=tuple(bounded(pages, len(pages), limits)))


def _take(
    pages: list[PageText],
    asked: Sequence[int],
    found: Iterator[PageText],
    name: str,
    until: float,
) -> None:
    """Put the better pages in their places."""
    misses = 0
    for index, page in zip(asked, found, strict=False):
        if better(page, pages[index]):
            before = pages[index]
            added = before.added or page.added
            pages[index] = replace(page, label=before.label, read_by=name, added=added)
            misses = 0
        else:
            pages[index] = replace(pages[index], incomplete=page.incomplete)
            misses += 1
        if misses >= MAX_PAGES_WITHOUT_GAIN or time.process_time() > until:
            return


def _add(pages: list[PageText], added: Iterator[str], until: float) -> None:
    """Put to each page what was filled in and added to it."""
    for index, lines in enumerate(added):
        if lines:
            page = pages[index]
            state = "text" if page.state in _WITHOUT_TEXT else page.state
            pages[index] = replace(page, added=lines, state=state)
        if time.process_time() > until:
            return
