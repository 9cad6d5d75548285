"""Text that nobody sees, on real pages: it is left out, and what is seen stays."""

from __future__ import annotations

import pypdfium2
import pytest

from pipelines.errors import NoTextError
from pipelines.pdfium_reader import read_with_pypdfium2
from pipelines.readers import Limits
from pipelines.reading import read_data
from tests.support.drawn_pages import INVISIBLE, page, picture, unpainted

SEEN, HIDDEN = "The fee is 50 dollars.", "The fee is 40 dollars."


def read(draw, **options):
    (only,) = read_with_pypdfium2(page(draw, **options), None, Limits()).pages
    return only


def white(canvas, x, y):
    canvas.setFillGray(1)
    canvas.drawString(x, y, HIDDEN)
    canvas.setFillGray(0)


def tiny(canvas):
    canvas.setFont("Helvetica", 0.5)
    canvas.drawString(72, 600, HIDDEN)
    canvas.setFont("Helvetica", 11)


@pytest.mark.parametrize(
    "hide",
    [
        lambda c: white(c, 72, 650),
        lambda c: unpainted(c, 72, 650, HIDDEN),
        lambda c: c.drawString(-3000, 700, HIDDEN),
        lambda c: c.drawString(72, 900, HIDDEN),
    ],
    ids=["white on white", "unpainted", "left of the page", "above the page"],
)
def test_text_that_nobody_sees_is_left_out(hide):
    def draw(canvas):
        hide(canvas)
        canvas.drawString(72, 700, SEEN)

    assert read(draw).text == SEEN


def test_text_outside_the_crop_box_is_left_out():
    def draw(canvas):
        canvas.drawString(72, 700, SEEN)
        canvas.drawString(72, 100, HIDDEN)

    assert read(draw, crop=(50, 300, 500, 800)).text == SEEN


def test_type_of_less_than_a_point_is_left_out_of_a_page_that_hides_text():
    def draw(canvas):
        white(canvas, 72, 650)
        tiny(canvas)
        canvas.drawString(72, 700, SEEN)

    assert read(draw).text == SEEN


def test_recognised_text_behind_the_picture_of_a_scan_stays():
    def draw(canvas):
        picture(canvas, 0, 0, 595, 842)
        unpainted(canvas, 72, 700, SEEN)

    assert read(draw).text == SEEN


def test_white_text_on_a_dark_ground_stays():
    def draw(canvas):
        canvas.rect(60, 640, 300, 30, fill=1)
        canvas.setFillGray(1)
        canvas.drawString(72, 650, "Year ended 31 March")
        canvas.setFillGray(0)
        canvas.drawString(72, 600, SEEN)

    assert read(draw).text == f"Year ended 31 March\n{SEEN}"


def test_a_page_whose_whole_text_is_hidden_says_so():
    found = read(lambda c: unpainted(c, 72, 700, HIDDEN))
    assert (found.text, found.state) == ("", "hidden")


def test_a_text_render_mode_holds_until_another_is_set():
    """Also beyond the end of a text object: nothing of such a page is painted."""

    def draw(canvas):
        for line, mode in ((HIDDEN, INVISIBLE), (SEEN, None)):
            drawn = canvas.beginText(72, 700)
            if mode is not None:
                drawn.setTextRenderMode(mode)
            drawn.textOut(line)
            canvas.drawText(drawn)

    data = page(draw)
    document = pypdfium2.PdfDocument(data)
    assert set(document[0].render(grayscale=True).to_pil().tobytes()) == {255}
    document.close()
    assert read(draw).state == "hidden"


def test_a_file_whose_whole_text_is_hidden_is_not_sent_to_ocr():
    with pytest.raises(NoTextError, match="its text is not visible") as caught:
        read_data(page(lambda c: unpainted(c, 72, 700, HIDDEN)), "pypdfium2", (), Limits())
    assert "save it so that it shows" in caught.value.hint


def test_a_picture_with_text_outside_the_page_only_is_an_image():
    def draw(canvas):
        picture(canvas, 0, 0, 595, 842)
        canvas.drawString(72, 900, HIDDEN)

    found = read(draw)
    assert (found.text, found.state) == ("", "image")
    # What this reader leaves out another does not bring back.
    with pytest.raises(NoTextError, match="1 image only"):
        read_data(page(draw), "pypdfium2", (), Limits())


def test_a_huge_page_is_drawn_small():
    def draw(canvas):
        canvas.setPageSize((14_000, 14_000))
        white(canvas, 72, 650)
        canvas.setFont("Helvetica", 11)
        canvas.drawString(72, 700, SEEN)

    assert read(draw).text == SEEN


@pytest.mark.parametrize("place", ["begins", "ends"])
@pytest.mark.parametrize("how", ["white", "unpainted"])
def test_a_part_of_a_line_that_nobody_sees_is_left_out(place, how):
    words = {"begins": "HIDDEN seen seen", "ends": "seen seen HIDDEN"}

    def draw(canvas):
        for number, word in enumerate(words[place].split()):
            if word == "seen":
                canvas.drawString(72 + 60 * number, 700, word)
            elif how == "unpainted":
                unpainted(canvas, 72 + 60 * number, 700, word)
            else:
                canvas.setFillGray(1)
                canvas.drawString(72 + 60 * number, 700, word)
                canvas.setFillGray(0)

    assert read(draw).text.split() == ["seen", "seen"]


def test_white_heads_on_a_dark_ground_cost_no_look_at_each_character(monkeypatch):
    def look(*_):
        raise AssertionError("each character was looked at")

    def draw(canvas):
        canvas.rect(60, 640, 300, 30, fill=1)
        canvas.setFillGray(1)
        canvas.drawString(72, 650, "Year ended 31 March")

    monkeypatch.setattr("pipelines.pdfium_arranging.hidden_characters", look)
    assert read(draw).text == "Year ended 31 March"
