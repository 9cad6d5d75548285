"""BM25 over counted terms, computed when it is asked for.

Scores follow Lucene's BM25 (k1 = 1.5, b = 0.75) as in Kamphuis et al., "Which
BM25 do you mean?" (ECIR 2020)::

    idf(t)      = ln(1 + (N − df + 0.5) / (df + 0.5))
    score(d, q) = Σ_t idf(t) · tf / (tf + k1 · (1 − b + b · |d| / mean length))

A term that the query repeats counts as often. Because nothing but counts is
stored, adding or removing a document changes N, df and the mean length of all
others at once, and scores equal those of an index built anew.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from rag_app.store.cosine import Scored, best_of
from rag_app.store.segments import Bools, Counts, WordSegment

K1 = 1.5
B = 0.75
Floats = npt.NDArray[np.float64]


class WordView:
    """The counted words of one kind in one generation."""

    def __init__(self, segments: Sequence[tuple[WordSegment, Bools | None]]) -> None:
        self.segments = [(segment, alive) for segment, alive in segments if segment.rows]
        lengths = [
            segment.lengths if alive is None else segment.lengths[alive]
            for segment, alive in self.segments
        ]
        self.count = sum(map(len, lengths))
        total = sum(int(length.sum()) for length in lengths)
        mean = total / self.count if total else 1.0
        self._norms: list[Floats] = [
            K1 * ((1.0 - B) + B * segment.lengths.astype(np.float64) / mean)
            for segment, _ in self.segments
        ]

    def frequency(self, term: int) -> int:
        """Return how many live nodes hold a term."""
        return sum(len(entries) for entries, _ in self._postings(term))

    def search(self, terms: Sequence[int], depth: int, allowed: Bools | None) -> list[Scored]:
        """Return the ``depth`` best passages with a term, and any that tie with the last one.

        Args:
            terms: numbers of the query's terms, repetitions included.
            depth: how many passages.
            allowed: by passage row, which passages may be returned; ``None``: all.
        """
        if depth < 1:
            return []
        postings = {term: self._postings(term) for term in dict.fromkeys(terms)}
        weights = self._weights(terms, postings)
        found: list[Scored] = []
        for index, (segment, _) in enumerate(self.segments):
            chosen = {term: postings[term][index] for term in weights}
            scores = _scores(chosen, weights, self._norms[index], segment.rows)
            found += _best_rows(segment, scores, depth, allowed)
        return best_of(found, depth)

    def _weights(
        self, terms: Sequence[int], postings: Mapping[int, Sequence[tuple[Counts, Counts]]]
    ) -> dict[int, float]:
        weights = {}
        for term, times in Counter(terms).items():
            df = sum(len(entries) for entries, _ in postings[term])
            if df:
                weights[term] = times * math.log(1.0 + (self.count - df + 0.5) / (df + 0.5))
        return weights

    def _postings(self, term: int) -> list[tuple[Counts, Counts]]:
        """Return (rows, counts) of a term in each segment, live rows only."""
        found = []
        for segment, alive in self.segments:
            entries, counts = segment.postings(term) or (_NOTHING, _NOTHING)
            if alive is not None and len(entries):
                keep = alive[entries]
                entries, counts = entries[keep], counts[keep]
            found.append((entries, counts))
        return found


_NOTHING: Counts = np.empty(0, np.uint32)


def _scores(
    postings: Mapping[int, tuple[Counts, Counts]],
    weights: Mapping[int, float],
    norms: Floats,
    rows: int,
) -> Floats:
    """Return the score of each row; terms are added in the query's order, so sums are equal."""
    scores: Floats = np.zeros(rows)
    for term, (entries, counts) in postings.items():
        scores[entries] += weights[term] * (counts / (norms[entries] + counts))
    return scores


def _best_rows(
    segment: WordSegment, scores: Floats, depth: int, allowed: Bools | None
) -> list[Scored]:
    rows = np.flatnonzero(scores > 0.0)
    if allowed is not None:
        rows = rows[allowed[segment.passages[rows]]]
    rows = rows[_leading(segment.passages[rows], scores[rows], depth)]
    return list(
        map(
            Scored,
            segment.passages[rows].tolist(),
            segment.nodes[rows].tolist(),
            scores[rows].tolist(),
        )
    )


def _leading(passages: npt.NDArray[np.int64], scores: Floats, depth: int) -> Bools:
    """Return which rows may be among the best ``depth`` passages (ties of the last included)."""
    if len(scores) <= depth:
        return np.ones(len(scores), np.bool_)
    unique, place = np.unique(passages, return_inverse=True)
    best = np.zeros(len(unique))
    np.maximum.at(best, place, scores)
    if len(best) <= depth:
        return np.ones(len(scores), np.bool_)
    leading: Bools = scores >= np.partition(best, len(best) - depth)[len(best) - depth]
    return leading
