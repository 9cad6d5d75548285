"""Real PDFs for tests: pages of text, labels, titles, passwords, scans, Japanese."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from pypdf import PdfReader, PdfWriter
from pypdf.constants import PageLabelStyle
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

_JAPANESE = re.compile(r"[^\x00-\u02ff\u2010-\u2030\u20ac]")
_FONT, _JAPANESE_FONT = "Helvetica", "HeiseiMin-W3"
_MARGIN, _SIZE, _LEADING = 72, 11, 15


def make_pdf(
    path: Path,
    pages: Sequence[str],
    *,
    title: str = "",
    labels: Sequence[str] = (),
    heading: str = "",
    password: str | None = None,
    scanned: Collection[int] = (),
) -> Path:
    """Write a PDF and return its path; equal arguments give equal bytes without a password.

    Args:
        path: where to write it.
        pages: text of each page; its lines are drawn as they are.
        title: the PDF's ``/Title``.
        labels: a printed label for each page ("i", "1", "A-1").
        heading: drawn in large type at the top of page 1.
        password: encrypts with AES-256; ``""`` opens without being asked.
        scanned: physical numbers of pages that show a picture and no text.
    """
    data = _draw(pages, title, heading, scanned)
    if labels or password is not None:
        writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
        for index, label in enumerate(labels):
            _label(writer, index, label)
        if password is not None:
            writer.encrypt(password, "owner", algorithm="AES-256")
        buffer = io.BytesIO()
        writer.write(buffer)
        data = buffer.getvalue()
    path.write_bytes(data)
    return path


def _draw(pages: Sequence[str], title: str, heading: str, scanned: Collection[int]) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    if title:
        canvas.setTitle(title)
    for number, text in enumerate(pages, start=1):
        top = A4[1] - _MARGIN
        if heading and number == 1:
            _line(canvas, heading, top, 24)
            top -= 40
        if number in scanned:
            canvas.rect(_MARGIN, 200, 300, 300, fill=1)
        else:
            for row, line in enumerate(text.split("\n")):
                _line(canvas, line, top - row * _LEADING, _SIZE)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _line(canvas: Canvas, line: str, y: float, size: int) -> None:
    font = _JAPANESE_FONT if _JAPANESE.search(line) else _FONT
    if font == _JAPANESE_FONT and font not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(UnicodeCIDFont(font))
    canvas.setFont(font, size)
    canvas.drawString(_MARGIN, y, line)


def _label(writer: PdfWriter, index: int, label: str) -> None:
    """Give one page its label: roman, or digits with a prefix."""
    roman = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"]
    if label in roman:
        writer.set_page_label(
            index, index, style=PageLabelStyle.LOWERCASE_ROMAN, start=roman.index(label) + 1
        )
        return
    match = re.fullmatch(r"(.*?)(\d+)", label)
    assert match, f"a label ends in digits: {label!r}"
    writer.set_page_label(
        index,
        index,
        style=PageLabelStyle.DECIMAL,
        prefix=match[1] or None,
        start=int(match[2]),
    )
