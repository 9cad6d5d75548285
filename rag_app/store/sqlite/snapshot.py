"""A reader's view of exactly one generation: one read transaction per query."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pipelines.errors import EmbeddingError
from pipelines.page_map import Page
from rag_app.store.array_types import Bools, Vector
from rag_app.store.config import load_config
from rag_app.store.engine.bm25 import LexicalSearch
from rag_app.store.engine.cosine import DenseSearch
from rag_app.store.engine.ranking import Scored
from rag_app.store.protocol import Hit, How, IndexConfig, NodeSpan, Prepared, Selection, SourceInfo
from rag_app.store.sqlite import blobs
from rag_app.store.sqlite import filters as filtering
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.explaining import ForeignSelectionError, NotHereError, explained
from rag_app.store.sqlite.filters import PassageSelection
from rag_app.store.sqlite.node_reader import NodeReader
from rag_app.store.sqlite.passage_table import PassageTable, load_passages
from rag_app.store.sqlite.segment_cache import SegmentCache
from rag_app.store.sqlite.source_rows import read_sources
from rag_app.store.sqlite.state import read_state

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode, Document
    from llama_index.core.vector_stores.types import MetadataFilters

    from pipelines.sentence_table import SentenceTable


K = TypeVar("K")
S = TypeVar("S")
T = TypeVar("T")
_MAX_CACHED_SEARCHES = 8  # a question and those that a model wrote: each holds a score a row
_MAX_ROW_SHARES = 50_000  # remembered between queries: some 10 MB


class SqliteSnapshot:
    """Answers from one read transaction; the store opens and ends it."""

    def __init__(self, sql: sqlite3.Connection, cache: SegmentCache) -> None:
        self._sql = sql
        self._cache = cache
        self._documents: dict[str, int] = {}
        self._term_ids: dict[str, int | None] = {}
        # The same query is put to several selections of passages.
        self._vector_searches: dict[tuple[int, bytes], DenseSearch] = {}
        self._word_searches: dict[tuple[int, tuple[str, ...]], LexicalSearch] = {}
        self._found: set[str] = set()  # ids of what a search found, which must be there
        state = read_state(sql, cache.folder)
        self._rows = cache.rows_of(state.identity)
        self._sums = Checksums.of(state.identity, cache.folder)
        self._reader = NodeReader(sql, self._sums, self._rows)
        self._stamp = (state.generation, state.epoch)
        self._config = load_config(state.config)

    @property
    def generation(self) -> int:
        """The generation that this snapshot sees."""
        return self._stamp[0]

    @property
    def config(self) -> IndexConfig:
        """The configuration in this generation."""
        return self._config

    @explained
    def search_vectors(
        self, kind: str, query: Vector, depth: int, within: Selection | None = None
    ) -> list[Hit]:
        """Return the ``depth`` best passages by cosine, each by its best node of ``kind``."""
        number = self._kind(kind)
        if number is None:
            return []
        vector = np.asarray(query, dtype=np.float32).reshape(-1)
        if len(vector) != self._config.dimension:
            raise EmbeddingError(
                f"the question's vector has {len(vector)} numbers; the index holds vectors "
                f"of {self._config.dimension}",
                hint="open the index with the embedding model it was made with",
            )
        search = _kept(
            self._vector_searches,
            (number, vector.tobytes()),
            lambda: self._cache.vectors(self._sql, number, self._stamp).search(vector),
        )
        return self._hits(search.best(depth, self._mask(within)), depth)

    @explained
    def search_words(
        self, kind: str, terms: Sequence[str], depth: int, within: Selection | None = None
    ) -> list[Hit]:
        """Return the ``depth`` best passages by BM25; only those with a term, scores above 0."""
        number = self._kind(kind)
        if number is None:
            return []

        def make() -> LexicalSearch:
            index = self._cache.words(self._sql, number, self._stamp)
            return index.search([found for found in self._terms(terms) if found is not None])

        search = _kept(self._word_searches, (number, tuple(terms)), make)
        return self._hits(search.best(depth, self._mask(within)), depth)

    @explained
    def document_frequencies(self, kind: str, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return how many nodes of ``kind`` have terms counted, and how many hold each term."""
        number = self._kind(kind)
        if number is None:
            return 0, dict.fromkeys(terms, 0)
        index = self._cache.words(self._sql, number, self._stamp)
        found = zip(terms, self._terms(terms), strict=True)
        return index.count, {
            term: 0 if term_id is None else index.frequency(term_id) for term, term_id in found
        }

    @explained
    def select(
        self, filters: MetadataFilters | None = None, *, scripts: Collection[str] | None = None
    ) -> PassageSelection:
        """Return the passages that the filters keep and whose script is one of ``scripts``."""
        return filtering.select(self._passages(), filters, scripts)

    @explained
    def scripts(self) -> Mapping[str, int]:
        """Return how many passages there are of each script."""
        statement = "SELECT script, count(*) FROM nodes WHERE passage = node GROUP BY script"
        return self._remember("scripts", lambda: dict(self._sql.execute(statement).fetchall()))

    @explained
    def nodes(self, node_ids: Sequence[str]) -> dict[str, BaseNode]:
        """Return fresh copies of the nodes (text, metadata, relationships), by id."""
        nodes = self._reader.nodes(node_ids)
        if len(nodes) < len(node_ids):
            missing = [one for one in node_ids if one in self._found and one not in nodes]
            if missing:
                raise self._sums.damaged(f"node {missing[0]} was found and is not there")
        return nodes

    @explained
    def spans(self, node_ids: Sequence[str]) -> dict[str, NodeSpan]:
        """Return where nodes lie that say what their document says there, by id."""
        return self._reader.spans(node_ids)

    @explained
    def row_shares(self, passage_ids: Collection[str]) -> Mapping[str, float]:
        """Return how much of each passage stands in rows of tables, 0 to 1, by id."""
        if not self._config.row_shares:
            return {}
        # Within a generation nothing changes: a passage is read once.
        known: dict[str, float] = self._remember("row_shares", dict)
        found = {one: known[one] for one in passage_ids if one in known}
        if new := [one for one in passage_ids if one not in found]:
            read = dict.fromkeys(new, 0.0) | self._reader.row_shares(new)
            found |= read
            if len(known) < _MAX_ROW_SHARES:
                known.update(read)
        return {one: share for one, share in found.items() if share}

    @explained
    def children(self, passage_id: str, kind: str | None = None) -> list[BaseNode]:
        """Return fresh copies of the nodes that lead to a passage, by position."""
        return self._reader.children(passage_id, kind)

    @explained
    def text(self, document_id: str, start: int, end: int) -> str:
        """Return characters ``start`` to ``end`` of a document's derived text."""
        return self._reader.text(self._document(document_id), start, end)

    @explained
    def sentences(self, document_id: str, start: int, end: int) -> SentenceTable | None:
        """Return the sentences that begin within a span of the text; None: no table."""
        return self._reader.sentences(self._document(document_id), start, end)

    @explained
    def pages(self, document_id: str, start: int = 0, end: int | None = None) -> list[Page]:
        """Return the pages that overlap a span of the document, with their raw text."""
        return self._reader.raw_pages(self._document(document_id), start, end)

    @explained
    def page_spans(self, document_id: str, start: int, end: int) -> list[Page]:
        """Return the pages that overlap a span of the document, without their raw text."""
        return self._reader.pages(self._document(document_id), start, end)

    @explained
    def sources(self) -> list[SourceInfo]:
        """Return what the index holds, by first name."""
        return list(self._remember("sources", lambda: _ordered(read_sources(self._sql))))

    @explained
    def source(self, content_hash: str) -> SourceInfo | None:
        """Return one content, or ``None`` when the index does not hold it."""
        content = self._content(content_hash)
        return None if content is None else read_sources(self._sql, content)[0]

    @explained
    def find(self, name: str) -> SourceInfo | None:
        """Return the content that was given under this name, or ``None``."""
        row = self._sql.execute(
            "SELECT content FROM names WHERE name = ? ORDER BY name_row", (name,)
        ).fetchone()
        return None if row is None else read_sources(self._sql, row[0])[0]

    @explained
    def is_empty(self) -> bool:
        """Tell whether the index holds no content."""
        (held,) = self._sql.execute("SELECT EXISTS (SELECT 1 FROM contents)").fetchone()
        return not held

    @explained
    def names(self) -> list[str]:
        """Return every name of every content, sorted."""
        rows = self._sql.execute("SELECT DISTINCT name FROM names ORDER BY name")
        return [name for (name,) in rows.fetchall()]

    @explained
    def document(self, content_hash: str) -> Document:
        """Return the Document of a content as it was read: text, page map, metadata."""
        return self._reader.document(self._content_or_error(content_hash))

    @explained
    def export(self, content_hash: str) -> Prepared:
        """Return all of one content as it was put: what a merge writes elsewhere."""
        from rag_app.store.sqlite.exporting import export_content

        return export_content(
            self._sql, self._sums, self._content_or_error(content_hash), self._reader
        )

    @explained
    def has_kind(self, kind: str, how: How) -> bool:
        """Tell whether nodes of this kind were built to be searched in this way.

        True of an empty index whose configuration names the kind, and of one
        where at least one content has it.
        """
        named = self._config.vector_kinds if how == "vectors" else self._config.word_kinds
        if kind not in named:
            return False
        (count,) = self._sql.execute("SELECT count(*) FROM contents").fetchone()
        return not count or len(self.incomplete(kind, how)) < count

    @explained
    def incomplete(self, kind: str, how: How) -> list[str]:
        """Return the content hashes for which this kind is still to be built."""
        rows = self._sql.execute("SELECT content_hash, built FROM contents ORDER BY content")
        wanted = f"{kind}:{how}"
        return [found for found, built in rows.fetchall() if wanted not in json.loads(built)]

    def _hits(self, scored: Sequence[Scored], depth: int) -> list[Hit]:
        rows = [row for passage, node, _ in scored for row in (passage, node)]
        ids = self._rows.ids(self._sql, rows)
        missing = next((row for row in rows if row not in ids), None)
        if missing is not None:
            raise self._sums.damaged(f"node {missing} was found and is not there")
        self._found.update(ids[row] for row in rows)
        ordered = sorted([(-score, ids[passage], ids[node]) for passage, node, score in scored])
        return [Hit(passage, node, -below) for below, passage, node in ordered[:depth]]

    def _terms(self, terms: Collection[str]) -> list[int | None]:
        """Return the number of each term; None for one that the index does not know."""
        new = [term for term in terms if term not in self._term_ids]
        if new:
            found = blobs.find_terms(self._sql, new)
            self._term_ids |= {term: found.get(term) for term in new}
        return [self._term_ids[term] for term in terms]

    def _passages(self) -> PassageTable:
        return self._remember("passages", lambda: load_passages(self._sql, self.generation))

    def _remember(self, key: str, make: Callable[[], T]) -> T:
        return self._cache.of_generation(key, self.generation, make)

    def _mask(self, within: Selection | None) -> Bools | None:
        if within is None:
            return None
        if not isinstance(within, PassageSelection) or within.generation != self.generation:
            raise ForeignSelectionError("a selection is of use only in the snapshot that made it")
        # Arrays may still hold rows of nodes that are gone: any row ever given is possible.
        last = self._sql.execute("SELECT seq FROM sqlite_sequence WHERE name = 'nodes'").fetchone()
        return within.mask((last[0] if last else 0) + 1)

    def _kind(self, name: str) -> int | None:
        statement = "SELECT name, kind FROM kinds"
        kinds = self._remember("kinds", lambda: dict(self._sql.execute(statement).fetchall()))
        return kinds.get(name)

    def _document(self, document_id: str) -> int:
        if document_id not in self._documents:
            row = self._sql.execute(
                "SELECT content FROM contents WHERE document_id = ?", (document_id,)
            ).fetchone()
            if row is None:
                raise NotHereError(document_id)
            self._documents[document_id] = int(row[0])
        return self._documents[document_id]

    def _content(self, content_hash: str) -> int | None:
        row = self._sql.execute(
            "SELECT content FROM contents WHERE content_hash = ?", (content_hash,)
        ).fetchone()
        return None if row is None else int(row[0])

    def _content_or_error(self, content_hash: str) -> int:
        content = self._content(content_hash)
        if content is None:
            raise NotHereError(content_hash)
        return content


def _kept(searches: dict[K, S], key: K, make: Callable[[], S]) -> S:
    """Return a search of this query, made once; only the last few are kept."""
    if key not in searches:
        if len(searches) >= _MAX_CACHED_SEARCHES:
            del searches[next(iter(searches))]
        searches[key] = make()
    return searches[key]


def _ordered(sources: list[SourceInfo]) -> list[SourceInfo]:
    return sorted(sources, key=lambda source: (source.names[:1], source.content_hash))
