"""Cells of statement pages with the right row, column and unit, beside camelot and pdfplumber.

``table_set/`` has facts of 40 pages of the FinanceBench reports, marked by hand: labels, heads,
amounts and units of some rows of each, chosen over the page; the amounts are those of the
companies' own filings. Its two halves share no report: rules were made on ``develop``.
``unseen`` was first read when they stood: .926 of its amounts were in their rows, .790 in
their columns as well, .765 with their unit (camelot: .625, .386, .361). What it showed was
then mended, so ``later`` has seven further pages that were marked after that.

A cell counts where a table of the page has its amount in a row whose label is the marked one,
in a column whose head has all the words of its head and none that tell another column apart,
and, for the unit, where the table says it. The peers return grids: their labels, heads and
units are read from these with good will (a head without text is the nearest one to its left;
a currency's column is joined with the next; the unit is sought in the whole grid).

Run ``RAG_EVAL_DATA=… python -m benchmarks.statement_pages``; a peer that is not installed is
left out with the reason. Writes ``benchmarks/results/statement_pages.json``.
"""

from __future__ import annotations

import json
import re
import time
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2

from benchmarks import datasets
from benchmarks.runs import RESULTS
from benchmarks.tables import markdown, with_interval
from pipelines.tables.amount_units import unit_in
from pipelines.tables.found import tables_of
from pipelines.tables.pdfium_words import placed_words
from rag_app.evaluation.bootstrap import interval

SET = Path(__file__).parent / "table_set"
FILE = RESULTS / "statement_pages.json"
HALVES = ("develop", "unseen", "later")
_AMOUNT = re.compile(r"\(?-?\d[\d,.]*\)?%?|[-—–]|NM|#%?")
_NOTE = re.compile(r"\((?:\w|\d{1,2})\)")


@dataclass(frozen=True)
class FoundCell:
    """An amount with what a system says of it."""

    label: str
    head: str
    others: tuple[str, ...]
    unit: str
    value: str


System = Callable[[Path, int], list[FoundCell]]


def ours(path: Path, page: int) -> list[FoundCell]:
    """Return the cells of our tables."""
    with closing(pypdfium2.PdfDocument(path)) as pdf, closing(pdf[page - 1]) as loaded:
        tables = tables_of(page, *placed_words(loaded))
    return [
        FoundCell(row.label, table.heads[cell.column], table.heads, table.unit, cell.text)
        for table in tables
        for row in table.rows
        for cell in row.cells
    ]


def camelot_network(path: Path, page: int) -> list[FoundCell]:
    """Return the cells of camelot's ``network``."""
    import camelot

    grids = camelot.read_pdf(str(path), pages=str(page), flavor="network", suppress_stdout=True)
    return [cell for grid in grids for cell in cells_of_grid(grid.df.values.tolist())]


def plumber_lines(path: Path, page: int) -> list[FoundCell]:
    """Return the cells of pdfplumber as it is by default: by ruled lines."""
    return _plumber(path, page, {})


def plumber_text(path: Path, page: int) -> list[FoundCell]:
    """Return the cells of pdfplumber by the places of words."""
    return _plumber(path, page, {"vertical_strategy": "text", "horizontal_strategy": "text"})


def _plumber(path: Path, page: int, how: dict[str, str]) -> list[FoundCell]:
    import pdfplumber

    with pdfplumber.open(path, pages=[page]) as pdf:
        grids = pdf.pages[0].extract_tables(how)
    return [cell for grid in grids for cell in cells_of_grid(grid)]


SYSTEMS: dict[str, System] = {
    "rag_app": ours,
    "camelot (network)": camelot_network,
    "pdfplumber (lines)": plumber_lines,
    "pdfplumber (text)": plumber_text,
}


def cells_of_grid(grid: Sequence[Sequence[str | None]]) -> list[FoundCell]:
    """Return the amounts of a grid of texts with their labels and heads, read with good will."""
    rows = [[" ".join((text or "").split()) for text in row] for row in grid]
    unit = unit_in(" ".join(text for row in rows for text in row))
    amounts = [[at for at, text in enumerate(row) if at and is_amount(text)] for row in rows]
    first = next(
        (n for n, row in enumerate(amounts) if any(not _year(rows[n][at]) for at in row)), 0
    )
    columns = sorted({at for row in amounts[first:] for at in row})
    heads = {at: _head(rows[:first], columns, number) for number, at in enumerate(columns)}
    return [
        FoundCell(
            _label(rows[number], found), heads[at], tuple(heads.values()), unit, rows[number][at]
        )
        for number, found in enumerate(amounts)
        if number >= first
        for at in found
    ]


def _head(rows: Sequence[Sequence[str]], columns: Sequence[int], number: int) -> str:
    start = columns[number - 1] + 1 if number else columns[0]
    parts = []
    for row in rows:
        own = " ".join(text for text in row[start : columns[number] + 1] if text)
        left = next((text for text in reversed(row[1:start]) if text), "")
        right = next((text for text in row[columns[number] + 1 :] if text), "")
        parts.append(own or left or right)
    return " ".join(parts)


def _label(row: Sequence[str], amounts: Sequence[int]) -> str:
    return " ".join(text for text in row[: amounts[0]] if text and text != "$")


def _year(text: str) -> bool:
    return re.fullmatch(r"(?:19|20)\d\d", text) is not None


def is_amount(text: str) -> bool:
    """Tell whether a text is an amount, or stands for one."""
    return _AMOUNT.fullmatch(plain_amount(text)) is not None


def plain_amount(text: str) -> str:
    """Return an amount without blanks, currency and marks of notes."""
    said = unicodedata.normalize("NFKC", text).replace("−", "-")
    return re.sub(r"[\s$%]", "", said).replace("–", "—")


def words(text: str) -> list[str]:
    """Return the words of a label or head; marks of notes, dots and case are no part of them."""
    said = unicodedata.normalize("NFKC", _NOTE.sub(" ", text)).casefold()
    return re.findall(r"\w+", said)


def judged(marked: dict[str, Any], row: Sequence[str], at: int, found: Sequence[FoundCell]) -> str:
    """Return what of a marked cell is right: ``unit`` (all), ``column``, ``row``, ``none``."""
    best = "none"
    for cell in found:
        if plain_amount(cell.value) != plain_amount(row[at + 1]) or words(cell.label) != words(
            row[0]
        ):
            continue
        if not _is_head(words(marked["heads"][at]), marked["heads"], cell):
            best = "row" if best == "none" else best
        elif set(words(marked["unit"])) <= set(words(cell.unit)):
            return "unit"
        else:
            best = "column"
    return best


def _is_head(right: Sequence[str], heads: Sequence[str], cell: FoundCell) -> bool:
    apart = {word for head in heads for word in words(head)} - set(right)
    said = set(words(cell.head))
    return set(right) <= said and not said & apart


def measured(system: System, pages: Sequence[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return shares of cells by what is right, with intervals over pages, and seconds a page."""
    levels: dict[str, list[float]] = {"row": [], "column": [], "unit": []}
    seconds, cells = 0.0, 0
    missed: list[tuple[Any, ...]] = []
    for page in pages:
        start = time.perf_counter()
        found = system(folder / page["file"], page["page"])
        seconds += time.perf_counter() - start
        judgements = [
            (judged(table, row, at, found), row[0], table["heads"][at], row[at + 1])
            for table in page["tables"]
            for row in table["rows"]
            for at in range(len(row) - 1)
        ]
        cells += len(judgements)
        order = ["none", "row", "column", "unit"]
        for level, shares in levels.items():
            right = [order.index(judgement) >= order.index(level) for judgement, *_ in judgements]
            shares.append(sum(right) / len(right))
        missed += [(page["file"], page["page"], *one) for one in judgements if one[0] != "unit"]
    return {
        **{level: interval(shares).to_dict() for level, shares in levels.items()},
        "cells": cells,
        "pages": len(pages),
        "seconds_a_page": round(seconds / len(pages), 4),
        "missed": missed,
    }


def main() -> None:
    """Measure each system on both halves; print and store."""
    folder = datasets.data_root() / "financebench" / "pdfs"
    results: dict[str, Any] = {}
    for half in HALVES:
        pages = json.loads((SET / f"{half}.json").read_text(encoding="utf-8"))
        results[half] = {}
        for name, system in SYSTEMS.items():
            try:
                results[half][name] = measured(system, pages, folder)
            except ImportError as error:
                results[half][name] = {"left out": f"{error.name} is not installed"}
        print(half)
        print(table_of(results[half]))
    FILE.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def table_of(systems: dict[str, Any]) -> str:
    """Return a Markdown table of one half."""
    return markdown(
        ["", "amount in its row", "and column", "and unit", "s a page"],
        [
            [
                name,
                *(with_interval(entry[level]) for level in ("row", "column", "unit")),
                f"{entry['seconds_a_page']:.3f}",
            ]
            for name, entry in systems.items()
            if "row" in entry
        ],
    )


if __name__ == "__main__":
    main()
