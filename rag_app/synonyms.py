"""Words that people use for one another: what a question calls otherwise than its document."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pipelines.text import normalise

_FILE = "synonyms.toml"
_LATIN = re.compile(r"[a-z0-9 ]+")
# A word, and what is compared in its place.
_Entry = tuple[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class SynonymMatch:
    """A word of a question that has synonyms.

    Attributes:
        start, end: where it stands in the text.
        others: the word and its synonyms, as they are compared with a text.
    """

    start: int
    end: int
    others: frozenset[str]


def find_synonyms(
    text: str, further: Mapping[str, frozenset[str]] | None = None
) -> list[SynonymMatch]:
    """Return the words of a normalised text that have synonyms, in order.

    Args:
        text: that is looked through; of words that overlap the first counts, then the longest.
        further: words that have others for this text alone (those of a glossary).
    """
    found = list(_matches(text, _begins()))
    for word, others in (further or {}).items():
        found += _matches(text, {word[:1]: [(word, others)]})
    kept: list[SynonymMatch] = []
    for one in sorted(found, key=lambda match: (match.start, -match.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
        elif (one.start, one.end) == (kept[-1].start, kept[-1].end):
            kept[-1] = SynonymMatch(one.start, one.end, kept[-1].others | one.others)
    return kept


def says_any(words: frozenset[str], text: str, squeezed: str) -> bool:
    """Tell whether a text has one of some words.

    Args:
        words: as in :class:`SynonymMatch`.
        text: normalised; Latin words are looked for as whole words.
        squeezed: the same without white space, for all others.
    """
    return any(
        _is_said(word, text) if _LATIN.fullmatch(word) else word in squeezed for word in words
    )


def _is_said(word: str, text: str) -> bool:
    at = text.find(word)
    while at >= 0 and not _is_whole(text, at, at + len(word)):
        at = text.find(word, at + 1)
    return at >= 0


@cache
def _table() -> Mapping[str, frozenset[str]]:
    text = resources.files("rag_app").joinpath(_FILE).read_text(encoding="utf-8")
    table: dict[str, frozenset[str]] = {}
    for group in tomllib.loads(text)["words"]:
        words = frozenset(normalise(word) for word in group)
        for word in words:
            table[word] = table.get(word, frozenset()) | words
    return table


@cache
def _begins() -> Mapping[str, Sequence[_Entry]]:
    """Return the words by their first character, the longest first: a pattern of all takes .2 s."""
    found: dict[str, list[_Entry]] = {}
    for word in sorted(_table(), key=len, reverse=True):
        found.setdefault(word[0], []).append((word, _table()[word]))
    return found


def _matches(text: str, entries: Mapping[str, Sequence[_Entry]]) -> Iterator[SynonymMatch]:
    at = 0
    while at < len(text):
        fits = (
            SynonymMatch(at, at + len(word), others)
            for word, others in entries.get(text[at], ())
            if text.startswith(word, at) and _is_whole(text, at, at + len(word))
        )
        if (match := next(fits, None)) is not None:
            yield match
            at = match.end
        else:
            at += 1


def _is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether a word that stands here is no part of a longer one of the same script."""
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if _LATIN.fullmatch(text, start, end):
        return not (_of_word(before) or _of_word(after))
    joined_before = _is_han(text[start]) and _is_han(before)
    return not (joined_before or (_is_han(text[end - 1]) and _is_han(after)))


def _of_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _is_han(char: str) -> bool:
    return "\u3005" <= char <= "\u3007" or "\u3400" <= char <= "\u9fff"
