"""The real engine: lines of a noisy scan, and which way up it lies."""

import sys
from pathlib import Path

import pytest

from pipelines.errors import ConfigError
from pipelines.ocr import Ocr, find_ocr
from pipelines.recognition import has_wide
from pipelines.scans import smoothed
from pipelines.tesseract import Tesseract
from tests.support.pdfs import make_pdf
from tests.support.scans import picture_of

RULES = Path(__file__).parents[2] / "data" / "shiomi-touki-shugyo-kisoku.pdf"
TEXT = ["The valve opens at 4.2 bar.", "Net sales grew by 17 per cent."]


@pytest.fixture(scope="module")
def engine():
    return Tesseract(find_ocr("eng+jpn"))


@pytest.fixture
def page(tmp_path):
    return make_pdf(tmp_path / "page.pdf", ["\n".join(TEXT)])


def test_a_noisy_scan_is_read_line_by_line(engine, page):
    words = engine.words(smoothed(picture_of(page, noise=25)), "eng", 60)
    lines = [" ".join(w.text for w in words if w.line == n) for n in (0, 1)]
    assert lines == TEXT
    assert min(word.confidence for word in words) > 0.5
    assert all(word.boxes == () for word in words)


def test_japanese_words_have_a_rectangle_for_each_character(engine):
    words = engine.words(smoothed(picture_of(RULES, 3)), "jpn", 60)
    text = "".join(word.text for word in words)
    assert "労働時間" in text
    wide = [word for word in words if has_wide(word.text)]
    assert sum(len(word.boxes) == len(word.text) for word in wide) > 0.9 * len(wide)


def test_what_takes_too_long_has_no_words(engine, page):
    assert engine.words(picture_of(page), "eng", 0.0) == []


def test_a_picture_of_nothing_is_not_said_to_be_turned(engine, tmp_path):
    assert engine.turned(picture_of(make_pdf(tmp_path / "x.pdf", [""]))) == 0


def test_a_picture_upside_down_is_said_to_be(engine, tmp_path):
    lines = ["Each ferry is inspected before the season, and its safety certificate renewed."] * 12
    page = make_pdf(tmp_path / "x.pdf", ["\n".join(lines)])
    assert engine.turned(picture_of(page, angle=180)) == 180


@pytest.mark.parametrize("weights", [None, b"", bytes(1000)])
def test_weights_that_cannot_be_loaded_are_an_error_that_says_where(tmp_path, page, weights):
    if weights is not None:
        (tmp_path / "eng.traineddata").write_bytes(weights)
    with pytest.raises(ConfigError, match=f"weights eng from {tmp_path}") as raised:
        Tesseract(Ocr(("eng",), str(tmp_path))).words(picture_of(page), "eng", 60)
    assert "--no-ocr" in raised.value.hint


def test_an_engine_that_does_not_load_is_an_error_that_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "tesserocr", None)
    with pytest.raises(ConfigError, match=r"does not load: .*tesserocr") as caught:
        Tesseract(Ocr(("eng",), "/none"))
    assert "--force-reinstall; or without OCR: --no-ocr" in caught.value.hint
