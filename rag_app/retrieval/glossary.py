"""Words of a question that documents print otherwise.

People ask for "capex" where a report has "purchases of property, plant and equipment".

A glossary is data: terms as people ask for them, each with what documents print in their
place, and names of statements with the headings that they have. What a question names is
searched as lists of its own beside the question's, with less weight: it can add a passage,
and what the question itself finds keeps its score.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pipelines.text import normalise
from rag_app.synonyms import find_synonyms

Sort = Literal["terms", "statements"]
SORTS: tuple[Sort, ...] = ("terms", "statements")
MIN_TERM_CHARS, MAX_TERM_CHARS = 2, 60
# Weight of the lists of what documents print, beside 1 for those of the question itself.
GLOSSARY_WEIGHT = 0.5
# Characters of a question that are looked through, and terms of it that are searched.
MAX_QUESTION_CHARS = 4_000
MAX_FOUND_TERMS = 8
_APOSTROPHES = str.maketrans("’‘´`", "''''")


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """What one term of a glossary says.

    Attributes:
        glossary: name of the glossary.
        sort: ``terms``, or ``statements`` for a part of a document that has a heading.
        term: as a question has it, folded.
        prints: what documents print in its place.
    """

    glossary: str
    sort: Sort
    term: str
    prints: tuple[str, ...]


Begins = Mapping[str, Sequence[GlossaryTerm]]


@dataclass(frozen=True)
class Glossary:
    """Terms of one field by what a question calls them, folded (:func:`folded`)."""

    name: str
    terms: Mapping[str, GlossaryTerm]
    statements: Mapping[str, GlossaryTerm]

    @cached_property
    def begins(self) -> Mapping[Sort, Begins]:
        """Entries of each sort by their first characters, the longest first."""
        return {"terms": _begins(self.terms), "statements": _begins(self.statements)}


def _begins(entries: Mapping[str, GlossaryTerm]) -> Begins:
    found: dict[str, list[GlossaryTerm]] = {}
    for term in sorted(entries, key=len, reverse=True):
        found.setdefault(term[:MIN_TERM_CHARS], []).append(entries[term])
    return found


def folded(text: str) -> str:
    """Return a text as terms are compared: NFKC, small letters, single spaces."""
    plain = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).casefold()
    return " ".join(plain.split())


def terms_in(question: str, glossaries: Iterable[Glossary]) -> tuple[GlossaryTerm, ...]:
    """Return the entries that a question names, in its order, at most ``MAX_FOUND_TERMS``.

    Terms are whole words, also in the plural; in Japanese, which has no spaces, they stand
    anywhere but inside a longer word of katakana. Of terms that overlap the longest counts,
    among those of one glossary and sort.
    """
    text = folded(question[:MAX_QUESTION_CHARS])
    found: dict[GlossaryTerm, int] = {}
    for glossary in glossaries:
        for sort in SORTS:
            for place, term in _matches(text, glossary.begins[sort]):
                found.setdefault(term, place)
    return tuple(sorted(found, key=lambda term: found[term]))[:MAX_FOUND_TERMS]


def synonyms_in(question: str) -> tuple[GlossaryTerm, ...]:
    """Return the words of a question that have synonyms, as entries of a glossary of that name.

    Searched only where a word stands nowhere in the index: one that means the same nearly
    everywhere is still another word.
    """
    text = normalise(question[:MAX_QUESTION_CHARS])
    found = []
    for match in find_synonyms(text)[:MAX_FOUND_TERMS]:
        term = text[match.start : match.end]
        found.append(GlossaryTerm("synonyms", "terms", term, tuple(sorted(match.others - {term}))))
    return tuple(found)


def search_text(terms: Iterable[GlossaryTerm]) -> str:
    """Return what is searched for some terms: all that documents print in their place, once."""
    return "; ".join(dict.fromkeys(text for term in terms for text in term.prints))


def _matches(text: str, entries: Begins) -> Iterator[tuple[int, GlossaryTerm]]:
    place = 0
    while entries and place < len(text):
        found = _match(text, place, entries.get(text[place : place + MIN_TERM_CHARS], ()))
        if found is not None:
            yield place, found
        place += 1 if found is None else len(found.term)


def _match(text: str, start: int, entries: Sequence[GlossaryTerm]) -> GlossaryTerm | None:
    if not entries or (start and _one_word(text[start - 1], text[start])):
        return None
    fits = (e for e in entries if text.startswith(e.term, start))
    return next((e for e in fits if _ends(text, start + len(e.term))), None)


def _ends(text: str, end: int) -> bool:
    """Tell whether a word ends here, or after the "s" of its plural."""
    if end == len(text) or not _one_word(text[end - 1], text[end]):
        return True
    last = text[end + 1 : end + 2]
    return text[end] == "s" and text[end - 1].isascii() and (not last or not _one_word("s", last))


def _one_word(left: str, right: str) -> bool:
    """Tell whether two characters beside each other belong to one word."""
    sides = {_class_of(left), _class_of(right)}
    return len(sides) == 1 and sides <= {"letter", "katakana"}


def _class_of(char: str) -> str:
    if "\u30a1" <= char <= "\u30fc":
        return "katakana"
    if "\u3040" <= char <= "\u9fff" or char >= "\U00020000":
        return "dense"  # kana and han: words stand beside each other without a space
    return "letter" if char.isalnum() else "none"
