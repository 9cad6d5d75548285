"""How much of a passage stands in the rows of tables: one number, noted when it is cut."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from pipelines.lines import Kind, Line
from pipelines.splitting import Span

# Key of a passage's metadata; a passage without a table does not carry it.
ROW_SHARE = "row_share"
# Fewer rows are no table: an amount or a page number that stands alone is a row as well.
MIN_TABLE_ROWS = 4
_DIGITS = 3


def row_share(lines: Sequence[Line], span: Span) -> float:
    """Return the share of a span's characters that stand in rows of tables, 0 to 1.

    White space around lines does not count. 0 where fewer than ``MIN_TABLE_ROWS`` rows begin
    in the span.

    Args:
        lines: of the text, in order.
        span: start and end in the text, in characters.
    """
    first, last = (bisect_left(lines, place, key=_start) for place in span)
    widths = [(line.end - line.start, line.kind is Kind.ROW) for line in lines[first:last]]
    rows = [width for width, is_row in widths if is_row]
    if len(rows) < MIN_TABLE_ROWS:
        return 0.0
    return sum(rows) / sum(width for width, _ in widths)


def noted_row_share(lines: Sequence[Line], span: Span) -> Mapping[str, float]:
    """Return what a passage's metadata says of its rows: its share of them, if it has any."""
    share = round(row_share(lines, span), _DIGITS)
    return {ROW_SHARE: share} if share else {}


def _start(line: Line) -> int:
    return line.start
