"""The sentences that are nearest to a question, for what is cut to a model's window.

Two ranks are joined: that of the words a sentence shares with the question, and that of the
passage it stands in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.text import content_words, normalise, search_terms
from rag_app.answer.support import ranks, word_scores
from rag_app.passages import Passage, Sentence

# Reciprocal rank fusion with a small constant: the first few sentences decide.
RANK_CONSTANT = 5

# Only matched at an edge: searched for, it would look at each run once from each of its places.
_EDGE_NUMBER = re.compile(r"\W*+\d{1,4}\b\W*+")
_IS_SENTENCE = re.compile(r"[.!?。！？][\"'”’」』）)\]]*\s*$")


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence and its joined score."""

    sentence: Sentence
    score: float


def rank_sentences(
    question: str,
    passages: Sequence[Passage],
    sentences: Sequence[Sentence],
    weights: Mapping[str, float],
) -> list[RankedSentence]:
    """Return the sentences that some view found, best first; where none did, all.

    Args:
        question: as it was asked.
        passages: what the sentences stand in, best first.
        sentences: the candidates.
        weights: IDF weight of the question's search terms.

    A sentence's score is the sum of ``1 / (5 + rank)`` over the views that
    found it and its passage's rank; equal scores keep the order of reading.
    """
    sentences = _worth_quoting(question, passages, sentences)
    words = ranks(word_scores(weights, [sentence.terms for sentence in sentences]))
    views = [words]
    found = set(words) or {i for i, s in enumerate(sentences) if _was_hit(passages, s)}
    scored = [
        RankedSentence(sentence, _joined(views, index, passage_rank=sentence.passage + 1))
        for index, sentence in enumerate(sentences)
        if index in found or not found
    ]
    return sorted(scored, key=lambda s: (-s.score, s.sentence.passage, s.sentence.position))


def _worth_quoting(
    question: str, passages: Sequence[Passage], sentences: Sequence[Sentence]
) -> Sequence[Sentence]:
    """Leave out running heads, and headings and titles that only repeat words of the question.

    A text that stands twice is quoted once. Where nothing is left, all stay.
    """
    running = _running(passages, sentences)
    sentences = [one for one in sentences if id(one) not in running] or sentences
    asked = set(search_terms(question))
    different = {normalise(one.text): one for one in reversed(sentences)}
    kept = {
        id(one)
        for one in different.values()
        if _IS_SENTENCE.search(one.text) or set(content_words(one.text)) - asked
    }
    return [one for one in sentences if id(one) in kept] or sentences


def _running(passages: Sequence[Passage], sentences: Sequence[Sentence]) -> set[int]:
    """Return the ``id()`` of running heads and feet: lines that one document has on many pages.

    The number at an end may be a page's or a year; a line with other figures is a row.
    """
    places: dict[tuple[str, str, str], list[int]] = {}
    for one in sentences:
        line = normalise(_without_edge_numbers(one.text))
        if not _IS_SENTENCE.search(one.text) and not any(c.isdigit() for c in line):
            passage = passages[one.passage]
            key = (passage.origin, passage.document_id, line)
            places.setdefault(key, []).append(id(one))
    return {one for found in places.values() if len(found) > 1 for one in found}


def _joined(views: Sequence[Mapping[int, int]], index: int, passage_rank: int) -> float:
    values = [1 / (RANK_CONSTANT + view[index]) for view in views if index in view]
    return math.fsum([*values, 1 / (RANK_CONSTANT + passage_rank)])


def _was_hit(passages: Sequence[Passage], sentence: Sentence) -> bool:
    passage = passages[sentence.passage]
    if passage.start is None:
        return False
    start, end = passage.start + sentence.start, passage.start + sentence.end
    return any(
        match.start is not None
        and match.end is not None
        and match.arm.startswith("vectors:")
        and match.start < end
        and start < match.end
        for match in passage.matches
    )


def _without_edge_numbers(text: str) -> str:
    """Return a line without the number (a page's, an item's) that it begins or ends with."""
    for _ in ("start", "end"):
        edge = _EDGE_NUMBER.match(text)
        text = text[edge.end() if edge else 0 :][::-1]
    return text
