"""What a question is about, part by part, and how much of it a text says.

A part is a word (Latin) or a run of kanji, katakana or digits (Japanese), with whatever says
the same: synonyms, a year in its other forms, the words of the index that one typing error
lies away. Its weight depends on how common it is, but not on how many passages there are:
counts are taken together with those of a fixed background.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pipelines.text import content_words, normalise, script_of, search_terms
from rag_app.answer.evidence import Evidence
from rag_app.synonyms import SynonymMatch, find_synonyms, says_any

# The background: so many passages, of which so many hold any word. It keeps the weights of one
# page apart no more than those of a library.
_BACKGROUND_PASSAGES = 100
_BACKGROUND_HOLDING = 2
# Part of a run of kanji that a text holds in pieces counts for less than the whole.
_PIECES = 0.7
_MIN_TYPO_CHARACTERS = 5
_MAX_TYPO_CHARACTERS = 24
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# A run of so many consonants is typed at random.
_NOISE = re.compile(r"[bcdfghjklmnpqrstvwxz]{5,}")
_RUN = re.compile(
    r"[\u30a1-\u30fa\u30fc]{2,}|[\u3005-\u3007\u3400-\u9fff]+|[a-z0-9][a-z0-9.&'/+-]*|[\u3041-\u309f]+"
)
_HIRAGANA = re.compile("[\u3041-\u309f]+")
_ASKING = str.maketrans("何誰", "  ")
_YEAR = re.compile(
    r"(?:fy|cy)\s?'?((?:19|20)?\d\d)\b|((?:19|20)\d\d)\s?年度?|(令和|平成|昭和)\s?(\d{1,2}|元)\s?年度?"
)
_ERA = {"令和": 2018, "平成": 1988, "昭和": 1925}


@dataclass(frozen=True, slots=True)
class Concept:
    """One part of a question.

    Attributes:
        name: as the question has it.
        weight: above 0; the rarer, the higher.
        terms: search terms of which any one says it.
        pieces: pairs of characters that say a part of it (Japanese).
        words: words and phrases of which any one says it.
        typed: a single word as it was typed, of which typing errors are looked for.
    """

    name: str
    weight: float
    terms: frozenset[str] = frozenset()
    pieces: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    typed: str = ""


@dataclass(frozen=True, slots=True)
class HeldText:
    """A text as concepts are looked for in it."""

    terms: frozenset[str]
    plain: str
    squeezed: str

    @classmethod
    def of(cls, text: str) -> HeldText:
        """Return a text with its terms and its normal forms."""
        plain = " ".join(with_plain_years(text).split())
        return cls(frozenset(search_terms(plain)), plain, plain.replace(" ", ""))


def with_plain_years(text: str) -> str:
    """Return a normalised text in which "FY2022", "2022年度" and "令和4年" hold 2022.

    >>> with_plain_years("FY22, 令和4年度")
    '2022 , 2022 '
    """
    return _YEAR.sub(_plain_year, normalise(text))


def _plain_year(match: re.Match[str]) -> str:
    fiscal, western, era, count = match.groups()
    if fiscal:
        return f"{fiscal if len(fiscal) == 4 else f'20{fiscal}'} "
    if western:
        return f"{western} "
    return f"{_ERA[era] + (1 if count == '元' else int(count))} "


def held(concept: Concept, text: HeldText) -> float:
    """Return how much of a concept a text says, 0 to 1."""
    if not concept.terms.isdisjoint(text.terms):
        return 1.0
    if concept.words and says_any(concept.words, text.plain, text.squeezed):
        return 1.0
    if not concept.pieces:
        return 0.0
    return _PIECES * len(concept.pieces & text.terms) / len(concept.pieces)


def coverage(concepts: Sequence[Concept], text: HeldText) -> float:
    """Return the weighted share of the concepts that a text says, 0 to 1; 0 without concepts."""
    total = math.fsum(concept.weight for concept in concepts)
    if not total:
        return 0.0
    return math.fsum(concept.weight * held(concept, text) for concept in concepts) / total


def concepts_of(
    subject: str, evidence: Evidence, printed: Mapping[str, Collection[str]] | None = None
) -> list[Concept]:
    """Return the concepts of a question's subject, each once.

    Words that no document holds and that are no words either are left out, where others are left.

    Args:
        subject: of a question.
        evidence: how common words are.
        printed: terms of glossaries, with what documents print in their place.
    """
    text = with_plain_years(subject)
    further = {
        normalise(term): frozenset(map(normalise, (term, *words)))
        for term, words in (printed or {}).items()
    }
    found = {concept.name: concept for concept in _concepts(text, further)}
    weighted = [_weighted(concept, evidence) for concept in found.values()]
    sensible = [one for one in weighted if not _is_noise(one, evidence)]
    return sensible or weighted


def _concepts(text: str, further: Mapping[str, frozenset[str]]) -> Iterator[Concept]:
    at = 0
    for match in find_synonyms(text, further):
        yield from _plain_concepts(text[at : match.start])
        yield _of_synonyms(text[match.start : match.end], match)
        at = match.end
    yield from _plain_concepts(text[at:])


def _of_synonyms(name: str, match: SynonymMatch) -> Concept:
    terms = frozenset(search_terms(name)) if name.isascii() and " " not in name else frozenset()
    return Concept(name, 1.0, terms=terms, words=match.others)


def _plain_concepts(text: str) -> Iterator[Concept]:
    if script_of(text) != "cjk":
        for token in text.split():
            yield from _of_word(token)
        return
    runs = [run for run in _RUN.findall(text.translate(_ASKING)) if content_words(run)]
    telling = [run for run in runs if not _HIRAGANA.fullmatch(run)]
    for run in telling or runs:
        if run.isascii():
            yield from _of_word(run)
        else:
            pieces = frozenset(map("".join, pairwise(run)))
            yield Concept(run, 1.0, pieces=pieces, words=frozenset((run,)))


def _of_word(token: str) -> Iterator[Concept]:
    """Yield the concept of a word; parts of a compound say a part of it, of a code nothing."""
    words = content_words(token)
    if words:
        parts = () if any(char.isdigit() for char in words[0]) else words[1:]
        typed = "".join(filter(str.isalpha, token)) if len(words) == 1 else ""
        terms, pieces = frozenset(words[:1]), frozenset(parts)
        yield Concept(words[0], 1.0, terms=terms, pieces=pieces, typed=typed)


def _weighted(concept: Concept, evidence: Evidence) -> Concept:
    """Return a concept with its weight, and with words one typing error away if none is known."""
    own = concept.terms or concept.pieces or frozenset(search_terms(concept.name))
    total, counts = evidence.frequencies(own)
    known = [counts.get(term, 0) for term in own]
    if concept.terms and not concept.words and not any(known):
        near = _one_error_away(concept.typed, evidence)
        if near:
            concept = replace(concept, terms=concept.terms | near.keys())
            known = list(near.values())
    rarest = max(known, default=0) if concept.terms else min(known, default=0)
    return replace(concept, weight=_weight(total, rarest))


def _weight(total: int, holding: int) -> float:
    """Return BM25's weight of a term, counted together with the background; at most its rarest."""
    rarest = math.log(1 + (_BACKGROUND_PASSAGES + 0.5) / (_BACKGROUND_HOLDING + 0.5))
    count = holding + _BACKGROUND_HOLDING
    weight = math.log(1 + (total + _BACKGROUND_PASSAGES - holding + 0.5) / (count + 0.5))
    return max(min(weight, rarest), 0.1)


def _one_error_away(word: str, evidence: Evidence) -> dict[str, int]:
    """Return the words of the index that one typing error turns into a word."""
    if not _MIN_TYPO_CHARACTERS <= len(word) <= _MAX_TYPO_CHARACTERS or not word.isalpha():
        return {}
    if not word.isascii():
        return {}
    near = {term for other in _edits(word) for term in search_terms(other)}
    _, counts = evidence.frequencies(near)
    return {term: count for term, count in counts.items() if count}


def _edits(word: str) -> Iterator[str]:
    """Yield what one error makes of a word; the first letter is seldom wrong."""
    for at in range(1, len(word)):
        head, tail = word[:at], word[at:]
        yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in _LETTERS:
            yield head + letter + tail
            yield head + letter + tail[1:]
    for letter in _LETTERS:
        yield word + letter


def _is_noise(concept: Concept, evidence: Evidence) -> bool:
    if concept.words or not concept.terms or not _NOISE.search(concept.name):
        return False
    _, counts = evidence.frequencies(concept.terms)
    return not any(counts.values())
