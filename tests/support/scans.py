"""Scans for tests: pages of text drawn by PDFium, with noise and turned, as pictures in a PDF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pypdfium2

from pipelines.layout import Box
from pipelines.pictures import Picture, draw
from pipelines.recognition import SeenWord
from tests.support.hostile_pdfs import pdf, stream

DPI = 150
_CONTRAST, _DARKEST = 0.8, 20  # of a scan: neither black nor white
_MARK = b"BT /F1 9 Tf 40 20 Td (%b) Tj ET"


def scan_of(
    path: Path,
    page: int = 0,
    *,
    noise: float = 0.0,
    angle: float = 0.0,
    stamp: str = "",
    seed: int = 1,
) -> bytes:
    """Return a PDF of one page, a picture of a page of another PDF.

    Args:
        path: the other PDF.
        page: index of its page.
        noise: standard deviation in levels of grey, of 256.
        angle: by which the picture is turned clockwise, in degrees.
        stamp: text that is drawn over the picture.
        seed: of the noise.
    """
    return pdf_of_pictures([picture_of(path, page, noise=noise, angle=angle, seed=seed)], stamp)


def picture_of(
    path: Path, page: int = 0, *, noise: float = 0.0, angle: float = 0.0, seed: int = 1
) -> Picture:
    """Return a page as a scanner would see it."""
    document = pypdfium2.PdfDocument(path)
    try:
        picture = draw(document[page], DPI, angle)
    finally:
        document.close()
    assert picture is not None
    grey = grey_of(picture).astype(np.float64) * _CONTRAST + _DARKEST
    grey += np.random.default_rng(seed).normal(0.0, noise, grey.shape)
    data = np.clip(grey, 0, 255).astype(np.uint8).tobytes()
    return Picture(data, picture.width, picture.height, picture.width, DPI, angle, picture.page)


def grey_of(picture: Picture) -> npt.NDArray[np.uint8]:
    """Return the pixels of a picture, row by row."""
    rows = np.frombuffer(picture.data, np.uint8).reshape(picture.height, picture.stride)
    return rows[:, : picture.width]


def pdf_of_pictures(pictures: Sequence[Picture], stamp: str = "", extra: bytes = b"") -> bytes:
    """Return a PDF that shows a picture on each page, with the same stamp on all.

    Args:
        pictures: of each page.
        stamp: text in its lower left corner.
        extra: keys of each picture's dictionary, which come last.
    """
    kids = b" ".join(b"%d 0 R" % (10 + 3 * at) for at in range(len(pictures)))
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, len(pictures)),
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    }
    for at, one in enumerate(pictures):
        wide, high = (72 * size / one.dpi for size in (one.width, one.height))
        number = 10 + 3 * at
        objects[number] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %.2f %.2f]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R>>/XObject<</I %d 0 R>>>>>>"
            % (wide, high, number + 1, number + 2)
        )
        shown = b"q %.2f 0 0 %.2f 0 0 cm /I Do Q " % (wide, high)
        mark = _MARK % stamp.encode("ascii") if stamp else b""
        objects[number + 1] = stream(shown + mark)
        objects[number + 2] = stream(
            grey_of(one).tobytes(),
            b"/Type/XObject/Subtype/Image/ColorSpace/DeviceGray/BitsPerComponent 8"
            b"/Width %d/Height %d%b" % (one.width, one.height, extra),
        )
    return pdf(objects)


def varied_lines(count: int) -> list[str]:
    """Return lines whose letters do not stand below each other, as those of equal lines do."""
    line = "the reservoir was built in 1901 and serves four small towns below it"
    words = line.split()
    return [" ".join([*words[at % 11 :], *words[: at % 7]]) for at in range(count)]


class FakeEngine:
    """Gives the same words for every picture of one language, and notes what it was shown.

    Args:
        texts: lines by language.
        confidence: of all words, by language.
        turned: what it says of how far a picture is turned.
    """

    def __init__(
        self,
        texts: dict[str, Sequence[str]],
        confidence: dict[str, float] | None = None,
        turned: int = 0,
    ) -> None:
        self.languages = tuple(texts)
        self.shown: list[tuple[str, Picture]] = []
        self.seconds: list[float] = []
        self._texts, self._confidence = texts, confidence or {}
        self._turned = turned

    def words(self, picture: Picture, language: str, seconds: float) -> list[SeenWord]:
        self.shown.append((language, picture))
        self.seconds.append(seconds)
        sure = self._confidence.get(language, 0.9)
        if self._turned and picture.angle % 360 != -self._turned % 360:
            sure = 0.3
        return [
            SeenWord(
                word, Box(60.0 * at, 20.0 * line, 60.0 * at + 50, 20.0 * line + 12), sure, line
            )
            for line, text in enumerate(self._texts[language])
            for at, word in enumerate(text.split())
        ]

    def turned(self, picture: Picture) -> int:
        return (self._turned + 90 * round(picture.angle / 90)) % 360
