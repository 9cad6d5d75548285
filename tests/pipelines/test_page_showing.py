"""Quotes on real pages: plain, turned, cropped, vertical, letter-spaced, scanned."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from pipelines.errors import EncryptedError, ReadError
from pipelines.layout import Box
from pipelines.page_showing import PageRequest, show_page
from pipelines.quote_places import MAX_QUOTE_CHARACTERS
from tests.support.drawn_pages import HEIGHT, SIZE, WIDTH, page
from tests.support.pdfs import make_pdf
from tests.support.vertical_pdfs import vertical_pdf

TEXT = "The dividend was paid in May."


def plain(x: float = 100, y: float = 700, **crop: object) -> bytes:
    return page(lambda canvas: canvas.drawString(x, y, TEXT), **crop)


def turned(data: bytes, angle: int) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.pages[0].rotate(angle)
    copy = io.BytesIO()
    writer.write(copy)
    return copy.getvalue()


def boxes(data: bytes, quote: str = TEXT, scale: float = 0.0) -> tuple[Box, ...]:
    (place,) = show_page(data, (), PageRequest(1, (quote,), scale), 10).places
    return place.boxes


def near(box: Box) -> tuple[object, ...]:
    return tuple(
        pytest.approx(side, abs=SIZE / 2) for side in (box.left, box.top, box.right, box.bottom)
    )


def sides(box: Box) -> tuple[float, ...]:
    return box.left, box.top, box.right, box.bottom


# The text is 146 points wide in Helvetica of 11 points; its base line is 700 from below.
UPRIGHT = Box(100, HEIGHT - 700 - SIZE, 246, HEIGHT - 700)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (plain(), UPRIGHT),
        (plain(crop=(50, 50, 545, 792)), Box(50, UPRIGHT.top - 50, 196, UPRIGHT.bottom - 50)),
        (turned(plain(), 90), Box(700, 100, 700 + SIZE, 246)),
        (turned(plain(), 180), Box(WIDTH - 246, 700, WIDTH - 100, 700 + SIZE)),
        (turned(plain(), 270), Box(UPRIGHT.top, WIDTH - 246, UPRIGHT.bottom, WIDTH - 100)),
    ],
    ids=["plain", "cropped", "turned right", "upside down", "turned left"],
)
def test_the_rectangle_of_a_quote_is_where_it_is_seen(data: bytes, expected: Box) -> None:
    (found,) = boxes(data)
    assert sides(found) == near(expected)


def test_text_that_runs_up_the_page_has_a_rectangle_that_is_high() -> None:
    def draw(canvas: object) -> None:
        canvas.rotate(90)
        canvas.drawString(100, -300, TEXT)

    (found,) = boxes(page(draw))
    assert sides(found) == near(Box(300 - SIZE, HEIGHT - 246, 300, HEIGHT - 100))


def test_letter_spaced_words_are_found_as_they_are_written_together() -> None:
    data = page(
        lambda canvas: canvas.drawString(100, 700, "A N N U A L   R E P O R T", charSpace=4)
    )
    (found,) = boxes(data, "ANNUAL REPORT")
    assert found.left == pytest.approx(100, abs=2)
    assert found.bottom - found.top < 2 * SIZE


def test_vertical_text_in_a_font_that_is_missing_is_found() -> None:
    found = boxes(vertical_pdf(["あきになるとやまの", "きがあかくなる"]), "やまのきがあかくなる")
    assert len(found) == 2
    assert all(box.bottom - box.top > box.right - box.left for box in found)
    assert found[0].left > found[1].left


def test_the_picture_shows_the_page_with_the_quote_marked() -> None:
    request = PageRequest(1, (TEXT,), 2.0)
    shown = show_page(plain(), (), request, 10)
    pixels = shown.pixels
    assert pixels is not None
    assert (pixels.width, pixels.height) == (2 * WIDTH, 2 * HEIGHT)
    (place,) = shown.places
    (box,) = place.boxes

    def colour(x: float, y: float) -> bytes:
        at = 3 * (round(2 * y) * pixels.width + round(2 * x))
        return pixels.data[at : at + 3]

    assert colour(10, 10) == b"\xff\xff\xff"
    red, green, blue = colour(box.right - 1, box.top + 1)
    assert (red, green) == (255, 255)
    assert blue < 128
    assert colour(box.left, box.top) != b"\xff\xff\xff"


def test_a_picture_has_a_bounded_number_of_pixels() -> None:
    shown = show_page(plain(), (), PageRequest(1, (TEXT,), 20.0), 10)
    assert shown.pixels is not None
    assert shown.pixels.width * shown.pixels.height <= 8_100_000
    assert len(shown.pixels.data) == 3 * shown.pixels.width * shown.pixels.height


def test_a_quote_of_a_form_or_of_another_page_has_no_rectangle() -> None:
    assert boxes(plain(), "Nothing of the kind stands here.") == ()
    assert boxes(plain(), "") == ()
    assert boxes(plain(), "x" * (2 * MAX_QUOTE_CHARACTERS)) == ()


@pytest.mark.parametrize("number", [0, 2, 10**9])
def test_a_page_that_the_file_does_not_have_is_an_error_that_says_how_many_it_has(number) -> None:
    with pytest.raises(ReadError, match="has 1 pages"):
        show_page(plain(), (), PageRequest(number, (TEXT,)), 10)


def test_a_file_that_does_not_open_is_an_error() -> None:
    with pytest.raises(ReadError):
        show_page(b"no PDF", (), PageRequest(1, ()), 10)


def test_an_encrypted_file_opens_with_its_password_alone(tmp_path: Path) -> None:
    data = make_pdf(tmp_path / "a.pdf", [TEXT], password="secret").read_bytes()
    with pytest.raises(EncryptedError):
        show_page(data, ("wrong",), PageRequest(1, (TEXT,)), 10)
    (place,) = show_page(data, ("wrong", "secret"), PageRequest(1, (TEXT,)), 10).places
    assert place.boxes
