"""Each sentence that a model wrote, against the passages that it cites.

We choose the quotes, not the model: the cited passages' sentences that share
most of the answer sentence's words, and those that hold its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.text import content_words, script_of
from rag_app.answer.citations import UNVERIFIED_QUOTE, CitationBook
from rag_app.answer.response import AnswerSentence, Support
from rag_app.answer.support import share, subject_words
from rag_app.answer.written.facts import missing, numbers_and_dates
from rag_app.answer.written.marks import MarkedSentence
from rag_app.passages import Sentence

MAX_QUOTES = 3
# A further quote must hold so much of the sentence that no earlier one holds.
MIN_GAIN_SHARE = 0.25
# Below it, a sentence shares too few of its words with what it cites to rest on it.
MIN_SUPPORT_SHARE = 0.3
# From both on, a passage is near enough to be cited for a sentence that cites none: share of
# the words that some passage holds (the model's own tell no passage from another), and of all.
MIN_SHARE_OF_KNOWN_WORDS = 0.6
MIN_SHARE_OF_ALL_WORDS = 0.5

NO_CITATION = "the model cites no passage here"
NEAREST_CITED = "the model cites no passage here: the nearest in words is cited"
WEAK_SUPPORT = "few of its words stand in what it cites"


@dataclass(frozen=True)
class Sent:
    """One passage as it was sent to the model.

    Attributes:
        passage: its index.
        sentences: those that were sent.
        label: file, page and headings that stood with it.
    """

    passage: int
    sentences: Sequence[Sentence]
    label: str

    @property
    def text(self) -> str:
        """All that was sent of it."""
        return "\n".join([self.label, *(sentence.text for sentence in self.sentences)])


@dataclass(frozen=True)
class _Wanted:
    """What of a sentence no quote holds yet; ``total``: the weight of all its words."""

    words: Mapping[str, float]
    numbers: tuple[str, ...]
    total: float


class SentenceChecker:
    """Turns marked sentences into checked ones.

    Args:
        sent: the passages, in the order of the numbers that the model was given.
        book: where citations are numbered.
        weights: IDF weights of the answer's words.
        default_order: how well each sentence suits the question, best first: decides
            where the words of another language cannot.
    """

    def __init__(
        self,
        sent: Sequence[Sent],
        book: CitationBook,
        weights: Mapping[str, float],
        default_order: Sequence[Sentence],
    ) -> None:
        self._sent = sent
        self._book = book
        self._weights = weights
        self._terms: dict[str, set[str]] = {}
        self._order = {id(sentence): rank for rank, sentence in enumerate(default_order)}

    def check(self, sentence: MarkedSentence) -> AnswerSentence:
        """Return a sentence with its citations, their quotes recorded, and what failed."""
        problems = [f"it cites [{number}], which is no passage" for number in sentence.invented]
        cited = [self._sent[number - 1] for number in sentence.cited]
        if not cited:
            nearest = self._nearest(sentence.text)
            problems.append(NEAREST_CITED if nearest is not None else NO_CITATION)
            cited = [nearest] if nearest is not None else []
        numbers = [self._cite(sent, sentence.text, problems) for sent in cited]
        problems += self._problems(sentence.text, cited)
        distinct = list(dict.fromkeys(problems))
        support: Support = "supported" if cited and not distinct else "unsupported"
        return AnswerSentence(sentence.text, numbers, support, distinct)

    def _cite(self, sent: Sent, text: str, problems: list[str]) -> int:
        number = self._book.number_of(sent.passage)
        for source in self._quoted(sent, text):
            quote = self._book.quote(sent.passage, source.start, source.end)
            self._book.add(number, quote)
            if not quote.verified:
                problems.append(UNVERIFIED_QUOTE)
        return number

    def _quoted(self, sent: Sent, text: str) -> list[Sentence]:
        """Return few sentences of a passage that together hold most of a text's words and numbers.

        The first is the one that supports it best; each further one adds something.
        """
        last = len(self._order)
        wanted = self._wanted(text)
        chosen: list[Sentence] = []
        left = list(sent.sentences)
        while left and len(chosen) < MAX_QUOTES:
            gains = {id(s): self._gain(wanted, s) for s in left}
            best = min(left, key=lambda s: (-gains[id(s)], self._order.get(id(s), last)))
            if chosen and gains[id(best)] < MIN_GAIN_SHARE:
                break
            chosen.append(best)
            left.remove(best)
            wanted = self._without(wanted, best)
        return chosen

    def _problems(self, text: str, cited: Sequence[Sent]) -> list[str]:
        if not cited:
            return []
        sources = [sent.text for sent in cited]
        problems = [
            f"{fact} does not occur in what it cites"
            for fact in missing(numbers_and_dates(text), "\n".join(sources))
        ]
        same_script = any(script_of(text) == script_of(source) for source in sources)
        words = self._words(text)
        if same_script and words and share(words, self._held(sources)) < MIN_SUPPORT_SHARE:
            problems.append(WEAK_SUPPORT)
        return problems

    def _nearest(self, text: str) -> Sent | None:
        """Return the passage that holds enough of a text's words, and all of its numbers."""
        facts, words = numbers_and_dates(text), self._words(text)
        there = self._held([sent.text for sent in self._sent])
        known = {word: weight for word, weight in words.items() if word in there}
        holding = [sent for sent in self._sent if not missing(facts, sent.text)]
        best = max(holding, key=lambda sent: share(words, self._terms_of(sent.text)), default=None)
        if best is None:
            return None
        held = self._terms_of(best.text)
        near = (
            share(known, held) >= MIN_SHARE_OF_KNOWN_WORDS
            and share(words, held) >= MIN_SHARE_OF_ALL_WORDS
        )
        return best if near else None

    def _words(self, text: str) -> dict[str, float]:
        """Return the weight of each word of a text that says something of its subject."""
        return {word: self._weights.get(word, 1.0) for word in subject_words(text)}

    def _held(self, sources: Sequence[str]) -> set[str]:
        return set().union(*map(self._terms_of, sources))

    def _terms_of(self, text: str) -> set[str]:
        # Each passage is looked at for each sentence of the answer.
        if text not in self._terms:
            self._terms[text] = set(content_words(text))
        return self._terms[text]

    def _wanted(self, text: str) -> _Wanted:
        words = self._words(text)
        return _Wanted(words, tuple(numbers_and_dates(text)), math.fsum(words.values()) or 1.0)

    def _gain(self, wanted: _Wanted, sentence: Sentence) -> float:
        """Return what a sentence adds: its share of the words, and 1 for each number."""
        there = self._terms_of(sentence.text)
        words = math.fsum(weight for word, weight in wanted.words.items() if word in there)
        numbers = len(wanted.numbers) - len(missing(wanted.numbers, sentence.text))
        return words / wanted.total + numbers

    def _without(self, wanted: _Wanted, sentence: Sentence) -> _Wanted:
        there = self._terms_of(sentence.text)
        words = {word: weight for word, weight in wanted.words.items() if word not in there}
        return _Wanted(words, tuple(missing(wanted.numbers, sentence.text)), wanted.total)
