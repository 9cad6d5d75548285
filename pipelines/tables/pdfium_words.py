"""The words of pages and where they stand, as PDFium tells: what tables are found from."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from pipelines.layout import PageLayout
from pipelines.page_text import laid_out, without
from pipelines.pdfium_glyphs import Paint, frame_of, placed_characters
from pipelines.pdfium_visibility import hidden_characters, may_hide_text


def placed_words(page: Any) -> tuple[str, PageLayout]:
    """Return the text of a page and the places of its words; what is hidden is left out.

    Args:
        page: of PDFium. Only one thread of a process may use PDFium at a time.
    """
    frame = frame_of(page)
    with closing(page.get_textpage()) as textpage:
        text = textpage.get_text_range(errors="replace")
        characters = placed_characters(textpage, frame, text)
        if may_hide_text(page, textpage, frame, text, Paint(textpage)):
            hidden = hidden_characters(page, textpage, frame, characters)
            characters = without(characters, hidden)
        return laid_out(characters, frame.size)
