"""What the documents of an index are called: by their paths, titles and first pages."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import ClassVar
from weakref import WeakKeyDictionary

from pipelines.file_names import original
from rag_app.retrieval.names import joined_in, names_in
from rag_app.store.protocol import Snapshot, SourceInfo, Store

PASSAGES = "parent"
# Passages that a user cut himself are searched among the parents.
_KINDS = (PASSAGES, "passage")
# Below this many passages a document, ranking passages is ranking documents already.
MIN_PASSAGES_A_DOCUMENT = 4
_FIRST_CHARACTERS = 2000
# Reading the first pages of more documents would cost more than a query may; then
# paths and titles alone name them.
_MAX_FIRST_PAGES = 500


@dataclass(frozen=True)
class Catalogue:
    """What the documents of one index are called, in one generation.

    Attributes:
        sources: the documents.
        passages: how many passages each has.
        strong: word → positions of the documents that have it in a file name, a folder
            or the title.
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
        return count > 1 and sum(self.passages) >= MIN_PASSAGES_A_DOCUMENT * count


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
    passages = [sum(source.nodes.get(kind, 0) for kind in _KINDS) for source in sources]
    catalogue = Catalogue(sources, passages, {}, {})
    if not catalogue.applies:
        return catalogue
    strong = _positions(map(_own_names, sources))
    weak: Mapping[str, frozenset[int]] = {}
    if len(sources) <= _MAX_FIRST_PAGES:
        weak = _positions(names_in(_first_page(snapshot, s.document_id)) for s in sources)
    return replace(catalogue, strong=strong, weak=weak)


def _positions(names: Iterable[set[str]]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for position, own in enumerate(names):
        for name in own:
            found.setdefault(name, set()).add(position)
    return {name: frozenset(positions) for name, positions in found.items()}


def _own_names(source: SourceInfo) -> set[str]:
    paths = [PurePath(original(name)) for name in source.names]
    folders = {part for path in paths for part in path.parts[:-1]}
    texts = [source.title, *(path.stem for path in paths), *sorted(folders)]
    return {name for text in texts for name in names_in(text) | joined_in(text)}


def _first_page(snapshot: Snapshot, document_id: str) -> str:
    pages = snapshot.pages(document_id, 0, 1)
    if pages and pages[0].number is not None:
        return pages[0].raw[:_FIRST_CHARACTERS]
    return snapshot.text(document_id, 0, _FIRST_CHARACTERS)
