"""Where a quote stands among the characters of a page. Pure.

A page draws its characters in an order of its own, across columns or cell by cell, and a
quote is in the order of reading, with joined lines. Both are compared without white space and
hyphens; where the quote is not in one piece it is sought in pieces.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipelines.layout import Box, united

MAX_QUOTE_CHARACTERS = 8_000
# A piece of so many Latin letters is taken wherever it stands on the page, if it stands there
# once; one of 2.5 times as many, about a line of a column, in any case. A Chinese or Japanese
# character says as much as several letters.
MIN_PIECE_LETTERS = 10
WIDE_LETTERS = 4
_FIRST_WIDE = "\u3005"
# A shorter one only so many characters after the piece before it; of any length right after it.
MAX_GAP_CHARACTERS = 40
MIN_NEAR_PIECE_CHARACTERS = 4
MAX_CONTIGUOUS_GAP_CHARACTERS = 2
MAX_SKIPPED_CHARACTERS = 3  # of a quote, that the page writes otherwise
# PDFium gives U+0002 for the hyphen that divides a word at the end of a line.
_HYPHENS = frozenset("-\u0002\u00ad\u2010\u2011\ufffe")
# Parts of a line, in heights of its type: further apart they are two rectangles.
_MAX_GAP_HEIGHTS = 3.0
_MIN_SAME_LINE_SHARE = 0.5


@dataclass(frozen=True)
class CharacterStream:
    """The characters of a page without white space and hyphens, each with its place.

    Attributes:
        text: in compatibility form (NFKC).
        boxes: one for each character of ``text``.
    """

    text: str
    boxes: Sequence[Box]


@dataclass(frozen=True)
class QuotePlace:
    """What of a quote stands on a page.

    Attributes:
        boxes: its rectangles there, one for each line.
        rest: what of it was not found there, without white space; ``""``: nothing.
    """

    boxes: tuple[Box, ...]
    rest: str


def stream_of(characters: Iterable[tuple[str, Box]]) -> CharacterStream:
    """Return the stream of a page's characters, in the order that it gives them."""
    text: list[str] = []
    boxes: list[Box] = []
    for character, box in characters:
        for one in compact(character):
            text.append(one)
            boxes.append(box)
    return CharacterStream("".join(text), boxes)


def compact(text: str) -> str:
    """Return a text in compatibility form without white space and hyphens."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(one for one in plain if not one.isspace() and one not in _HYPHENS)


def place_of_quote(quote: str, page: CharacterStream) -> QuotePlace:
    """Return where a quote, or its beginning, stands on a page."""
    wanted = compact(quote[:MAX_QUOTE_CHARACTERS])
    found: list[int] = []
    begin = 0
    while begin < len(wanted):
        after = found[-1] + 1 if found else None
        piece = _piece(wanted[begin:], page.text, after)
        if piece is None:
            break
        skipped, start, length = piece
        found += range(start, start + length)
        begin += skipped + length
    return QuotePlace(tuple(lines_of([page.boxes[at] for at in found])), wanted[begin:])


def _piece(wanted: str, text: str, after: int | None) -> tuple[int, int, int] | None:
    """Return how much is skipped, where the next piece begins, and its length."""
    for skipped in range(min(MAX_SKIPPED_CHARACTERS + 1, len(wanted))):
        rest = wanted[skipped:]
        if after is not None:
            near = text[after : after + MAX_GAP_CHARACTERS + len(rest)]
            length = _longest(rest, near)
            start = near.find(rest[:length])
            least = min(MIN_NEAR_PIECE_CHARACTERS, len(rest))
            close = 0 <= start <= MAX_GAP_CHARACTERS and length >= least
            if length and (close or 0 <= start <= MAX_CONTIGUOUS_GAP_CHARACTERS):
                return skipped, after + start, length
        length = _longest(rest, text)
        whole = length == len(rest) and after is None
        if length and (whole or _is_telling(rest[:length], text)):
            start = text.find(rest[:length], after or 0)
            return skipped, start if start >= 0 else text.find(rest[:length]), length
    return None


def _is_telling(piece: str, text: str) -> bool:
    """Tell whether a piece is so long, or so rare on the page, that it stands for itself."""
    letters = sum(WIDE_LETTERS if one >= _FIRST_WIDE else 1 for one in piece)
    if letters >= 2.5 * MIN_PIECE_LETTERS:
        return True
    return letters >= MIN_PIECE_LETTERS and text.find(piece, text.find(piece) + 1) < 0


def _longest(wanted: str, text: str) -> int:
    """Return the length of the longest beginning that stands in a text."""
    if wanted in text:
        return len(wanted)
    low, high = 0, len(wanted)
    while high - low > 1:
        middle = (low + high) // 2
        if wanted[:middle] in text:
            low = middle
        else:
            high = middle
    return low


def lines_of(boxes: Sequence[Box]) -> Iterator[Box]:
    """Yield the rectangles of successive characters: one for each line, or column if vertical."""
    line: list[Box] = []
    for box in boxes:
        if line and not _goes_on(line, box):
            yield united(line)
            line = []
        line.append(box)
    if line:
        yield united(line)


def _goes_on(line: Sequence[Box], box: Box) -> bool:
    before = line[-1]
    if box == before:
        return True
    across = _overlap(before.top, before.bottom, box.top, box.bottom)
    down = _overlap(before.left, before.right, box.left, box.right)
    size = max(box.bottom - box.top, box.right - box.left)
    if len(line) > 1 and line[0] != before:
        vertical = _overlap(line[0].left, line[0].right, before.left, before.right) > across
    else:
        vertical = down > across
    if vertical:
        gap = max(box.top - before.bottom, before.top - box.bottom)
        return down >= _MIN_SAME_LINE_SHARE and gap <= _MAX_GAP_HEIGHTS * size
    gap = max(box.left - before.right, before.left - box.right)
    return across >= _MIN_SAME_LINE_SHARE and gap <= _MAX_GAP_HEIGHTS * size


def _overlap(low: float, high: float, other_low: float, other_high: float) -> float:
    """Return the share of the shorter of two stretches that both cover, 0 to 1."""
    shorter = min(high - low, other_high - other_low)
    if shorter <= 0:
        return float(low <= other_low <= high or other_low <= low <= other_high)
    return max(0.0, min(high, other_high) - max(low, other_low)) / shorter
