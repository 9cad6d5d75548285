"""The state of a page: its text was read, or the reason why it was not. Pure.

Imports ``re`` and ``typing`` alone: the process that reads PDFs needs it, and has to start
quickly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

# ``text``: it has text; ``ocr``: its text was read by OCR. ``scan``: it is a picture, and has
# little more text than a stamp. Why it has none: ``undecodable``, too many of its glyphs have no
# Unicode character; ``image``, pictures or drawings only; ``empty``, nothing is drawn;
# ``form``, a placeholder of a dynamic XFA form; ``damaged``, the page does not load;
# ``hidden``, it has text that nobody who looks at it sees.
PageState = Literal[
    "text", "undecodable", "image", "empty", "form", "damaged", "ocr", "scan", "hidden"
]
PAGE_STATES: tuple[PageState, ...] = get_args(PageState)
READ_STATES: tuple[PageState, ...] = ("text", "ocr")
# Of pages that an earlier version found without text.
UNKNOWN_STATE = "unknown"
# Their own content was not read, and yet they may have text: a stamp, what was filled in.
_MAY_HAVE_TEXT: tuple[PageState, ...] = ("scan", "undecodable", "form")

# A page with a larger share of visible characters that stand for nothing has no text.
MIN_UNDECODABLE_SHARE = 0.3
MAX_PLACEHOLDER_CHARACTERS = 1500  # of a page that only says that its form cannot be shown

# Control, private-use and replacement characters. U+FFFE is PDFium's hyphen at a line end.
_NO_CHARACTER = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ue000-\uf8ff\ufffd\U000f0000-\U0010fffd]"
)
# Scripts in which the code of a glyph may by luck be its character: Latin to Cyrillic, Hebrew,
# Arabic, punctuation, kana, han, hangul, full width.
_LIKELY = re.compile(
    "[\x21-\u024f\u0370-\u052f\u0590-\u06ff\u2010-\u2044\u20ac\u3001-\u30ff\u4e00-\u9fff"
    "\uac00-\ud7a3\uff01-\uff9f]"
)
_LATIN_LETTER = re.compile("[A-Za-z\u00c0-\u024f]")
_VOWEL = re.compile(
    "[aeiouyAEIOUY\u00c0-\u00c6\u00c8-\u00cf\u00d2-\u00d6\u00d8-\u00dd"
    "\u00e0-\u00e6\u00e8-\u00ef\u00f2-\u00f6\u00f8-\u00fd\u00ff]"
)
_LETTER_OR_DIGIT = re.compile("[0-9A-Za-z\u00c0-\u024f]")
# Vowels are 35 to 50 % of the letters of any language in Latin script, and 13 % of what is
# left of English when each code is moved by 29, as in the usual font without a map.
_MIN_VOWEL_SHARE = 0.22
_MIN_LETTERS = 6  # fewer decide nothing
_MIN_WORD_SHARE = 0.65  # of letters and digits in a text; "3/$1B/$72BB" has 0.64


def is_undecodable(text: str) -> bool:
    """Tell whether too many of the visible characters of a page stand for nothing."""
    wrong = len(_NO_CHARACTER.findall(text))
    return wrong > 0 and wrong >= MIN_UNDECODABLE_SHARE * _visible(text)


def is_code(characters: str, unmapped: Sequence[bool]) -> bool:
    """Tell whether the characters of a page are codes of glyphs, not text.

    Where a font maps a glyph to no character, readers give its code in its place. That is
    right where the code is one of ASCII (old Type 3 fonts), and otherwise "3/$1B/$72BB".

    Args:
        characters: of the page, in any order.
        unmapped: whether the glyph of each has no character.
    """
    codes = "".join(c for c, odd in zip(characters, unmapped, strict=True) if odd)
    plain = "".join(_LIKELY.findall(codes))
    wrong = _visible(codes) if _is_garbled(plain) else _visible(codes) - len(plain)
    wrong += len(
        _NO_CHARACTER.findall(
            "".join(c for c, odd in zip(characters, unmapped, strict=True) if not odd)
        )
    )
    return wrong > 0 and wrong >= MIN_UNDECODABLE_SHARE * _visible(characters)


def _is_garbled(text: str) -> bool:
    """Tell whether characters of Latin script cannot be words and numbers."""
    latin = [c for c in text if c < "\u0250"]
    letters = [c for c in latin if _LATIN_LETTER.match(c)]
    vowels = sum(map(bool, map(_VOWEL.match, letters)))
    if len(letters) >= _MIN_LETTERS and vowels < _MIN_VOWEL_SHARE * len(letters):
        return True
    written = sum(map(bool, map(_LETTER_OR_DIGIT.match, latin)))
    return len(latin) >= _MIN_LETTERS and written < _MIN_WORD_SHARE * len(latin)


def _visible(text: str) -> int:
    # White space of control characters (U+001C to U+001F) is none here.
    return sum(not (c.isspace() and c not in "\x1c\x1d\x1e\x1f") for c in text)


def grouped(states: Iterable[PageState]) -> dict[str, list[int]]:
    """Return the numbers of the pages in each state of pages that were not read, from 1."""
    found: dict[str, list[int]] = {}
    for number, state in enumerate(states, start=1):
        if state not in READ_STATES:
            found.setdefault(state, []).append(number)
    return {state: found[state] for state in PAGE_STATES if state in found}


def stored_states(value: object, blank: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the pages without text, by state, as an index stores them.

    Args:
        value: what is stored of the states; in an index of an earlier version, and in a
            Document of a user's, it may be missing or anything.
        blank: numbers of all pages without text.
    """
    given = value if isinstance(value, Mapping) else {}
    left, found = set(blank), dict[str, tuple[int, ...]]()
    for state in PAGE_STATES:
        pages = given.get(state)
        listed = pages if isinstance(pages, (list, tuple)) else ()
        numbers = {page for page in listed if type(page) is int}
        known = numbers if state in _MAY_HAVE_TEXT else left & numbers
        if known:
            found[state] = tuple(sorted(known))
            left -= known
    return found | ({UNKNOWN_STATE: tuple(sorted(left))} if left else {})


def page_ranges(pages: Iterable[int]) -> str:
    """Return numbers of pages in short: 1, 2, 3 and 7 are "1-3, 7"."""
    runs: list[list[int]] = []
    for page in sorted(pages):
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


_WORDS = {
    "undecodable": "characters that cannot be decoded",
    "image": "image only",
    "empty": "empty",
    "form": "XFA form, its content is not in the page",
    "damaged": "does not load",
    "scan": "a scan with few words of text",
    "hidden": "its text is not visible",
    UNKNOWN_STATE: "no text",
}


def described(states: Mapping[str, Sequence[int]]) -> str:
    """Return the pages without text in words: ``page 2-3 (image only), page 5 (empty)``."""
    return ", ".join(
        f"page {page_ranges(pages)} ({state_words(state)})" for state, pages in states.items()
    )


def state_words(state: str) -> str:
    """Return a state in words."""
    return _WORDS.get(state, state)


def counted(states: Iterable[PageState]) -> str:
    """Return how many pages were not read, by state: ``2 image only, 1 empty``."""
    return ", ".join(f"{len(pages)} {_WORDS[state]}" for state, pages in grouped(states).items())
