"""The sentence of a passage for which a query's words found it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from pipelines.sudachi import LIST
from pipelines.text import sentence_spans, sentence_terms
from rag_app.retrieval.pieces import Piece
from rag_app.retrieval.queries import query_terms
from rag_app.retrieval.rankings import Found, Ranking, View, term_weights

Span = tuple[int, int]


class MatchedSentences:
    """Finds the sentences that words matched; what it looked up is kept for the next passage."""

    def __init__(self) -> None:
        self._weights: dict[tuple[View, str, str], dict[str, float]] = {}
        # Two lists of words find the same passage.
        self._spans: dict[tuple[str, str], Span | None] = {}

    def span(self, ranking: Ranking, found: Found, piece: Piece) -> Span | None:
        """Return where the sentence lies in the text of a node that the ranking found."""
        key = (piece.node_id, ranking.query)
        if key not in self._spans:
            weights = self._weights_of(ranking, found.view)
            self._spans[key] = best_sentence(piece.text, weights, _starts(piece, found.view))
        return self._spans[key]

    def _weights_of(self, ranking: Ranking, view: View) -> dict[str, float]:
        kind = "parent" if ranking.arm.kind == LIST else ranking.arm.kind
        key = (view, kind, ranking.query)
        if key not in self._weights:
            self._weights[key] = term_weights(view, kind, query_terms(ranking.query))
        return self._weights[key]


def best_sentence(
    text: str, weights: Mapping[str, float], starts: Sequence[int] | None = None
) -> Span | None:
    """Return the span of the sentence that says most of what is asked; None: of none of it.

    A term counts by how rare it is in the index and in the text: its weight divided by the
    number of sentences that hold it (``benchmarks.evidence`` compares that with less).
    Of a sentence that is too long to show, its best part is returned.

    Args:
        text: of a passage.
        weights: IDF weight of each term of the query.
        starts: where sentences begin in the text; None: they are found here.
    """
    best = _best(text, sentence_spans(text, max_tokens=None, starts=starts), weights)
    if best is None:
        return None
    start, end = best
    parts = sentence_spans(text[start:end], starts=())
    if len(parts) == 1:
        return best
    return _best(text, [(start + low, start + high) for low, high in parts], weights)


def _best(text: str, spans: Sequence[Span], weights: Mapping[str, float]) -> Span | None:
    """Return the span with the highest score, the first of equal ones; None: no term is held."""
    wanted = weights.keys()
    held = [wanted & sentence_terms(text[start:end]) for start, end in spans]
    counts = Counter(chain.from_iterable(held))
    worth = {term: weights[term] / count for term, count in counts.items()}
    scores = [math.fsum([worth[term] for term in terms]) if terms else 0.0 for terms in held]
    best = max(scores, default=0.0)
    return spans[scores.index(best)] if best else None


def _starts(piece: Piece, view: View) -> list[int] | None:
    """Return where sentences begin in a piece's text, where the index knows."""
    if piece.document_id is None or piece.span is None:
        return None
    start, end = piece.span
    starts = view.snapshot.sentence_starts(piece.document_id, start, end)
    return None if starts is None else [at - start for at in starts]
