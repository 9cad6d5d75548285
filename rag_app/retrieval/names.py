"""What a document is called, and the same words in a question: pure, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from pipelines.text import content_words, normalise

_TOKEN = re.compile(r"[^\W_]+")
_HAS_CJK = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# A year or a quarter glued to other letters: "FY2015", "2023Q2", "10K".
_BOUNDARIES = (re.compile(r"(?<=\d)(?=[^\W\d_])"), re.compile(r"(?<=[^\W\d_])(?=\d)"))
_JOINED = 4


def names_in(text: str) -> set[str]:
    """Return the words of a text that may name something, case folded.

    Single letters and words without content ("which") name nothing. Of "FY2015" the
    year is a word too. Japanese and Chinese give pairs of characters.
    """
    return set().union(*map(_names_of, _TOKEN.findall(normalise(text))))


@lru_cache(maxsize=10_000)
def _names_of(token: str) -> frozenset[str]:
    """Return the names in one word; questions use the same words again and again."""
    if _HAS_CJK.search(token):
        return frozenset(term for term in content_words(token) if len(term) > 1)
    return frozenset(part for part in _parts(token) if content_words(part))


def joined_in(text: str) -> set[str]:
    """Return neighbouring words written as one: "Foot Locker" is FOOTLOCKER in a file's name.

    A run of words neither begins nor ends with one that has no content ("of the").
    """
    tokens = [t for t in _TOKEN.findall(normalise(text)) if not _HAS_CJK.search(t)]
    tells = [_has_content(token) for token in tokens]
    return {
        "".join(tokens[start : start + size])
        for size in range(2, _JOINED + 1)
        for start in range(len(tokens) - size + 1)
        if tells[start] and tells[start + size - 1]
    }


@lru_cache(maxsize=10_000)
def _has_content(token: str) -> bool:
    return bool(content_words(token))


def _parts(token: str) -> Iterator[str]:
    if len(token) > 1:
        yield token
    for boundary in _BOUNDARIES:
        cuts = [0, *(match.start() for match in boundary.finditer(token)), len(token)]
        parts = [token[low:high] for low, high in pairwise(cuts)]
        yield from (part for part in parts if _tells(part))


def _tells(part: str) -> bool:
    """Tell whether a part of a word still names something: "2015" and "q2", not "fy" and "15"."""
    mixed = any(c.isdigit() for c in part) and any(c.isalpha() for c in part)
    return len(part) > 2 or mixed
