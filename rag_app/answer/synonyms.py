"""Words that people use for one another: what a question calls otherwise than its document."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pipelines.text import normalise

_FILE = "synonyms.toml"
_LATIN = re.compile(r"[a-z0-9 ]+")
_HAN = "\u3005-\u3007\u3400-\u9fff"
_BEGINS_HAN = re.compile(f"[{_HAN}]")
_ENDS_HAN = re.compile(f"[{_HAN}]$")


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
    found = [
        SynonymMatch(match.start(), match.end(), _table()[match.group()])
        for match in _pattern().finditer(text)
    ]
    for word, others in (further or {}).items():
        found += [SynonymMatch(m.start(), m.end(), others) for m in _found(word, text)]
    kept: list[SynonymMatch] = []
    for one in sorted(found, key=lambda match: (match.start, -match.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
        elif (one.start, one.end) == (kept[-1].start, kept[-1].end):
            kept[-1] = SynonymMatch(one.start, one.end, kept[-1].others | one.others)
    return kept


def _found(word: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(_bounded(word), text)


def says_any(words: frozenset[str], text: str, squeezed: str) -> bool:
    """Tell whether a text has one of some words.

    Args:
        words: as in :class:`SynonymMatch`.
        text: normalised; Latin words are looked for as whole words.
        squeezed: the same without white space, for all others.
    """
    return any(
        _whole_word(word).search(text) is not None if _LATIN.fullmatch(word) else word in squeezed
        for word in words
    )


@cache
def _whole_word(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


@cache
def _table() -> Mapping[str, frozenset[str]]:
    text = resources.files("rag_app.answer").joinpath(_FILE).read_text(encoding="utf-8")
    table: dict[str, frozenset[str]] = {}
    for group in tomllib.loads(text)["words"]:
        words = frozenset(normalise(word) for word in group)
        for word in words:
            table[word] = table.get(word, frozenset()) | words
    return table


@cache
def _pattern() -> re.Pattern[str]:
    longest_first = sorted(_table(), key=len, reverse=True)
    return re.compile("|".join(map(_bounded, longest_first)))


def _bounded(word: str) -> str:
    """Return a pattern of a word that is no part of a longer one of the same script."""
    if _LATIN.fullmatch(word):
        return rf"(?<!\w){re.escape(word)}(?!\w)"
    before = rf"(?<![{_HAN}])" if _BEGINS_HAN.match(word) else ""
    after = rf"(?![{_HAN}])" if _ENDS_HAN.search(word) else ""
    return f"{before}{re.escape(word)}{after}"
