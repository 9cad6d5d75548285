"""The sentence of a passage for which a query's words found it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from itertools import chain

from pipelines.analysers import FURTHER, query_terms
from pipelines.sentence_table import SentenceTable
from pipelines.sentences import MAX_SENTENCE_TOKENS, bounded
from pipelines.splitting import Span
from pipelines.text import sentence_spans, sentence_terms
from pipelines.tokens import TokenOffsets
from rag_app.retrieval.excerpts import Excerpt
from rag_app.retrieval.rankings import IndexHit, Ranking, View, term_weights


class MatchedSentences:
    """Finds the sentences that words matched; what it looked up is kept for the next passage."""

    def __init__(self) -> None:
        self._weights: dict[tuple[View, str, str], dict[str, float]] = {}
        # Two lists of words find the same passage.
        self._spans: dict[tuple[str, str], Span | None] = {}

    def span(self, ranking: Ranking, found: IndexHit, excerpt: Excerpt) -> Span | None:
        """Return where the sentence lies in the text of a node that the ranking found."""
        key = (excerpt.node_id, ranking.query)
        if key not in self._spans:
            weights = self._weights_of(ranking, found.view)
            self._spans[key] = best_sentence(
                excerpt.text, weights, _sentence_table(excerpt, found.view)
            )
        return self._spans[key]

    def _weights_of(self, ranking: Ranking, view: View) -> dict[str, float]:
        kind = "parent" if ranking.arm.kind in FURTHER else ranking.arm.kind
        key = (view, kind, ranking.query)
        if key not in self._weights:
            self._weights[key] = term_weights(view, kind, query_terms(ranking.query))
        return self._weights[key]


def best_sentence(
    text: str, weights: Mapping[str, float], table: SentenceTable | None = None
) -> Span | None:
    """Return the span of the sentence that says most of what is asked; None: of none of it.

    A term counts by how rare it is in the index and in the text: its weight divided by the
    number of sentences that hold it (``benchmarks.evidence`` compares that with less).
    Of a sentence that is too long to show, its best part is returned.

    Args:
        text: of a passage.
        weights: IDF weight of each term of the query.
        table: the sentences that begin in the text; None: they are found here.
    """
    spans = sentence_spans(text, max_tokens=None, table=table)
    if table is None:
        held = _terms_in(text, spans, weights)
    else:
        held = _terms_of_table(text, spans, weights, table)
    best = _best(spans, held, weights)
    if best is None:
        return None
    parts = _parts(text, best, table)
    return best if len(parts) == 1 else _best(parts, _terms_in(text, parts, weights), weights)


def _parts(text: str, span: Span, table: SentenceTable | None) -> list[Span]:
    """Return the parts of a sentence of which each is short enough to show."""
    start, end = span
    alone = text[start:end]
    most = None if table is None else table.token_bounds([span])
    parts = bounded(alone, [(0, len(alone))], TokenOffsets(alone), MAX_SENTENCE_TOKENS, most)
    return [(start + low, start + high) for low, high in parts]


def _terms_in(text: str, spans: Sequence[Span], wanted: Collection[str]) -> list[Set[str]]:
    """Return which of the terms each span of a text holds."""
    some = set(wanted)
    return [some.intersection(sentence_terms(text[start:end])) for start, end in spans]


def _terms_of_table(
    text: str, spans: Sequence[Span], wanted: Collection[str], table: SentenceTable
) -> list[Set[str]]:
    """Return the same from the sentence table; only sentences that the text cuts are read."""
    held = table.holding(list(wanted))
    # Each span lies in one sentence, which may have begun before the text or go on after it.
    whole = [stop <= len(text) for stop in table.stops.tolist()]
    return [
        held[at] if at >= 0 and whole[at] else _terms_in(text, [span], wanted)[0]
        for span, at in zip(spans, table.owners(spans), strict=True)
    ]


def _best(
    spans: Sequence[Span], held: Sequence[Set[str]], weights: Mapping[str, float]
) -> Span | None:
    """Return the span with the highest score, the first of equal ones; None: no term is held."""
    counts = Counter(chain.from_iterable(held))
    worth = {term: weights[term] / count for term, count in counts.items()}
    scores = [math.fsum([worth[term] for term in terms]) if terms else 0.0 for terms in held]
    best = max(scores, default=0.0)
    return spans[scores.index(best)] if best else None


def _sentence_table(excerpt: Excerpt, view: View) -> SentenceTable | None:
    """Return the sentences that begin in an excerpt's text, where the index knows them."""
    if excerpt.document_id is None or excerpt.span is None:
        return None
    start, end = excerpt.span
    table = view.snapshot.sentences(excerpt.document_id, start, end)
    return None if table is None else table.moved(-start)
