"""Places and paint of characters, on real pages."""

from __future__ import annotations

import pypdfium2
import pytest

from pipelines.cleaning import sanitise
from pipelines.pdfium_glyphs import Frame, Paint, frame_of, placed_characters
from tests.support.drawn_pages import LEFT, across, page, unpainted


@pytest.fixture
def opened():
    with pypdfium2.PdfDocument(
        page(lambda c: across(c, (LEFT,), step=0), crop=(50, 100, 450, 800))
    ) as pdf:
        yield pdf[0], pdf[0].get_textpage()


def test_characters_joined_are_the_text_and_stand_within_the_crop_box(opened):
    shown, textpage = opened
    text = textpage.get_text_range()
    frame = frame_of(shown)
    assert frame.size == (400, 700)
    characters = placed_characters(textpage, frame, text)
    assert "".join(one.text for one in characters) == sanitise(text)
    first = characters[0]
    assert first.box is not None
    # Drawn at 60, 700: 10 points from the left edge, the base line 100 below the upper one.
    assert first.box.left == pytest.approx(10, abs=1)
    assert first.box.top < 100 < first.box.bottom + 1
    assert not any(one.box for one in characters if one.text.isspace())


def test_only_the_ends_of_a_word_are_looked_up(opened):
    shown, textpage = opened
    text = textpage.get_text_range()
    found = placed_characters(textpage, frame_of(shown), text)
    assert [one.box is not None for one in found[:5]] == [True, False, True, False, True]


@pytest.mark.parametrize(
    ("quarters", "box"),
    [(0, (10, 60, 30, 90)), (1, (10, 10, 40, 30)), (2, (70, 10, 90, 40)), (3, (60, 70, 90, 90))],
)
def test_a_turned_page_is_measured_as_it_is_shown(quarters, box):
    frame = Frame(0, 0, 100, 100, quarters)
    shown = frame.shown(10, 10, 30, 40)
    assert (shown.left, shown.top, shown.right, shown.bottom) == box


def test_unpainted_and_white_characters_are_told_from_black_ones():
    def draw(canvas):
        canvas.drawString(72, 700, "a")
        unpainted(canvas, 72, 680, "b")
        canvas.setFillGray(1)
        canvas.drawString(72, 660, "c")
        canvas.setFillColorRGB(1, 0, 0)
        canvas.drawString(72, 640, "d")

    with pypdfium2.PdfDocument(page(draw)) as pdf:
        textpage = pdf[0].get_textpage()
        text = textpage.get_text_range()
        paint = Paint(textpage)
        found = {c: (paint.is_unpainted(i), paint.is_pale(i)) for i, c in enumerate(text)}
    assert [found[c] for c in "abcd"] == [
        (False, False), (True, False), (False, True), (False, False),
    ]  # fmt: skip
