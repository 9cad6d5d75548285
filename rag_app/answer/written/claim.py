"""A statement taken apart: its clauses, its words and their weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from rag_app.answer.support import about_the_answer, share, subject_words
from rag_app.answer.written.numerals import prepared
from rag_app.answer.written.segments import Clause, segments_of, stems, words_of

# They relate numbers to one another, and stand in no evidence.
_RELATING = frozenset(
    words_of(
        "compared earlier previous prior last ago respectively approximately roughly overall total "
        "sum share whole also versus amount figure value level together combined year "
        "前年 前期 比べ 合計 割合 全体 約 上限 下限"
    )
)


@dataclass(frozen=True)
class Claim:
    """A statement, taken apart.

    Attributes:
        text: as the model wrote it, without marks.
        weights: weight of content words; 1 for those that are not there.
        known_names: tokens of names that the question speaks of.
        asked: content words of the question.
    """

    text: str
    weights: Mapping[str, float]
    known_names: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()

    @cached_property
    def prepared(self) -> str:
        """Its text in the form that facts are read from."""
        return prepared(self.text)

    @cached_property
    def segments(self) -> list[Clause]:
        """Its stretches, with the facts of each."""
        return segments_of(self.prepared)

    @cached_property
    def said(self) -> frozenset[str]:
        """All its content words."""
        return frozenset[str]().union(*(segment.words for segment in self.segments))

    @cached_property
    def words(self) -> frozenset[str]:
        """Its content words, without those about the answer itself."""
        about, said = frozenset(subject_words(self.prepared)), self.said
        stated = any(segment.has_facts for segment in self.segments)
        # "The answer is 38 tonnes" has no other words.
        left = said - stems(about_the_answer())
        left = left - _RELATING or left
        return left if stated or left else about or said

    @cached_property
    def subject(self) -> frozenset[str]:
        """What its numbers are said of: its words, or those of the question."""
        return self.words or self.asked

    def weighted(self, words: Iterable[str]) -> dict[str, float]:
        """Return the weight of each word."""
        return {word: self.weights.get(word, 1.0) for word in words}

    def share(self, words: frozenset[str], there: Iterable[str]) -> float:
        """Return the weighted share of words that are there; 0 without words."""
        return share(self.weighted(words), set(there))
