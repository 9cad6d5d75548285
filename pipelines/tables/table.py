"""A table: its caption, heads and unit, its rows and their cells, and where they stand."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pipelines.layout import Box
from pipelines.optional import needed

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a table.

    Attributes:
        column: its number among the heads of the table, from 0.
        text: as it stands, without blanks inside of an amount: ``"$(1,234)"``.
        box: where it stands, the sign of its currency included.
    """

    column: int
    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    Attributes:
        label: what it is called; empty where it has no name, as sums may.
        cells: from left to right; a column without a value has none.
        section: the heading that it stands under ("Current assets"); may be empty.
        page: number of its page, from 1.
        box: around its label and its cells.
    """

    label: str
    cells: tuple[Cell, ...]
    section: str
    page: int
    box: Box

    def value(self, column: int) -> str:
        """Return the text of the cell in a column; empty where there is none."""
        return next((cell.text for cell in self.cells if cell.column == column), "")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a document; one that goes on over a page break is one.

    Attributes:
        page: number of the page that it begins on, from 1.
        caption: the lines above its heads that name it; may be empty.
        unit: what its caption or heads say of the amounts ("in millions"); may be empty.
        heads: of its columns of values, from left to right; some may be empty.
        rows: from top to bottom.
        box: around its heads and rows, on the page that it begins on.
    """

    page: int
    caption: str
    unit: str
    heads: tuple[str, ...]
    rows: tuple[TableRow, ...]
    box: Box

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it; boxes in points from the upper left corner of the page."""
        return {
            "page": self.page,
            "caption": self.caption,
            "unit": self.unit,
            "heads": list(self.heads),
            "box": _edges(self.box),
            "rows": [
                {
                    "label": row.label,
                    "section": row.section,
                    "page": row.page,
                    "box": _edges(row.box),
                    "cells": [
                        {"column": cell.column, "text": cell.text, "box": _edges(cell.box)}
                        for cell in row.cells
                    ],
                }
                for row in self.rows
            ],
        }

    def to_pandas(self) -> pandas.DataFrame:
        """Return it as a frame: a column for each head, the labels of its rows as index.

        Values are texts as they stand; ``frame.attrs`` has caption, unit and page.

        Raises:
            NotInstalledError: pandas is not installed.
        """
        with needed("a table as a frame", "pandas"):
            import pandas
        values = [[row.value(column) for column in range(len(self.heads))] for row in self.rows]
        index = pandas.Index([row.label for row in self.rows], dtype=object)
        frame = pandas.DataFrame(values, index=index, columns=list(self.heads), dtype=object)
        frame.attrs |= {"caption": self.caption, "unit": self.unit, "page": self.page}
        return frame


def _edges(box: Box) -> dict[str, float]:
    return {edge: round(value, 1) for edge, value in asdict(box).items()}
