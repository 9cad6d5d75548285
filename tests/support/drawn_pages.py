"""Pages that are drawn in another order or way than they are read: columns, hidden text."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = 595, 842
SIZE, LEADING = 11, 14
INVISIBLE = 3  # text render mode

LEFT = (
    "The reservoir was built in",
    "1931 by the town council.",
    "Its dam is made of granite",
    "blocks from a near quarry.",
    "The inspector visits it twice",
    "each year, in May and in",
    "October, and writes a report",
    "to the water authority.",
)
RIGHT = (
    "The ferry runs from April to",
    "September every hour. A",
    "ticket costs seven crowns for",
    "adults and three for children.",
    "Bicycles travel free of charge",
    "on weekdays but pay two",
    "crowns on Sundays. Dogs",
    "must be held on a lead.",
)
THIRD = (
    "The mill grinds oats and rye",
    "for the bakers of the valley,",
    "who fetch it with a cart on",
    "the first day of the month.",
    "A bag weighs fifty pounds",
    "and is paid for in advance,",
    "unless the miller has agreed",
    "to wait until the harvest.",
)
ROWS = (
    "Net revenue of all regions",
    "Cost of goods sold to others",
    "Gross margin of the segment",
    "Selling and administrative",
    "Research and development",
    "Operating income before tax",
)


def page(draw: Callable[[Canvas], None], *, crop: tuple[int, int, int, int] | None = None) -> bytes:
    """Return a PDF of one page.

    Args:
        draw: draws it; the font is set.
        crop: left, bottom, right and top of what is shown, in points.
    """
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=True)
    if crop:
        canvas.setCropBox(crop)
    canvas.setFont("Helvetica", SIZE)
    draw(canvas)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def across(canvas: Canvas, columns: Sequence[Sequence[str]], *, step: int, top: int = 700) -> None:
    """Draw columns line by line across the page, as some typesetters do."""
    for row, cells in enumerate(zip(*columns, strict=True)):
        for number, cell in enumerate(cells):
            canvas.drawString(60 + number * step, top - row * LEADING, cell)


def unpainted(canvas: Canvas, x: float, y: float, text: str) -> None:
    """Draw text that paints nothing, as the recognised text of a scan."""
    canvas.saveState()
    drawn = canvas.beginText(x, y)
    drawn.setTextRenderMode(INVISIBLE)
    drawn.textOut(text)
    canvas.drawText(drawn)
    canvas.restoreState()


def picture(canvas: Canvas, x: float, y: float, width: float, height: float) -> None:
    """Draw a grey picture."""
    grey = Image.new("L", (8, 8), 200)
    canvas.drawImage(ImageReader(grey), x, y, width, height)
