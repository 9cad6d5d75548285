"""The best verbatim sentences of the passages: an answer without a language model.

Each view of a sentence gives a rank, and the ranks are joined: the words it
shares with the question, its meaning where the embedding model knows the
language, and the rank of the passage it stands in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pipelines.text import content_words, normalise, search_terms
from rag_app.answer.support import ranks, word_scores
from rag_app.passages import Passage, Sentence

# Reciprocal rank fusion with a small constant: the first few sentences decide.
RANK_CONSTANT = 5
# Embedding a sentence costs milliseconds: only the likely ones are looked at.
MEANING_CANDIDATES = 32
# Share of the first sentence's score below which a further one is beside the point.
NEARLY_AS_GOOD = 0.75
# Of passages that are shown where nothing answers the question.
MAX_CLOSEST_PASSAGES = 3
MAX_CLOSEST_LINES = 2

# Only matched at an edge: searched for, it would look at each run once from each of its places.
_EDGE_NUMBER = re.compile(r"\W*+\d{1,4}\b\W*+")
_IS_SENTENCE = re.compile(r"[.!?。！？][\"'”’」』）)\]]*\s*$")

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""Question and n sentences → n cosines."""


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
    similarity: Similarity | None = None,
) -> list[RankedSentence]:
    """Return the sentences that some view found, best first; where none did, all.

    Args:
        question: as it was asked.
        passages: what the sentences stand in, best first.
        sentences: the candidates.
        weights: IDF weight of the question's search terms.
        similarity: cosines of sentences; ``None`` where the model must not vote.

    A sentence's score is the sum of ``1 / (5 + rank)`` over the views that
    found it and its passage's rank; equal scores keep the order of reading.
    """
    sentences = _worth_quoting(question, passages, sentences)
    words = ranks(word_scores(weights, [sentence.terms for sentence in sentences]))
    views = [words]
    if similarity is not None:
        views.append(_meaning_ranks(question, passages, sentences, words, similarity))
    found = {index for view in views for index in view}
    found = found or {i for i, s in enumerate(sentences) if _was_hit(passages, s)}
    scored = [
        RankedSentence(sentence, _joined(views, index, passage_rank=sentence.passage + 1))
        for index, sentence in enumerate(sentences)
        if index in found or not found
    ]
    return sorted(scored, key=lambda s: (-s.score, s.sentence.passage, s.sentence.position))


def best_sentences(ranked: Sequence[RankedSentence], most: int) -> list[RankedSentence]:
    """Return the first sentences, as far as they are nearly as good as the very first."""
    near = (one for one in ranked[:most] if one.score >= NEARLY_AS_GOOD * ranked[0].score)
    return list(near)


def closest_passages(ranked: Sequence[RankedSentence]) -> list[list[Sentence]]:
    """Return the best sentences of the passages that have them, nearest passage first.

    The first sentence of each group is its best.
    """
    groups: dict[int, list[Sentence]] = {}
    for one in ranked:
        group = groups.setdefault(one.sentence.passage, [])
        if len(group) < MAX_CLOSEST_LINES:
            group.append(one.sentence)
    return list(groups.values())[:MAX_CLOSEST_PASSAGES]


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
    votes = [1 / (RANK_CONSTANT + view[index]) for view in views if index in view]
    return math.fsum([*votes, 1 / (RANK_CONSTANT + passage_rank)])


def _meaning_ranks(
    question: str,
    passages: Sequence[Passage],
    sentences: Sequence[Sentence],
    words: Mapping[int, int],
    similarity: Similarity,
) -> dict[int, int]:
    """Rank by cosine the sentences that share words or lie where a vector arm hit."""
    likely = sorted(
        range(len(sentences)),
        key=lambda i: (words.get(i, math.inf), not _was_hit(passages, sentences[i]), i),
    )
    by_words = likely[: MEANING_CANDIDATES // 2]
    hit = [i for i in range(len(sentences)) if _was_hit(passages, sentences[i])]
    chosen = list(dict.fromkeys([*by_words, *hit, *likely]))[:MEANING_CANDIDATES]
    cosines = similarity(question, [sentences[i].text for i in chosen])
    return {chosen[place]: rank for place, rank in ranks(cosines).items()}


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
