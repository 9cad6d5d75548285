"""Documents that the question names: found by their names, preferred, never required.

A word of the question names the documents in whose file name, title or first page
it stands, to the degree that it is theirs: by the odds that one of their passages
holds it, against the odds that another passage does. "Adobe" stands almost only in
Adobe's reports, "2015" mostly in those of that year, "cash" everywhere. What counts is
the lower end of the 95 % interval of the log odds ratio (B. Woolf 1955, with half a
passage added to each count, J. B. S. Haldane 1956): a word that stands once, and there
by chance, names nothing. Nothing here knows a language or a kind of document; the
words come from the documents.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import ClassVar
from weakref import WeakKeyDictionary

from llama_index.core.vector_stores.types import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from pipelines.text import search_terms
from rag_app.retrieval.names import joined_in, names_in
from rag_app.retrieval.rankings import View
from rag_app.store.protocol import Selection, Snapshot, SourceInfo, Store

# A word that raises the odds less than e times names nothing.
LEAST = 1.0
_Z = 1.96
# A word of the first page counts half: it may be there by chance.
FIRST_PAGE_WEIGHT = 0.5
# Documents with this share of the best one's score are named; with that share, best.
TIERS = (0.5, 0.9)
# One word of a file name, or two of a first page, are the least that name a document.
LEAST_SCORE = 1.0
# Below this many passages a document, ranking passages is ranking documents already.
LEAST_PASSAGES = 4
PASSAGES = "parent"
_FIRST_CHARACTERS = 2000
# Reading the first pages of more documents would cost more than a query may.
_MOST_FIRST_PAGES = 5000


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


@dataclass(frozen=True)
class Catalogue:
    """What the documents of one index are called, in one generation.

    Attributes:
        sources: the documents.
        passages: how many passages each has.
        strong: word → positions of the documents that have it in a file name or the title.
        weak: the same for first pages.
        ratios: word → log odds ratio, as far as asked for; None: it names nothing.
    """

    sources: Sequence[SourceInfo]
    passages: Sequence[int]
    strong: Mapping[str, frozenset[int]]
    weak: Mapping[str, frozenset[int]]
    ratios: dict[str, float | None] = field(default_factory=dict, compare=False)

    @property
    def applies(self) -> bool:
        """Tell whether there are documents to choose from, each of several passages."""
        count = sum(1 for passages in self.passages if passages)
        return count > 1 and sum(self.passages) >= LEAST_PASSAGES * count


class Catalogues:
    """The catalogue of one index, made anew when the index has changed."""

    # A retriever is made for every question: what it learns of a store outlives it.
    _of: ClassVar[WeakKeyDictionary[Store, Catalogues]] = WeakKeyDictionary()
    _guard = threading.Lock()

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: tuple[int, Catalogue] | None = None

    @classmethod
    def of(cls, store: Store) -> Catalogues:
        """Return the one that all retrievers over a store share."""
        with cls._guard:
            return cls._of.setdefault(store, cls())

    def get(self, snapshot: Snapshot) -> Catalogue:
        """Return the catalogue of the snapshot's generation."""
        with self._lock:
            if self._newest is None or self._newest[0] != snapshot.generation:
                self._newest = (snapshot.generation, read_catalogue(snapshot))
            return self._newest[1]


def read_catalogue(snapshot: Snapshot) -> Catalogue:
    """Return what the documents of an index are called."""
    sources = snapshot.sources()
    strong: dict[str, set[int]] = {}
    weak: dict[str, set[int]] = {}
    for position, source in enumerate(sources):
        for name in _own_names(source):
            strong.setdefault(name, set()).add(position)
        if len(sources) <= _MOST_FIRST_PAGES:
            for name in names_in(_first_page(snapshot, source.document_id)):
                weak.setdefault(name, set()).add(position)
    return Catalogue(
        sources=sources,
        passages=[source.nodes.get(PASSAGES, 0) for source in sources],
        strong={name: frozenset(found) for name, found in strong.items()},
        weak={name: frozenset(found) for name, found in weak.items()},
    )


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
    if best < LEAST_SCORE:
        return views, Preference()
    narrowed = list(views)
    for share in TIERS:
        chosen = [pair for pair in scored if pair[1].score >= share * best]
        narrowed = [
            _narrowed(view, {n.document_id for at, n in chosen if at == number}, own)
            for number, (view, own) in enumerate(zip(narrowed, filters, strict=True))
        ]
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
            name=catalogue.sources[position].names[0],
            origin=view.origin,
            score=math.fsum(words.values()),
            words=tuple(sorted(words, key=lambda word: (-words[word], word))),
        )
        for position, words in scores.items()
    ]


def _ratio(word: str, catalogue: Catalogue, snapshot: Snapshot) -> float | None:
    members = catalogue.strong.get(word, frozenset()) | catalogue.weak.get(word, frozenset())
    if not members:
        return None
    if word not in catalogue.ratios:
        ratio = log_odds_ratio(word, members, catalogue, snapshot)
        catalogue.ratios[word] = ratio if ratio >= LEAST else None
    return catalogue.ratios[word]


def log_odds_ratio(
    word: str, members: Collection[int], catalogue: Catalogue, snapshot: Snapshot
) -> float:
    """Return how much more a word is in the passages of some documents than in the others.

    0 where there is nothing to choose from.
    """
    size = sum(catalogue.passages[position] for position in members)
    others = sum(catalogue.passages) - size
    terms = search_terms(word)[:1]
    if not (terms and size and others):
        return 0.0
    _, counts = snapshot.document_frequencies(PASSAGES, terms)
    everywhere = counts.get(terms[0], 0)
    # A name that no passage holds is as good as one that a single one of them holds.
    inside = 1
    if everywhere:
        ids = [catalogue.sources[position].document_id for position in members]
        own = _select(snapshot, ids, None)
        inside = len(snapshot.search_words(PASSAGES, terms, everywhere, own))
    return lower_log_odds_ratio(inside, size, max(everywhere - inside, 0), others)


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


def _narrowed(view: View, documents: Collection[str], filters: MetadataFilters | None) -> View:
    """Return the view with one more tier, where that is some of its passages and not all."""
    if not documents:
        return view
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


def _own_names(source: SourceInfo) -> set[str]:
    texts = [*(PurePath(name).stem for name in source.names), source.title]
    return {name for text in texts for name in names_in(text) | joined_in(text)}


def _first_page(snapshot: Snapshot, document_id: str) -> str:
    pages = snapshot.pages(document_id, 0, 1)
    if pages and pages[0].number is not None:
        return pages[0].raw[:_FIRST_CHARACTERS]
    return snapshot.text(document_id, 0, _FIRST_CHARACTERS)
