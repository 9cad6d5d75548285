"""What an answer needs to know of the index beyond the passages themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import PurePath
from typing import Protocol

from llama_index.core.schema import MetadataMode

from pipelines.margins import split_margins
from pipelines.page_map import Page
from pipelines.sentence_table import SentenceTable
from pipelines.text import language_name, normalise
from rag_app.answer.response import UnreadPages
from rag_app.passages import Passage
from rag_app.store import idf
from rag_app.store.protocol import Snapshot, SourceInfo

# For naming the documents' languages: the beginnings of a few of them.
_SAMPLE_SOURCES = 8
_SAMPLE_CHARACTERS = 2000
# Characters of a document before and after a passage in which running heads are looked for, and
# pages without which a line is not known to run.
MARGIN_REACH = 20_000
MIN_MARGIN_PAGES = 3
# Stretches of pages whose running heads are remembered, of about 100 KB each: questions that follow
# one another read the same ones.
_CACHED_STRETCHES = 64


class Evidence(Protocol):
    """Pages to check quotes on, weights of words, scripts of the passages."""

    def pages(self, passage: Passage) -> list[Page]:
        """Return the pages that a passage lies on, with their raw text (none without pages)."""
        ...

    def text(self, passage: Passage) -> str:
        """Return the stored text of a passage's span, to check it without pages."""
        ...

    def sentences(self, passage: Passage) -> SentenceTable | None:
        """Return the sentences that begin in a passage's text (None: not known)."""
        ...

    def idf(self, terms: Collection[str]) -> dict[str, float]:
        """Return the weight of each term: the rarer in the passages, the higher, above 0."""
        ...

    def frequencies(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return how many passages there are (0: not known), and how many hold each term."""
        ...

    def margins(self, passage: Passage) -> frozenset[str]:
        """Return the running heads and feet around a passage, as :func:`margin_line` has them."""
        ...

    def scripts(self) -> Mapping[str, int]:
        """Return how many passages there are of each script (empty: not known)."""
        ...

    def languages(self) -> list[str]:
        """Return names of the languages that the documents are in (empty: not known)."""
        ...

    def is_multilingual(self) -> bool:
        """Tell whether the embedding model knows more than one language."""
        ...

    def unread_pages(self) -> list[UnreadPages]:
        """Return the pages without a text layer, by file (none: none, or not known)."""
        ...

    def ocr_pages(self, passage: Passage) -> Mapping[int, float]:
        """Return the pages of a passage's file that OCR read, with confidence, 0 to 1."""
        ...


class NoEvidence:
    """Evidence for passages of which nothing else is known (a retriever of the user's own)."""

    def pages(self, passage: Passage) -> list[Page]:
        """Return no page."""
        return []

    def text(self, passage: Passage) -> str:
        """Return the passage's own text: nothing else is known."""
        return passage.text

    def sentences(self, passage: Passage) -> None:
        """Return None: not known."""

    def idf(self, terms: Collection[str]) -> dict[str, float]:
        """Return the same weight for all."""
        return dict.fromkeys(terms, 1.0)

    def frequencies(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return nothing: not known."""
        return 0, dict.fromkeys(terms, 0)

    def margins(self, passage: Passage) -> frozenset[str]:
        """Return nothing: not known."""
        return frozenset()

    def scripts(self) -> Mapping[str, int]:
        """Return nothing: not known."""
        return {}

    def languages(self) -> list[str]:
        """Return nothing: not known."""
        return []

    def is_multilingual(self) -> bool:
        """Return True: nothing is claimed of a model that is not known."""
        return True

    def unread_pages(self) -> list[UnreadPages]:
        """Return nothing: not known."""
        return []

    def ocr_pages(self, passage: Passage) -> dict[int, float]:
        """Return nothing: not known."""
        return {}


class IndexEvidence:
    """Evidence out of one generation of one or several indexes.

    Args:
        snapshots: those of one question's session, by the name of their origin.
    """

    def __init__(self, snapshots: Mapping[str, Snapshot]) -> None:
        self._snapshots = snapshots
        self._margins: dict[tuple[str, str, int], frozenset[str]] = {}

    def pages(self, passage: Passage) -> list[Page]:
        """Return the pages that a passage lies on; none when its document is not there."""
        snapshot = self._snapshot_of(passage)
        if snapshot is None:
            return []
        try:
            return snapshot.pages(passage.document_id, passage.start or 0, passage.end)
        except KeyError:
            # A retriever of the user's own may read another generation.
            return []

    def text(self, passage: Passage) -> str:
        """Return the stored text of a passage's span; of a ready passage, the stored node's."""
        snapshot = self._snapshot_of(passage)
        if snapshot is None:
            return self._node_text(passage)
        try:
            return snapshot.text(passage.document_id, passage.start or 0, passage.end or 0)
        except KeyError:
            return ""

    def sentences(self, passage: Passage) -> SentenceTable | None:
        """Return the sentences that begin in a passage's text, if the index knows."""
        snapshot = self._snapshot_of(passage)
        if snapshot is None or passage.start is None or passage.end is None:
            return None
        try:
            table = snapshot.sentences(passage.document_id, passage.start, passage.end)
        except KeyError:
            return None
        return None if table is None else table.moved(-passage.start)

    def idf(self, terms: Collection[str]) -> dict[str, float]:
        """Return BM25's weight of each term over the passages of all indexes."""
        total, counts = self.frequencies(terms)
        return {term: idf(total, count) if total else 1.0 for term, count in counts.items()}

    def frequencies(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return how many passages there are in all indexes, and how many hold each term."""
        total, counts = 0, dict.fromkeys(terms, 0)
        for snapshot in self._snapshots.values():
            kind = _word_kind(snapshot)
            if kind is None:
                continue
            size, frequencies = snapshot.document_frequencies(kind, terms)
            total += size
            for term, count in frequencies.items():
                counts[term] = counts.get(term, 0) + count
        return total, counts

    def margins(self, passage: Passage) -> frozenset[str]:
        """Return the running heads and feet around a passage, found on its pages and those near."""
        snapshot = self._snapshot_of(passage)
        if snapshot is None:
            return frozenset()
        start, end = passage.start or 0, passage.end or 0
        key = (passage.origin, passage.document_id, start // MARGIN_REACH)
        if key not in self._margins:
            try:
                around = (max(0, start - MARGIN_REACH), end + MARGIN_REACH)
                pages = snapshot.pages(passage.document_id, *around)
            except KeyError:
                pages = []
            self._margins[key] = running_lines(pages)
        return self._margins[key]

    def scripts(self) -> Mapping[str, int]:
        """Return how many passages there are of each script, in all indexes."""
        total: dict[str, int] = {}
        for snapshot in self._snapshots.values():
            for script, count in snapshot.scripts().items():
                total[script] = total.get(script, 0) + count
        return total

    def languages(self) -> list[str]:
        """Return names of the languages of the first documents, in the order found."""
        names: dict[str, None] = {}
        for snapshot in self._snapshots.values():
            for source in snapshot.sources()[:_SAMPLE_SOURCES]:
                text = snapshot.text(source.document_id, 0, _SAMPLE_CHARACTERS)
                if text.strip():
                    names[language_name(text)] = None
        return list(names)

    def is_multilingual(self) -> bool:
        """Tell whether the embedding model of some index knows more than one script."""
        for snapshot in self._snapshots.values():
            config = snapshot.config
            if config.embed_model and ("*" in config.scripts or len(config.scripts) > 1):
                return True
        return False

    def unread_pages(self) -> list[UnreadPages]:
        """Return the pages without a text layer of the files in all indexes."""
        return [
            UnreadPages(_file_of(source), sorted(chain.from_iterable(states.values())), states)
            for snapshot in self._snapshots.values()
            for source in snapshot.sources()
            if (states := _unread_states(source))
        ]

    def ocr_pages(self, passage: Passage) -> Mapping[int, float]:
        """Return the pages of a passage's file that OCR read, with confidence, 0 to 1."""
        snapshot = self._snapshot_of(passage)
        # The id of a PDF's Document is the hash of its content.
        source = snapshot.source(passage.document_id) if snapshot is not None else None
        return source.ocr_pages if source is not None else {}

    def _snapshot_of(self, passage: Passage) -> Snapshot | None:
        if not passage.document_id or passage.start is None:
            return None
        return self._named(passage.origin)

    def _named(self, origin: str) -> Snapshot | None:
        snapshot = self._snapshots.get(origin)
        if snapshot is None and len(self._snapshots) == 1:
            snapshot = next(iter(self._snapshots.values()))
        return snapshot

    def _node_text(self, passage: Passage) -> str:
        snapshot = self._named(passage.origin)
        if snapshot is None:
            return ""
        node = snapshot.nodes(passage.node_ids[:1]).get(passage.node_ids[0])
        return node.get_content(metadata_mode=MetadataMode.NONE) if node is not None else ""


def running_lines(pages: Sequence[Page]) -> frozenset[str]:
    """Return the running heads and feet of neighbouring pages, as :func:`margin_line` has them."""
    if len(pages) < MIN_MARGIN_PAGES:
        return frozenset()
    return _running_lines(tuple(page.raw for page in pages), tuple(page.label for page in pages))


@lru_cache(maxsize=_CACHED_STRETCHES)
def _running_lines(raw: tuple[str, ...], labels: tuple[str, ...]) -> frozenset[str]:
    split = split_margins(raw, labels)
    lines = (line for page in split for line in (*page.head, *page.foot))
    return frozenset(filter(None, map(margin_line, lines)))


def margin_line(text: str) -> str:
    """Return a line as margins are compared: normal letters alone, without numbers and blanks."""
    return "".join(filter(str.isalpha, normalise(text)))


def _unread_states(source: SourceInfo) -> dict[str, list[int]]:
    """Return the pages that hold something which was not read, by the reason."""
    states = source.page_states.items()
    return {state: list(pages) for state, pages in states if state != "empty"}


def _file_of(source: SourceInfo) -> str:
    return PurePath(source.names[0]).name if source.names else source.document_id


def _word_kind(snapshot: Snapshot) -> str | None:
    kinds = snapshot.config.word_kinds
    if "parent" in kinds:
        return "parent"
    return kinds[0] if kinds else None
