"""Fixed samples of FinanceBench by a number of pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path


@cache
def page_count(file: Path) -> int:
    """Return how many pages a PDF has."""
    from pypdfium2 import PdfDocument

    with PdfDocument(file) as document:
        return len(document)


def sample(files: Sequence[Path], pages: int) -> list[Path]:
    """Return files with about ``pages`` pages in all: the largest that still fit, by name.

    The same files on every machine: the order is that of sizes and names alone.
    """
    chosen: list[Path] = []
    left = pages
    for file in sorted(files, key=lambda f: (-page_count(f), f.name)):
        # No file alone makes half of a sample, so that files and pages both count.
        if page_count(file) <= left and page_count(file) <= max(pages / 2, 12):
            chosen.append(file)
            left -= page_count(file)
    return sorted(chosen)


def pages_of(files: Sequence[Path]) -> int:
    """Return the pages of all files together."""
    return sum(page_count(file) for file in files)
