"""Pages set in two columns: tables and text beside each other are looked at one by one."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.layout import united
from pipelines.tables.fragments import Fragment, LineOfFragments

_FROM, _TO, _STEP = 0.35, 0.65, 3  # of the width of a page; points
_MAX_ACROSS = 0.1  # of the lines of a page
_MIN_SHARE, _MIN_LINES = 0.3, 8  # of lines with text on each side


def sides_of(lines: Sequence[LineOfFragments], width: float) -> list[list[LineOfFragments]]:
    """Return the lines of a page; where it is set in two columns, those of each.

    What goes across both stays with the left one. A table is no such page: to the right of
    its labels stand amounts.

    Args:
        lines: from top to bottom.
        width: of the page, in points.
    """
    least = max(_MIN_LINES, _MIN_SHARE * len(lines))
    best: tuple[int, float] | None = None
    for gutter in range(int(_FROM * width), int(_TO * width), _STEP):
        across = sum(_is_across(line, gutter) for line in lines)
        if across > _MAX_ACROSS * len(lines):
            continue
        texts = [_begins_with_text(part) for line in lines for part in _parts(line, gutter)[1:]]
        before = sum(_begins_with_text(_parts(line, gutter)[0]) for line in lines)
        if min(sum(texts), before) >= least and (best is None or across < best[0]):
            best = across, gutter
    if best is None:
        return [list(lines)]
    parts = [_parts(line, best[1]) for line in lines]
    return [[_line(part[side]) for part in parts if part[side]] for side in (0, 1)]


def _is_across(line: LineOfFragments, gutter: float) -> bool:
    return any(one.box.left < gutter < one.box.right for one in line.fragments)


def _parts(
    line: LineOfFragments, gutter: float
) -> tuple[tuple[Fragment, ...], tuple[Fragment, ...]]:
    if _is_across(line, gutter):
        return line.fragments, ()
    left = tuple(one for one in line.fragments if one.box.right <= gutter)
    return left, line.fragments[len(left) :]


def _begins_with_text(part: Sequence[Fragment]) -> bool:
    return bool(part) and not part[0].is_value and any(map(str.isalpha, part[0].text))


def _line(part: tuple[Fragment, ...]) -> LineOfFragments:
    return LineOfFragments(part, united(one.box for one in part))
