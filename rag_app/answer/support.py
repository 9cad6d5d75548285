"""How much of a question's or an answer's words a text holds, weighted by how rare they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from pipelines.text import content_words
from rag_app.store import damping

# BM25 over single sentences: a word rarely comes twice, and length says less than in
# passages. Better than 1.2 and 0.75 on both sets of benchmarks/answers.py.
_K1 = 0.9
_B = 0.4
# What models say about their answer and where it is from. Documents seldom hold these words,
# so their weight is the highest there is; and they say nothing of the subject.
_ABOUT_THE_ANSWER = """
according answer based context document excerpt following information mention note page passage
provided question regarding report section source specified state text
文書によると 文書には 文書では 資料によると 資料には 資料では 文章によると 本文には 情報は
記載されて 記載が 質問の 質問に 質問への 回答は 回答 答えは 答え 以下の
"""


def share(weights: Mapping[str, float], terms: set[str]) -> float:
    """Return the weighted share of ``weights``' terms that are among ``terms``, 0 to 1.

    0 when there are no weights: a question without content words is answered by nothing.
    """
    total = math.fsum(weights.values())
    if total <= 0:
        return 0.0
    return math.fsum(weight for term, weight in weights.items() if term in terms) / total


def subject_words(text: str) -> list[str]:
    """Return the content words of an answer without those about the answer itself.

    "According to the document, the answer is 38 tonnes" → 38, tonne. Where nothing
    else is left they are what it is about, and all stay.
    """
    words = content_words(text)
    return [word for word in words if word not in about_the_answer()] or words


@cache
def about_the_answer() -> frozenset[str]:
    """Return the words of models about their answer and where it is from."""
    return frozenset(content_words(_ABOUT_THE_ANSWER))


def word_scores(weights: Mapping[str, float], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return a score of each text (a list of terms), as BM25 ranks them; 0 without a common term.

    ``weights`` are the IDF weights of the question's terms; the lengths are
    compared with the mean of ``texts``.
    """
    lengths = [len(terms) for terms in texts]
    mean = math.fsum(lengths) / len(lengths) if any(lengths) else 1.0
    return [
        _bm25(weights, Counter(terms), damping(length, mean, _K1, _B))
        for terms, length in zip(texts, lengths, strict=True)
    ]


def _bm25(weights: Mapping[str, float], counts: Counter[str], damped_by: float) -> float:
    return math.fsum(
        weight * counts[term] / (counts[term] + damped_by)
        for term, weight in weights.items()
        if counts[term]
    )


def ranks(scores: Sequence[float]) -> dict[int, int]:
    """Return index → rank from 1, highest score first; scores of 0 or less have no rank.

    Equal scores are ranked by their place in the sequence.
    """
    order = sorted((i for i, score in enumerate(scores) if score > 0), key=lambda i: -scores[i])
    return {index: rank for rank, index in enumerate(order, start=1)}
