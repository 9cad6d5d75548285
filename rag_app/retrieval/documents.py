"""Documents that the question names: found by their names, preferred, never required.

A word of the question names the documents in whose path, title or first page it
stands, to the degree that it is theirs: by the odds that one of their passages holds
it, against the odds that another passage does. "Adobe" stands almost only in Adobe's
reports, "2015" mostly in those of that year, "cash" everywhere. What counts is the
lower end of the 95 % interval of the log odds ratio (B. Woolf 1955, with half a passage
added to each count, J. B. S. Haldane 1956): a word that stands once, and there by
chance, names nothing. Nothing here knows a language or a kind of document; the words
come from the documents.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from llama_index.core.vector_stores.types import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from pipelines.text import search_terms
from rag_app.retrieval.catalogue import PASSAGES, Catalogue, Catalogues
from rag_app.retrieval.names import joined_in, names_in
from rag_app.retrieval.rankings import View
from rag_app.store.protocol import Selection, Snapshot

# A word that raises the odds less than e times names nothing.
MIN_LOG_ODDS_RATIO = 1.0
_Z = 1.96
# A word of the first page counts half: it may be there by chance.
FIRST_PAGE_WEIGHT = 0.5
# Documents with this share of the best one's score are named; with that share, best.
TIERS = (0.5, 0.9)
# One word of a path or title, or two of a first page, are the least that name a document.
MIN_SCORE = 1.0


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document that the question names.

    Attributes:
        document_id: id of its Document.
        name: its first name.
        origin: the index it is in.
        score: sum of its words' log odds ratios (lower ends), halved for words of the
            first page.
        words: the words of the question that name it, strongest first.
    """

    document_id: str
    name: str
    origin: str
    score: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preference:
    """The documents that are preferred, best first; empty: none."""

    documents: tuple[NamedDocument, ...] = ()


def prefer(
    question: str,
    views: Sequence[View],
    catalogues: Sequence[Catalogues],
    filters: Sequence[MetadataFilters | None],
) -> tuple[Sequence[View], Preference]:
    """Return the views with the passages that are preferred in each, and the documents.

    Where the question names nothing, or names every document alike, the views come
    back as they are.
    """
    scored: list[tuple[int, NamedDocument]] = []
    for number, (view, kept) in enumerate(zip(views, catalogues, strict=True)):
        catalogue = kept.get(view.snapshot)
        if catalogue.applies:
            scored += [(number, named) for named in score_documents(question, catalogue, view)]
    best = max((named.score for _, named in scored), default=0.0)
    if best < MIN_SCORE:
        return views, Preference()
    narrowed = list(views)
    before: list[set[str]] = [set() for _ in views]
    for share in TIERS:
        chosen = [(at, named.document_id) for at, named in scored if named.score >= share * best]
        for number, own in enumerate(filters):
            documents = {document_id for at, document_id in chosen if at == number}
            narrowed[number] = _narrowed(narrowed[number], documents, before[number], own)
            before[number] = documents
    if not any(view.preferred for view in narrowed):
        return views, Preference()
    named = [n for _, n in scored if n.score >= TIERS[0] * best]
    return narrowed, Preference(tuple(sorted(named, key=lambda n: (-n.score, n.name))))


def score_documents(question: str, catalogue: Catalogue, view: View) -> list[NamedDocument]:
    """Return the documents of one index that the question names, each with its score."""
    scores: dict[int, dict[str, float]] = {}
    for word in sorted(names_in(question) | joined_in(question)):
        ratio = _ratio(word, catalogue, view.snapshot)
        if ratio is None:
            continue
        for position in catalogue.weak.get(word, ()):
            scores.setdefault(position, {})[word] = FIRST_PAGE_WEIGHT * ratio
        for position in catalogue.strong.get(word, ()):
            scores.setdefault(position, {})[word] = ratio
    return [
        NamedDocument(
            document_id=catalogue.sources[position].document_id,
            name=next(iter(catalogue.sources[position].names), ""),
            origin=view.origin,
            score=math.fsum(words.values()),
            words=tuple(sorted(words, key=lambda word: (-words[word], word))),
        )
        for position, words in scores.items()
    ]


def _ratio(word: str, catalogue: Catalogue, snapshot: Snapshot) -> float | None:
    strong = catalogue.strong.get(word, frozenset())
    weak = catalogue.weak.get(word, frozenset()) - strong
    if not (strong or weak):
        return None
    if word not in catalogue.ratios:
        ratio = _log_odds_ratio(word, strong, weak, catalogue, snapshot)
        catalogue.ratios[word] = ratio if ratio >= MIN_LOG_ODDS_RATIO else None
    return catalogue.ratios[word]


def _log_odds_ratio(
    word: str,
    strong: Collection[int],
    weak: Collection[int],
    catalogue: Catalogue,
    snapshot: Snapshot,
) -> float:
    """Return how much more a word is in the passages of some documents than in the others.

    Every passage of a document holds the words of its path and title, on whichever
    of its pages it lies. 0 where there is nothing to choose from.
    """
    sizes = [sum(catalogue.passages[at] for at in group) for group in (strong, weak)]
    others = sum(catalogue.passages) - sum(sizes)
    terms = search_terms(word)[:1]
    if not (terms and sum(sizes) and others):
        return 0.0
    _, counts = snapshot.document_frequencies(PASSAGES, terms)
    everywhere = counts.get(terms[0], 0)
    held = [_held(terms, everywhere, group, catalogue, snapshot) for group in (strong, weak)]
    outside = max(everywhere - sum(held), 0)
    return lower_log_odds_ratio(sizes[0] + held[1], sum(sizes), outside, others)


def _held(
    terms: Sequence[str],
    everywhere: int,
    members: Collection[int],
    catalogue: Catalogue,
    snapshot: Snapshot,
) -> int:
    """Return how many passages of some documents hold a term."""
    if not everywhere or not members:
        return 0
    own = _select(snapshot, [catalogue.sources[at].document_id for at in members], None)
    return len(snapshot.search_words(PASSAGES, terms, everywhere, own))


def lower_log_odds_ratio(inside: int, size: int, outside: int, others: int) -> float:
    """Return the lower end of the 95 % interval of a log odds ratio.

    Args:
        inside: how many of ``size`` hold something.
        size: of the one group.
        outside: how many of ``others`` hold it.
        others: size of the other group.
    """
    counts = [inside, size - inside, outside, others - outside]
    a, b, c, d = (max(count, 0) + 0.5 for count in counts)
    error = math.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    return math.log(a * d / (b * c)) - _Z * error


def _narrowed(
    view: View, documents: set[str], before: set[str], filters: MetadataFilters | None
) -> View:
    """Return the view with one more tier, where that is some of its passages and not all.

    A tier of the same documents as the one ``before`` is the very same selection.
    """
    if not documents:
        return view
    if documents == before:
        return replace(view, preferred=view.preferred + view.preferred[-1:])
    tier = _select(view.snapshot, documents, filters)
    everything = view.snapshot.select() if view.within is None else view.within
    if not 0 < len(tier) < len(everything):
        return view
    return replace(view, preferred=(*view.preferred, tier))


def _select(
    snapshot: Snapshot, documents: Collection[str], filters: MetadataFilters | None
) -> Selection:
    ids = sorted(documents)
    named = MetadataFilter(key="document_id", value=ids, operator=FilterOperator.IN)
    return snapshot.select(MetadataFilters(filters=[named, *([filters] if filters else [])]))
