"""Pages drawn as pictures: their size is bounded, and rectangles find their way back."""

import pypdfium2
import pytest

from pipelines.layout import Box
from pipelines.pictures import (
    MAX_IMAGE_PIXELS,
    MAX_PIXELS,
    MAX_SIDE_PIXELS,
    Picture,
    draw,
    draw_part,
    image_pixels,
    is_scan,
)
from tests.support.hostile_pdfs import one_page, page, pdf
from tests.support.pdfs import make_pdf
from tests.support.scans import grey_of, pdf_of_pictures, picture_of, scan_of


@pytest.fixture
def text(tmp_path):
    return make_pdf(tmp_path / "text.pdf", ["The valve opens at 4.2 bar."])


def opened(data):
    return pypdfium2.PdfDocument(data)[0]


def sized(box):
    return opened(pdf(one_page() | {4: page(box=box)}))


def dark(picture):
    """Return the box around the dark pixels of a picture."""
    rows, columns = (grey_of(picture) < 128).nonzero()
    return Box(*map(float, (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)))


def test_a_page_is_drawn_at_its_size_and_resolution(text):
    picture = draw(opened(text), 100)
    assert (picture.width, picture.height) == (827, 1169)
    assert len(picture.data) == picture.stride * picture.height
    assert picture.dpi == pytest.approx(100)


@pytest.mark.parametrize("angle", [0, 90, 180, 270, 7, -12.5])
def test_a_rectangle_of_a_turned_picture_is_where_it_stands_on_the_page(text, angle):
    upright, turned = draw(opened(text), 144), draw(opened(text), 144, angle)
    want, found = upright.on_page(dark(upright)), turned.on_page(dark(turned))
    # A box around a slanted line is larger; it holds the line, and its middle stays.
    middle = [(box.left + box.right, box.top + box.bottom) for box in (want, found)]
    assert middle[1] == pytest.approx(middle[0], abs=4)
    assert found.left <= want.left + 1
    assert found.bottom >= want.bottom - 1


def test_a_turned_page_lies_on_the_ground_that_is_given(text):
    corner = draw(opened(text), 72, 10, 200).data[0]
    assert corner == 200
    assert draw(opened(text), 72, 10).data[0] == 255


def test_a_picture_of_a_page_that_is_shown_turned_is_turned(text):
    shown = opened(text)
    shown.set_rotation(90)
    picture = draw(shown, 72)
    assert (picture.width, picture.height) == (842, 595)


@pytest.mark.parametrize(
    "box", [b"[0 0 14400 14400]", b"[0 0 1000000 1000000]", b"[0 0 1000000 300]"]
)
def test_a_huge_page_is_drawn_with_fewer_pixels(box):
    picture = draw(sized(box), 200)
    assert picture is None or picture.width * picture.height <= 1.01 * MAX_PIXELS
    assert picture is None or max(picture.width, picture.height) <= MAX_SIDE_PIXELS


@pytest.mark.parametrize("box", [b"[0 0 1 1]", b"[5 5 5 5]", b"[0 0 1000000 1]"])
def test_a_page_too_small_for_text_is_not_drawn(box):
    shown = sized(box)
    assert draw(shown, 72) is None or min(shown.get_size()) > 1


def test_a_page_whose_images_unfold_into_too_many_pixels_is_not_drawn():
    small = Picture(b"\xff" * 400, 20, 20, 20, 72, 0.0, (20, 20))
    assert draw(opened(pdf_of_pictures([small])), 200) is not None
    bomb = opened(pdf_of_pictures([small], extra=b"/Width 100000/Height 100000"))
    assert image_pixels(bomb) > MAX_IMAGE_PIXELS
    assert draw(bomb, 200) is None


def test_a_scan_is_a_page_that_a_picture_covers_with_little_text(text):
    stamped = opened(scan_of(text, stamp="RECEIVED 3 MAY 2024"))
    assert is_scan(stamped, "RECEIVED 3 MAY 2024")
    assert not is_scan(stamped, "The whole text of the page. " * 20)
    assert not is_scan(opened(text), "The valve opens at 4.2 bar.")


def test_a_logo_makes_no_scan(text):
    logo = picture_of(text)
    data = pdf_of_pictures([logo], stamp="A short page")
    placed = b"q %.2f 0 0 %.2f 0 0 cm" % (72 * logo.width / 150, 72 * logo.height / 150)
    assert placed  # the picture fills the page; drawn over a larger page it is a logo
    shown = opened(data)
    shown.set_mediabox(0, 0, 2000, 2000)
    assert not is_scan(shown, "A short page")


def test_a_part_of_a_page_is_what_the_whole_shows_there(text):
    shown = dark(draw(opened(text), 72))
    around = Box(shown.left - 20, shown.top - 30, shown.right + 40, shown.bottom + 50)
    part = draw_part(opened(text), around, 72)
    wide, high = shown.right - shown.left, shown.bottom - shown.top
    assert (part.width, part.height) == (wide + 60, high + 80)
    assert dark(part) == Box(20, 30, 20 + wide, 30 + high)


def test_a_part_of_a_page_has_a_bounded_size_and_a_thin_one_has_a_pixel(text):
    thin = draw_part(opened(text), Box(10, 10, 10.1, 10.1), 72)
    assert (thin.width, thin.height) == (1, 1)
    huge = draw_part(opened(text), Box(0, 0, 1e7, 1e7), 200)
    assert huge.width * huge.height <= 1.01 * MAX_PIXELS
