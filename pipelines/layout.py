"""Where the words of a page stand on it. Pure.

Lengths are in points (1/72 inch), measured from the upper left corner of the page as it is
shown: cut to its crop box, and turned as the page says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in points from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a page; of Chinese and Japanese, one character.

    Attributes:
        start: of its span in the raw text of the page.
        end: of that span.
        box: where it stands.
    """

    start: int
    end: int
    box: Box


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The words of a page, in the order of its raw text.

    Attributes:
        width: of the page, in points.
        height: of the page, in points.
        words: their spans do not overlap.
    """

    width: float
    height: float
    words: tuple[Word, ...]

    def within(self, start: int, end: int) -> tuple[Word, ...]:
        """Return the words that a span of the raw text touches."""
        return tuple(word for word in self.words if word.start < end and start < word.end)


def united(boxes: Iterable[Box]) -> Box:
    """Return the smallest rectangle around others.

    Raises:
        ValueError: there are none.
    """
    given = tuple(boxes)
    return Box(
        min(box.left for box in given),
        min(box.top for box in given),
        max(box.right for box in given),
        max(box.bottom for box in given),
    )
