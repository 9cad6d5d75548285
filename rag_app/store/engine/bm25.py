"""BM25 over counted terms, computed for each query.

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
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rag_app.store.array_types import Bools, Ints
from rag_app.store.engine.ranking import Scored, best_of, leading
from rag_app.store.engine.segments import Counts, WordSegment

K1 = 1.5
B = 0.75
Floats = npt.NDArray[np.float64]
F = TypeVar("F", float, Floats)


def idf(total: int, holding: int) -> float:
    """Return the weight of a term that ``holding`` nodes hold: above 0, higher for rare ones."""
    return math.log(1.0 + (total - holding + 0.5) / (holding + 0.5))


def damping(length: F, mean: float, k1: float = K1, b: float = B) -> F:
    """Return the summand of the denominator beside a term's count, for one text or an array.

    Args:
        length: of the text, in terms.
        mean: length of all texts.
        k1: how slowly further occurrences of a term saturate.
        b: how much long texts are penalised, 0 to 1.
    """
    return k1 * ((1.0 - b) + b * length / mean)


class LexicalIndex:
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
        self._frequencies: dict[int, int] = {}  # of the terms of queries until now
        self._norms: list[Floats] = [
            damping(segment.lengths.astype(np.float64), mean) for segment, _ in self.segments
        ]

    def frequency(self, term: int) -> int:
        """Return how many live nodes hold a term."""
        if term not in self._frequencies:
            self._frequencies[term] = sum(len(entries) for entries, _ in self._postings(term))
        return self._frequencies[term]

    def search(self, terms: Sequence[int]) -> LexicalSearch:
        """Return the search for the numbers of a query's terms, repetitions included."""
        return LexicalSearch(self, terms)

    def scores(self, terms: Sequence[int]) -> list[Floats]:
        """Return the score of each row of each segment; 0 where it holds no term."""
        postings = {term: self._postings(term) for term in dict.fromkeys(terms)}
        weights = self._weights(terms, postings)
        return [
            _scores(
                [postings[term][index] for term in weights],
                list(weights.values()),
                self._norms[index],
                segment.rows,
            )
            for index, (segment, _) in enumerate(self.segments)
        ]

    def _weights(
        self, terms: Sequence[int], postings: Mapping[int, Sequence[tuple[Counts, Counts]]]
    ) -> dict[int, float]:
        weights = {}
        for term, times in Counter(terms).items():
            self._frequencies[term] = df = sum(len(entries) for entries, _ in postings[term])
            if df:
                weights[term] = times * idf(self.count, df)
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


class LexicalSearch:
    """One query over an index: rows are scored once, however many selections are ranked."""

    def __init__(self, index: LexicalIndex, terms: Sequence[int]) -> None:
        self._segments = [segment for segment, _ in index.segments]
        self._scores = index.scores(terms)

    def best(self, depth: int, allowed: Bools | None) -> list[Scored]:
        """Return the ``depth`` best passages with a term, and any that tie with the last one.

        Args:
            depth: how many passages.
            allowed: by passage row, which passages may be returned; ``None``: all.
        """
        if depth < 1:
            return []
        passages, nodes, found = [_NO_ROWS], [_NO_ROWS], [np.empty(0)]
        for segment, scores in zip(self._segments, self._scores, strict=True):
            rows = _best_rows(segment, scores, depth, allowed)
            passages.append(segment.passages[rows])
            nodes.append(segment.nodes[rows])
            found.append(scores[rows])
        return best_of(
            np.concatenate(passages), np.concatenate(nodes), np.concatenate(found), depth
        )


_NO_ROWS: Ints = np.empty(0, np.int64)
_NOTHING: Counts = np.empty(0, np.uint32)


def _scores(
    postings: Sequence[tuple[Counts, Counts]],
    weights: Sequence[float],
    norms: Floats,
    rows: int,
) -> Floats:
    """Return the score of each row; terms are added in the query's order, so sums are equal."""
    entries = np.concatenate([_NOTHING, *(found for found, _ in postings)])
    counts = np.concatenate([_NOTHING, *(found for _, found in postings)])
    each = np.repeat(weights, [len(found) for found, _ in postings])
    gains = each * (counts / (norms[entries] + counts))
    return np.bincount(entries, gains, minlength=rows).astype(np.float64, copy=False)


def _best_rows(segment: WordSegment, scores: Floats, depth: int, allowed: Bools | None) -> Ints:
    rows = np.flatnonzero(scores > 0.0)
    if allowed is not None:
        rows = rows[allowed[segment.passages[rows]]]
    return rows[leading(segment.passages[rows], scores[rows], depth)]
