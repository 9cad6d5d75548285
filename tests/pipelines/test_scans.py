"""Skew of scans is found, and noise smoothed away."""

import numpy as np
import pytest

from pipelines.pictures import Picture
from pipelines.scans import paper_of, skew_of, smoothed
from tests.support.pdfs import make_pdf
from tests.support.scans import grey_of, picture_of, varied_lines

LINES = "\n".join(varied_lines(24))


@pytest.fixture
def page(tmp_path):
    return make_pdf(tmp_path / "page.pdf", [LINES])


@pytest.mark.parametrize("angle", [-10, -3.5, 0, 0.8, 10])
def test_the_lean_of_lines_is_found_to_a_fifth_of_a_degree(page, angle):
    found = skew_of(picture_of(page, angle=angle, noise=20))
    assert found.degrees == pytest.approx(angle, abs=0.2)
    assert not found.sideways


@pytest.mark.parametrize(("angle", "degrees"), [(90, 0), (270, 0), (95, 5), (-94, -4)])
def test_lines_that_run_down_the_page_are_found(page, angle, degrees):
    found = skew_of(picture_of(page, angle=angle))
    assert found.sideways
    assert found.degrees == pytest.approx(degrees, abs=0.2)


def test_a_picture_of_one_colour_leans_nowhere():
    assert skew_of(Picture(b"\xff" * 2500, 50, 50, 50, 72, 0.0, (50, 50))) == (0.0, False)


def test_noise_is_less_once_it_is_smoothed_and_lines_stay(page):
    clean, noisy = picture_of(page), picture_of(page, noise=30)
    before = np.abs(grey_of(noisy).astype(int) - grey_of(clean)).mean()
    after = np.abs(grey_of(smoothed(noisy)).astype(int) - grey_of(smoothed(clean))).mean()
    assert after < 0.6 * before
    assert (smoothed(noisy).width, smoothed(noisy).height) == (noisy.width, noisy.height)


def test_rows_longer_than_the_picture_are_cut_before_smoothing():
    padded = Picture((b"\x64\x64\x64\xff") * 3, 3, 3, 4, 72, 0.0, (3, 3))
    assert smoothed(padded).data == b"\x64" * 9


def test_the_paper_of_a_faded_scan_is_grey(page):
    assert paper_of(picture_of(page, noise=15)) == pytest.approx(0.8 * 255 + 20, abs=3)
