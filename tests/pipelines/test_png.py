"""PNG files that another program reads."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pipelines.png import png_of


def test_a_picture_is_read_back_pixel_by_pixel() -> None:
    pixels = bytes(range(2 * 3 * 3))
    with Image.open(io.BytesIO(png_of(2, 3, pixels))) as image:
        assert (image.size, image.mode, image.tobytes()) == ((2, 3), "RGB", pixels)


@pytest.mark.parametrize(("width", "height", "length"), [(2, 2, 11), (0, 2, 0), (2, 0, 0)])
def test_pixels_that_are_no_picture_of_the_size_are_refused(width, height, length) -> None:
    with pytest.raises(ValueError, match="no picture"):
        png_of(width, height, bytes(length))
