"""The text of a page as a person reads it, where PDFium's order of characters is another.

Nearly all pages stay as PDFium returns them. To look at each character costs more than to
read the page, so that cheap signs decide which pages are looked at.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from pipelines.letter_spacing import has_spaced_letters, with_joined_letters
from pipelines.page_text import laid_out, without
from pipelines.pdfium_glyphs import Frame, Paint, frame_of, placed_characters
from pipelines.pdfium_visibility import ends_of_lines, hidden_characters, may_hide_text
from pipelines.reading_order import MIN_SHARED_LINES, in_columns, most_shared

# Of the long lines of a page: those that run across have two columns in them.
_FIRST_LINES, _MIN_OF_FIRST = 3, 1
_MORE_LINES, _MIN_OF_MORE = 12, MIN_SHARED_LINES
_MIN_LONG_SHARE = 0.6  # of a line that a quarter of the lines exceed
_MIN_LINE_CHARACTERS = 20
_MIN_GUTTER = 0.9  # of the height of the tallest rectangle on a line
_MIN_SIDE = 0.2  # of the width of a line, on each side of a gutter
_MAX_RECTANGLES = 60
_MIN_LETTERS_SHARE = 0.7  # of the characters of a line, blanks among them, that is no row


def arranged(page: Any, textpage: Any, text: str) -> str:
    """Return the text of a page as a person reads it; most often the text that was given.

    Args:
        page: of PDFium.
        textpage: of it.
        text: of it as PDFium gives it.
    """
    frame, paint, lines = frame_of(page), Paint(textpage), ends_of_lines(text)
    hides = may_hide_text(page, textpage, frame, text, paint, lines)
    runs_across = _may_run_across(textpage, frame, text, lines, paint)
    if not (hides or runs_across or has_spaced_letters(text)):
        return text
    characters = placed_characters(textpage, frame, text)
    if hides:
        characters = without(characters, hidden_characters(page, textpage, frame, characters))
    return with_joined_letters(*in_columns(*laid_out(characters, frame.size)))[0]


def _may_run_across(
    textpage: Any, frame: Frame, text: str, lines: Sequence[tuple[int, int]], paint: Paint
) -> bool:
    """Tell whether lines of a page may run across two columns, from some of its long lines.

    These have wide gaps at one place, and the lines of most pages have none.
    """
    long = _long(lines)
    if len(long) < _MIN_OF_MORE:
        return False
    for count, least in ((_FIRST_LINES, _MIN_OF_FIRST), (_MORE_LINES, _MIN_OF_MORE)):
        gaps = (
            gap
            for first, last in long[:: max(1, len(long) // count)]
            if not (paint.is_one_object(first, last) or _is_row(text[first : last + 1]))
            for gap in _wide_gaps(textpage, frame, first, last + 1 - first)
        )
        if most_shared(gaps)[0] < least:
            return False
    return True


def _long(lines: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the long ones of some lines, given as the places of their ends."""
    if len(lines) < _MIN_OF_MORE:
        return []
    usual = sorted(last - first for first, last in lines)[3 * len(lines) // 4]
    least = max(_MIN_LINE_CHARACTERS, _MIN_LONG_SHARE * usual)
    return [(first, last) for first, last in lines if last - first >= least]


def _is_row(line: str) -> bool:
    return sum(map(str.isalpha, line)) < _MIN_LETTERS_SHARE * len(line)


def _wide_gaps(
    textpage: Any, frame: Frame, start: int, count: int
) -> Iterator[tuple[float, float]]:
    """Yield the gaps in some characters of a line that are as wide as one between columns.

    PDFium joins neighbours to a rectangle that were drawn together, which columns are not.
    """
    runs = _runs(textpage, frame, start, count)
    if not runs:
        return
    tallest = max(height for _, _, height in runs)
    first, last = runs[0][0], runs[-1][1]
    least = _MIN_SIDE * (last - first)
    for (_, right, _), (left, _, _) in pairwise(runs):
        if left - right >= _MIN_GUTTER * tallest and right - first > least < last - left:
            yield right, left


def _runs(textpage: Any, frame: Frame, start: int, count: int) -> list[tuple[float, float, float]]:
    """Return left and right edge and height of the runs of some characters, as they are shown.

    Nothing where each glyph is drawn for itself.
    """
    import pypdfium2.raw as pdfium

    raw = textpage.raw
    found = pdfium.FPDFText_CountRects(raw, start, count)
    if not 1 < found <= _MAX_RECTANGLES:
        return []
    edges = [ctypes.c_double() for _ in range(4)]
    parts = [ctypes.byref(edge) for edge in edges]
    left, top, right, bottom = edges
    runs: list[tuple[float, float, float]] = []
    for index in range(found):
        pdfium.FPDFText_GetRect(raw, index, *parts)
        if frame.quarters:
            box = frame.shown(left.value, bottom.value, right.value, top.value)
            runs.append((box.left, box.right, box.bottom - box.top))
        else:
            runs.append((left.value, right.value, top.value - bottom.value))
    return runs
