"""Citations: numbered in the order of first use, one per source, only those used."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from pipelines.page_map import Page
from rag_app.answer.evidence import Evidence
from rag_app.answer.quotes import label_of, quote_of
from rag_app.answer.response import Citation, Quote
from rag_app.passages import Passage

UNVERIFIED_QUOTE = "its quote was not found on the page's text"


@dataclass
class _CitedSource:
    passage: int
    quotes: list[Quote] = field(default_factory=list)


class CitationBook:
    """Gives numbers to sources as they are used, and gathers their quotes.

    Args:
        passages: what may be cited.
        evidence: where the pages' raw text comes from.
    """

    def __init__(self, passages: Sequence[Passage], evidence: Evidence) -> None:
        self._passages = passages
        self._evidence = evidence
        self._pages: dict[int, list[Page]] = {}
        self._texts: dict[int, str] = {}
        self._numbers: dict[Hashable, int] = {}
        self._entries: list[_CitedSource] = []

    def number_of(self, passage: int, *, key: Hashable = None) -> int:
        """Return the number of a source, a new one on its first use.

        Args:
            passage: index of the passage.
            key: what makes two uses the same source; by default the passage itself.
        """
        key = ("passage", passage) if key is None else key
        if key not in self._numbers:
            self._entries.append(_CitedSource(passage))
            self._numbers[key] = len(self._entries)
        return self._numbers[key]

    def quote(self, passage: int, start: int, end: int) -> Quote:
        """Return a stretch of a passage as a quote, checked on its page."""
        source = self._passages[passage]
        if source.pages and source.start is not None:
            return quote_of(source, start, end, self.pages(passage))
        if passage not in self._texts:
            self._texts[passage] = self._evidence.text(source)
        return quote_of(source, start, end, [_whole(source, self._texts[passage])])

    def add(self, number: int, quote: Quote) -> None:
        """Add a quote to a citation, once."""
        quotes = self._entries[number - 1].quotes
        if quote not in quotes:
            quotes.append(quote)

    def pages(self, passage: int) -> list[Page]:
        """Return the pages of a passage."""
        if passage not in self._pages:
            self._pages[passage] = self._evidence.pages(self._passages[passage])
        return self._pages[passage]

    def confidence(self, passage: int, pages: Iterable[int]) -> float | None:
        """Return how sure OCR is of the least certain of pages; None: it read none of them."""
        read = self._evidence.ocr_pages(self._passages[passage])
        return min((read[page] for page in pages if page in read), default=None)

    def citations(self) -> list[Citation]:
        """Return all citations that were given a number."""
        return [self._citation(number, entry) for number, entry in enumerate(self._entries, 1)]

    def _citation(self, number: int, entry: _CitedSource) -> Citation:
        passage = self._passages[entry.passage]
        quoted = [page for quote in entry.quotes for page in quote.pages]
        page = next(iter([*quoted, *passage.pages]), None)
        label = label_of(page, self.pages(entry.passage), passage)
        pages = sorted(set(quoted)) or list(passage.pages)
        confidence = self.confidence(entry.passage, pages)
        return Citation(
            number=number,
            origin=passage.origin,
            file=passage.file,
            path=passage.path,
            page=page,
            page_label=label,
            pages=pages,
            quotes=list(entry.quotes),
            read_by="text" if confidence is None else "ocr",
            confidence=confidence,
            content_hash=passage.document_id,
        )


def _whole(passage: Passage, text: str) -> Page:
    """Return a document without pages as one page, to check quotes against."""
    start = passage.start or 0
    return Page(number=None, label="", start=start, end=start + len(passage.text), raw=text)
