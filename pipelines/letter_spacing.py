"""Words that are set with a space after each letter, put together again. Pure.

"A N N U A L  R E P O R T" and 「有 価 証 券 報 告 書」 are found by their words, and quoted as
them. Where one word ends is told by the wider gap; in a text without places by the second
blank, and only where a line has nothing but single letters: "A B C D" may as well be heads.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from statistics import median

from pipelines.layout import PageLayout
from pipelines.page_text import assembled

_CJK = "\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff"
_SPACED = re.compile(
    rf"(?<!\S)[^\W\d_](?: [^\W\d_]){{3,}}(?!\S)|(?<!\S)[{_CJK}](?:[ \u3000]+[{_CJK}]){{2,}}(?!\S)"
)
# What each of these has, quick to check: it begins with a fixed character.
_SIGN = re.compile(r" [^\W\d_] [^\W\d_](?!\S)")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_WIDE_SIGN = re.compile(rf"\u3000[{_CJK}]\u3000")
_MAX_GAP = 1.2  # heights of a letter: letters further apart are heads of columns
_WORD_GAP = 1.5  # times the usual gap between the letters


def has_spaced_letters(text: str) -> bool:
    """Tell whether a text may have words set with a space after each letter."""
    if not (_SIGN.search(text) or _WIDE_SIGN.search(text)):
        return False
    return _SPACED.search(text) is not None


def joined_letters(text: str) -> str:
    """Return a text without places whose letter-spaced lines are written together."""
    if not has_spaced_letters(text):
        return text
    return "\n".join(map(_joined_line, text.split("\n")))


def _joined_line(line: str) -> str:
    letters = line.split()
    alphabet = "".join(letters).lower() in _ALPHABET
    if alphabet or any(len(letter) > 1 for letter in letters):
        return line
    return _SPACED.sub(lambda match: "".join(match[0].split()), line)


def with_joined_letters(text: str, layout: PageLayout) -> tuple[str, PageLayout]:
    """Return a page whose letter-spaced words are written together.

    Args:
        text: of the page.
        layout: the words of the page, in the order of the text.
    """
    pieces: list[tuple[int, int] | str] = []
    at = 0
    starts = [word.start for word in layout.words]
    for match in _SPACED.finditer(text):
        letters = layout.words[
            bisect_left(starts, match.start()) : bisect_left(starts, match.end())
        ]
        gaps = [after.box.left - before.box.right for before, after in pairwise(letters)]
        if len(letters) < 3 or not gaps:
            continue
        usual = median(gaps)
        height = median(word.box.bottom - word.box.top for word in letters)
        if not 0 < usual <= _MAX_GAP * height:
            continue
        pieces.append((at, letters[0].end))
        for gap, letter in zip(gaps, letters[1:], strict=True):
            if gap > _WORD_GAP * usual:
                pieces.append(" ")
            pieces.append((letter.start, letter.end))
        at = letters[-1].end
    if not pieces:
        return text, layout
    return assembled(text, layout, [*pieces, (at, len(text))])
