"""PDFs of one page with tables, and the tables that are found in them."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import closing

import pypdfium2
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from pipelines.layout import PageLayout
from pipelines.tables.found import tables_of
from pipelines.tables.pdfium_words import placed_words
from pipelines.tables.table import Table

WIDTH, HEIGHT = 595, 842
SIZE, LEADING = 10, 14
LABEL, FIRST, SECOND, THIRD = 60, 360, 440, 520  # left edge of labels, right edges of columns
JAPANESE = "HeiseiMin-W3"


class Drawing:
    """Draws lines from the top of a page; each call is a line."""

    def __init__(self, canvas: Canvas, font: str = "Helvetica") -> None:
        self._canvas, self._font, self.y = canvas, font, 60.0
        canvas.setFont(font, SIZE)

    def line(self, label: str = "", *cells: str, indent: float = 0, rights: Sequence[float] = ()):
        """Draw a label and cells that end at the right edges of the columns."""
        self._canvas.drawString(LABEL + indent, HEIGHT - self.y, label)
        for right, cell in zip(rights or (FIRST, SECOND, THIRD), cells, strict=False):
            self._canvas.drawRightString(right, HEIGHT - self.y, cell)
        self.y += LEADING
        return self

    def middle(self, text: str, at: float = WIDTH / 2):
        """Draw a line of its own, centred."""
        self._canvas.drawCentredString(at, HEIGHT - self.y, text)
        self.y += LEADING
        return self

    def at(self, x: float, text: str, *, size: float = SIZE, up: float = LEADING):
        """Draw a text beside the line before."""
        self._canvas.setFont(self._font, size)
        self._canvas.drawString(x, HEIGHT - self.y + up, text)
        self._canvas.setFont(self._font, SIZE)
        return self

    def rule(self):
        """Draw a line of ink from side to side under the line before."""
        self._canvas.line(LABEL, HEIGHT - self.y + 10, THIRD, HEIGHT - self.y + 10)
        return self

    def skip(self, lines: float = 1):
        """Leave lines blank."""
        self.y += lines * LEADING
        return self


def pdf_of(*pages: Callable[[Drawing], object], font: str = "Helvetica") -> bytes:
    """Return a PDF whose pages are drawn by functions."""
    if font == JAPANESE and font not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(UnicodeCIDFont(font))
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=True)
    for draw in pages:
        draw(Drawing(canvas, font))
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def words_of(data: bytes, index: int = 0) -> tuple[str, PageLayout]:
    """Return the text of a page and where its words stand."""
    with closing(pypdfium2.PdfDocument(data)) as pdf, closing(pdf[index]) as page:
        return placed_words(page)


def tables_drawn(draw: Callable[[Drawing], object], font: str = "Helvetica") -> tuple[Table, ...]:
    """Return the tables that are found on a page that a function draws."""
    return tables_of(1, *words_of(pdf_of(draw, font=font)))


def cells_of(table: Table) -> dict[str, list[str]]:
    """Return the texts of a table's cells by the labels of their rows."""
    return {row.label: [row.value(at) for at in range(len(table.heads))] for row in table.rows}
