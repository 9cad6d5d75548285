"""Where quotes stand on the pages of their file, as that is now, and pictures of these pages.

Nothing of it is kept in an index: the file is read again, by the process that reads PDFs and
within its limits, when somebody asks.
"""

from __future__ import annotations

import contextlib
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pipelines.errors import ConfigError, ReadError
from pipelines.file_names import printable
from pipelines.layout import Box

if TYPE_CHECKING:
    from pipelines.isolated import Reading
    from pipelines.page_showing import ShownPage
    from pipelines.tables.table import Table
    from rag_app.answer.response import Quote

DEFAULT_SCALE = 2.0  # pixels per point: 144 dots per inch
MAX_SCALE = 20.0
MAX_SAME_NAMES = 1000
CHANGED = "the file has changed since it was read: the page is shown as it is now"
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class PageRectangles:
    """Where one quote stands on one page.

    Attributes:
        page: physical number, from 1.
        width, height: of the page as it is shown, in points (1/72 inch).
        boxes: a rectangle for each line of the quote, in points from the upper left corner;
            none: it was not found, as it is the value of a form, or the file has changed.
        changed: whether the file is another one than was read into the index.
    """

    page: int
    width: float
    height: float
    boxes: tuple[Box, ...]
    changed: bool = False


@dataclass(frozen=True, repr=False)
class PageImage:
    """A picture of a page with the quotes marked; a notebook shows it.

    Attributes:
        file: name of the file.
        page: physical number, from 1.
        png: the picture, as the bytes of a PNG file.
        width, height: in pixels.
        marked: how many of the quotes are marked.
        changed: whether the file is another one than was read into the index.
    """

    file: str
    page: int
    png: bytes
    width: int
    height: int
    marked: int
    changed: bool = False

    def save(self, path: str | Path) -> Path:
        """Write the PNG file, over one that is there; return its path.

        Raises:
            OSError: it cannot be written.
        """
        place = Path(path)
        place.write_bytes(self.png)
        return place

    def save_as_new(self, folder: str | Path, stem: str) -> Path:
        """Write the PNG file under a name that is free in a folder; return its path.

        Raises:
            OSError: it cannot be written.
        """
        for number in range(1, MAX_SAME_NAMES + 1):
            place = Path(folder, f"{stem}{f'-{number}' if number > 1 else ''}.png")
            with contextlib.suppress(FileExistsError), place.open("xb") as file:
                file.write(self.png)
                return place
        raise FileExistsError(f"{place} and {MAX_SAME_NAMES - 1} others like it are there already")

    def __repr__(self) -> str:
        note = f"; {CHANGED}" if self.changed else ""
        return (
            f"<PageImage of {self.file}, page {self.page}: {self.width} × {self.height} pixels, "
            f"{self.marked} quotes marked{note}>"
        )

    def _repr_png_(self) -> bytes:
        return self.png

    def _repr_html_(self) -> str:
        from base64 import b64encode

        note = f"<p>{html.escape(CHANGED)}</p>" if self.changed else ""
        name = html.escape(f"{self.file}, page {self.page}")
        data = b64encode(self.png).decode("ascii")
        return f'{note}<img alt="{name}" style="max-width:100%" src="data:image/png;base64,{data}">'


class PageSource:
    """What stands on pages of a file, with quotes: a citation, or a passage that is close."""

    file: str
    path: str
    page: int | None
    pages: list[int]
    quotes: list[Quote]
    read_by: Literal["text", "ocr"]
    content_hash: str

    @cached_property
    def rectangles(self) -> list[list[PageRectangles]]:
        """For each quote, in the order of ``quotes``, where it stands on each of its pages.

        The file is read when this is asked for the first time (about .1 s a page).

        Raises:
            ReadError: the file is gone, or its pages cannot be read; the subclass says why.
        """
        return self.find_rectangles()

    def find_rectangles(self, *, password: str | None = None) -> list[list[PageRectangles]]:
        """Return what ``rectangles`` holds, of a file that may need a password."""
        reading = _reading(self, password)
        found: list[list[PageRectangles]] = [[] for _ in self.quotes]
        rest = [quote.text for quote in self.quotes]
        for page in sorted({page for quote in self.quotes for page in quote.pages}):
            places = [at for at, quote in enumerate(self.quotes) if page in quote.pages]
            shown, changed = _shown(self, page, [rest[at] for at in places], 0.0, reading)
            for at, place in zip(places, shown.places, strict=True):
                found[at].append(
                    PageRectangles(page, shown.width, shown.height, place.boxes, changed)
                )
                # What is left of it stands on the next page.
                rest[at] = place.rest or rest[at]
        return found

    @cached_property
    def table(self) -> Table | None:
        """The table of amounts that the quotes stand in; None: they quote no row of one.

        Its rows on the pages before and after are part of it. The file is read when this is
        asked for the first time (about .3 s). None of pages that text recognition read.

        Raises:
            ReadError: the file is gone, has changed since it was read, or cannot be read.
        """
        return self.find_table()

    def find_table(self, *, password: str | None = None) -> Table | None:
        """Return what ``table`` holds, of a file that may need a password."""
        from rag_app.answer.quoted_tables import table_of

        return table_of(self, password)

    def page_image(
        self,
        scale: float = DEFAULT_SCALE,
        *,
        page: int | None = None,
        password: str | None = None,
    ) -> PageImage:
        """Return a picture of a page with the quotes marked, made from the file as it is now.

        Args:
            scale: pixels per point (1/72 inch), at most 20; fewer where the picture would have
                more than eight million pixels.
            page: physical number, from 1; by default the page of the best quote.
            password: of an encrypted file.

        Raises:
            ConfigError: the scale is not allowed.
            ReadError: the file is gone, or the page cannot be drawn; the subclass says why.
        """
        if not 0 < scale <= MAX_SCALE:
            raise ConfigError(f"scale={scale!r} is not between 0 and {MAX_SCALE:g}")
        number = self.page if page is None else page
        if number is None:
            raise ReadError(f"{printable(self.file)} has no pages: it is a text")
        quotes = self._left_for(number, password)
        shown, changed = _shown(self, number, quotes, scale, _reading(self, password))
        if shown.pixels is None:
            raise ReadError(f"{printable(self.file)}: page {number} was not drawn")
        from pipelines.png import png_of

        pixels = shown.pixels
        return PageImage(
            file=printable(self.file),
            page=number,
            png=png_of(pixels.width, pixels.height, pixels.data),
            width=pixels.width,
            height=pixels.height,
            marked=sum(bool(place.boxes) for place in shown.places),
            changed=changed,
        )

    def _left_for(self, number: int, password: str | None) -> list[str]:
        """Return what of the quotes stands on a page: of those over a page break the rest."""
        mine = [quote for quote in self.quotes if number in quote.pages]
        rest = {quote.text: quote.text for quote in mine}
        for page in sorted({page for quote in mine for page in quote.pages if page < number}):
            texts = [quote.text for quote in mine if page in quote.pages]
            wanted = [rest[text] for text in texts]
            shown, _ = _shown(self, page, wanted, 0.0, _reading(self, password))
            for text, place in zip(texts, shown.places, strict=True):
                rest[text] = place.rest or rest[text]
        return [rest[quote.text] for quote in mine]


def _reading(source: PageSource, password: str | None) -> Reading:
    from pipelines.isolated import Reading

    ocr = None
    if source.read_by == "ocr":
        from pipelines.ocr import find_ocr

        ocr = find_ocr()
    return Reading(passwords=() if password is None else (password,), ocr=ocr)


def _shown(
    source: PageSource, page: int, quotes: Sequence[str], scale: float, reading: Reading
) -> tuple[ShownPage, bool]:
    """Return a page with its quotes, and whether the file is another one than was read."""
    from pipelines.isolated import read_page
    from pipelines.page_showing import PageRequest

    if not source.path:
        raise ReadError(f"{printable(source.file)} is a text without a file: no page is shown")
    path = Path(source.path)
    if not path.exists():
        raise ReadError(
            f"{printable(source.path)} is gone: its pages are shown from the file itself",
            hint="put it back, or ingest it from where it is now",
        )
    request = PageRequest(page, tuple(quotes), scale, reading.ocr)
    shown, digest = read_page(path, request, reading)
    known = _SHA256.fullmatch(source.content_hash) is not None
    return shown, known and digest != source.content_hash
