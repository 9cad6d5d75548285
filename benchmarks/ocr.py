"""Text recognition on scans made of pages whose text is known: words right, and seconds a page.

Pages of the samples and of 20 reports are drawn as a scanner would see them: faded, with
noise, leaning, on their side, lit unevenly, each by its seed. What OCR reads is compared with
the text layer of the page: recall and precision of its words (of Japanese, characters), each
counted as often as it occurs. The time is that of the processor.

Run ``RAG_EVAL_DATA=… python -m benchmarks.ocr``; writes ``benchmarks/results/ocr.json``.
Without the variable only the samples are read.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2

from pipelines.ocr import find_ocr
from pipelines.pictures import Picture, draw
from pipelines.recognition import Recogniser, readable, recognised
from pipelines.scanned import tesseract

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "benchmarks" / "results" / "ocr.json"
SAMPLES = {
    "English": (
        "marrowby-ferries-annual-report-2025.pdf",
        "larkfield-reservoir-review.pdf",
        "AX-450B_service_manual_rev7.pdf",
    ),
    "Japanese": ("shiomi-touki-shugyo-kisoku.pdf",),
}
PAGES_PER_SAMPLE, REPORTS = 3, 20
MIN_CHARACTERS = 600  # letters and digits of a page that is chosen
SCAN_DPI = 200
# As of a file whose page before was read in its language.
_WEIGHTS = {"English": "eng", "Japanese": "jpn"}
_TOKEN = {"English": re.compile(r"\w+"), "Japanese": re.compile(r"\w")}


@dataclass(frozen=True)
class Flaw:
    """What is wrong with a scan.

    Attributes:
        noise: standard deviation, of 256 levels of grey.
        angle: by which it is turned clockwise, in degrees.
        shadow: how much darker its right side is, in levels of grey.
    """

    noise: float = 0.0
    angle: float = 0.0
    shadow: float = 0.0


FLAWS = {
    "clean": Flaw(),
    "noise 15": Flaw(noise=15),
    "noise 30": Flaw(noise=30),
    "leans 3": Flaw(noise=15, angle=3),
    "leans 10": Flaw(noise=15, angle=-10),
    "on its side": Flaw(noise=15, angle=90),
    "upside down": Flaw(noise=15, angle=180),
    "shadow": Flaw(noise=15, shadow=80),
}


class Scan:
    """A picture in place of a page: what is drawn of it is a picture of that picture."""

    def __init__(self, page: Any, flaw: Flaw, seed: int) -> None:
        self._pdf = pypdfium2.PdfDocument.new()
        picture = scanned(page, flaw, seed)
        wide, high = (72 * size / picture.dpi for size in (picture.width, picture.height))
        self.page = self._pdf.new_page(wide, high)
        image = pypdfium2.PdfImage.new(self._pdf)
        grey = np.frombuffer(picture.data, np.uint8).reshape(picture.height, picture.width)
        bitmap = pypdfium2.PdfBitmap.new_native(picture.width, picture.height, 1)
        rows = np.frombuffer(bitmap.buffer, np.uint8).reshape(picture.height, bitmap.stride)
        rows[:, : picture.width] = grey
        image.set_bitmap(bitmap)
        image.set_matrix(pypdfium2.PdfMatrix().scale(wide, high))
        self.page.insert_obj(image)
        self.page.gen_content()

    def close(self) -> None:
        """Free it."""
        self.page.close()
        self._pdf.close()


def scanned(page: Any, flaw: Flaw, seed: int) -> Picture:
    """Return a page as a scanner would see it."""
    picture = draw(page, SCAN_DPI, flaw.angle)
    if picture is None:
        raise ValueError("the page cannot be drawn")
    rows = np.frombuffer(picture.data, np.uint8).reshape(picture.height, picture.stride)
    grey = 0.8 * rows[:, : picture.width] + 20
    grey -= np.linspace(0, flaw.shadow, picture.width)
    grey += np.random.default_rng(seed).normal(0, flaw.noise, grey.shape)
    data = np.clip(grey, 0, 255).astype(np.uint8).tobytes()
    return replace(picture, data=data, stride=picture.width)


def counted(text: str, language: str) -> Counter[str]:
    """Return the words of a text, or its characters, as often as each occurs."""
    plain = unicodedata.normalize("NFKC", text.replace("\ufffe", ""))
    return Counter(_TOKEN[language].findall(plain))


def text_of(page: Any) -> str:
    """Return the text layer of a page."""
    layer = page.get_textpage()
    try:
        return str(layer.get_text_range(errors="replace"))
    finally:
        layer.close()


def chosen(path: Path, most: int) -> Iterator[tuple[int, Any]]:
    """Yield pages with much text, from the middle of a file on."""
    pdf = pypdfium2.PdfDocument(path)
    indices = list(range(len(pdf) // 2, len(pdf))) + list(range(len(pdf) // 2))
    found = 0
    for index in indices:
        page = pdf[index]
        if readable(text_of(page)) >= MIN_CHARACTERS:
            found += 1
            yield index, page
        page.close()
        if found == most:
            break
    pdf.close()


def read(
    page: Any, flaw: Flaw, seed: int, engine: Recogniser, language: str, first: str = ""
) -> dict[str, Any]:
    """Return how well a scan of a page is read."""
    want, scan = counted(text_of(page), language), Scan(page, flaw, seed)
    began = time.process_time()
    found = recognised(scan.page, engine, 60.0, first)
    seconds = time.process_time() - began
    scan.close()
    got = counted(found.text if found else "", language)
    right = sum((want & got).values())
    return {
        "recall": right / sum(want.values()),
        "precision": right / max(1, sum(got.values())),
        "confidence": found.confidence if found else 0.0,
        "seconds": seconds,
    }


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the means of a group of pages, and its worst page."""
    names = ("recall", "precision", "confidence", "seconds")
    means = {name: round(statistics.fmean(row[name] for row in rows), 4) for name in names}
    return {"pages": len(rows), **means, "worst recall": round(min(r["recall"] for r in rows), 4)}


def main() -> None:
    """Read all scans and print a line for each group."""
    ocr = find_ocr("on")
    if ocr is None:
        raise SystemExit("OCR is off")
    engine, groups = tesseract(ocr), dict[str, dict[str, float]]()
    for language, names in SAMPLES.items():
        for title, flaw in FLAWS.items():
            rows = [
                read(page, flaw, index, engine, language, _WEIGHTS[language])
                for name in names
                for index, page in chosen(ROOT / "data" / name, PAGES_PER_SAMPLE)
            ]
            groups[f"{language}, {title}"] = summary(rows)
            print(f"{language}, {title}: {groups[f'{language}, {title}']}", flush=True)
    pages: list[dict[str, Any]] = []
    if folder := os.environ.get("RAG_EVAL_DATA"):
        reports = sorted(Path(folder, "financebench", "pdfs").glob("*.pdf"))
        for seed, path in enumerate(reports[:REPORTS]):
            for index, page in chosen(path, 1):
                row = read(page, Flaw(noise=15, angle=1.5), seed, engine, "English")
                pages.append({"file": path.name, "page": index + 1, **row})
        groups["reports, noise 15, leans 1.5"] = summary(pages)
        print(f"reports: {groups['reports, noise 15, leans 1.5']}")
    result = {"engine": ocr.fingerprint(), "groups": groups, "reports": pages}
    RESULT.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
