"""The labels of rows: over several lines, and the headings that rows stand under."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pipelines.layout import Box, united
from pipelines.tables.blocks import is_row
from pipelines.tables.fragments import Fragment, LineOfFragments

_ENDS_SECTION = re.compile(r"total|net cash|合計|計$", re.IGNORECASE)
_GOES_ON = re.compile(r"[,;–—(]$|\b(?:and|or|of|the|for|to|in|on|by|from|with|at)$")
_SAME_EDGE = 1.5  # points
_MIN_FULL = 0.6  # of the way to the amounts: a label that ends before it is whole


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a table or, without cells, a heading of rows.

    Attributes:
        label: its text over all its lines.
        left: where the label begins, in points.
        boxes: of the lines of the label.
        row: what stands to the right of the label; None of a heading.
    """

    label: str
    left: float
    boxes: tuple[Box, ...]
    row: tuple[Fragment, ...] | None


@dataclass(frozen=True, slots=True)
class RowSection:
    """The heading that rows stand under, while they do.

    Attributes:
        name: the heading; empty: none.
        left: where it begins.
        indents: whether its rows begin further right; None: no row came yet.
        is_over: whether its sum has come.
    """

    name: str = ""
    left: float = 0.0
    indents: bool | None = None
    is_over: bool = False

    def at(self, label: str, left: float) -> RowSection:
        """Return the section that the next row stands in."""
        inside = left > self.left + _SAME_EDGE
        if self.is_over or (self.indents and not inside and label):
            return RowSection()
        ends = _ENDS_SECTION.match(label) is not None
        first = inside if self.indents is None else self.indents
        return replace(self, indents=first, is_over=ends and not (first and inside))


@dataclass(frozen=True, slots=True)
class _Label:
    text: str
    boxes: tuple[Box, ...]

    @property
    def left(self) -> float:
        return self.boxes[0].left if self.boxes else 0.0

    def and_then(self, other: _Label) -> _Label:
        text = f"{self.text} {other.text}".strip()
        return _Label(text, self.boxes + other.boxes)


@dataclass(slots=True)
class _Unplaced:
    """Lines without amounts that no row has taken yet, joined where they go on."""

    labels: list[_Label] = field(default_factory=list)

    def add(self, label: _Label, widest: float, edge: float) -> None:
        if self.labels and _runs_on(self.labels[-1], label, widest, edge):
            self.labels[-1] = self.labels[-1].and_then(label)
        else:
            self.labels.append(label)


def entries_of(lines: Sequence[LineOfFragments], edge: float) -> Iterator[Entry]:
    """Yield rows and headings from top to bottom.

    A label goes on where its line had no room for the next word, or where the next line
    begins with a small letter.

    Args:
        lines: of a table below its heads.
        edge: where its first column of amounts begins, in points.
    """
    split = [_split(line, edge) for line in lines]
    widest = max((label.boxes[-1].right for label, _ in split if label.boxes), default=0.0)
    waiting = _Unplaced()
    last: Entry | None = None
    for (label, cells), line in zip(split, lines, strict=True):
        if not is_row(line):
            waiting.add(label, widest, edge)
            continue
        begun = waiting.labels
        waiting = _Unplaced()
        if last is not None and begun and _is_rest(begun[0]):
            last = _longer(last, begun.pop(0))
        if last is not None:
            yield last
        if begun and label.text and _runs_on(begun[-1], label, widest, edge):
            label = begun.pop().and_then(label)
        for heading in begun:
            yield Entry(heading.text.rstrip(":： "), heading.left, heading.boxes, None)
        last = Entry(label.text, label.left, label.boxes, cells)
    if last is not None:
        yield _longer(last, waiting.labels[0]) if waiting.labels else last


def _split(line: LineOfFragments, edge: float) -> tuple[_Label, tuple[Fragment, ...]]:
    """Return the label of a line, and what stands in its cells."""
    count = 0
    for fragment in line.fragments:
        if fragment.core.right > edge + _SAME_EDGE and (count or fragment.is_value):
            break
        count += 1
    before = line.fragments[:count]
    label = " ".join(one.text for one in before)
    boxes = (united(one.box for one in before),) if before else ()
    return _Label(label, boxes), line.fragments[count:]


def _is_rest(label: _Label) -> bool:
    """Tell whether a line goes on the label of the row above it."""
    return label.text[:1].islower()


def _longer(entry: Entry, rest: _Label) -> Entry:
    return replace(
        entry, label=f"{entry.label} {rest.text}".strip(), boxes=entry.boxes + rest.boxes
    )


def _runs_on(label: _Label, below: _Label, widest: float, edge: float) -> bool:
    """Tell whether a label goes on in the next line."""
    if label.text.endswith((":", "：")) or not below.text:
        return False
    if below.text[0].islower() or _GOES_ON.search(label.text):
        return True
    if not label.boxes or not below.boxes:
        return False
    box = below.boxes[0]
    word = below.text.split()[0]
    if label.boxes[-1].right < label.left + _MIN_FULL * (edge - label.left):
        return False
    width = (box.right - box.left) * len(word) / len(below.text)
    return label.boxes[-1].right + width > widest + _SAME_EDGE and below.left > label.left
