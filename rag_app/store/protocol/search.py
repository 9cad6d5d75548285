"""What a question reads: ranked passages, their nodes, text and pages, of one generation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from pipelines.page_map import Page
from rag_app.store.array_types import Vector
from rag_app.store.protocol.values import Hit, How, IndexConfig, NodeSpan, Selection

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode
    from llama_index.core.vector_stores.types import MetadataFilters

    from pipelines.sentence_table import SentenceTable


class SearchSnapshot(Protocol):
    """What retrieval and answers read, in exactly one generation."""

    @property
    def generation(self) -> int:
        """The generation that this snapshot sees; each commit raises it."""
        ...

    @property
    def config(self) -> IndexConfig:
        """The configuration in this generation."""
        ...

    def search_vectors(
        self, kind: str, query: Vector, depth: int, within: Selection | None = None
    ) -> list[Hit]:
        """Return the ``depth`` best passages by cosine, each by its best node of ``kind``.

        Exact over all rows; scores fall; equal scores are ordered by passage id.
        """
        ...

    def search_words(
        self, kind: str, terms: Sequence[str], depth: int, within: Selection | None = None
    ) -> list[Hit]:
        """Return the ``depth`` best passages by BM25; only those with a term, scores above 0."""
        ...

    def document_frequencies(self, kind: str, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return how many nodes of ``kind`` have terms counted, and how many hold each term."""
        ...

    def select(
        self, filters: MetadataFilters | None = None, *, scripts: Collection[str] | None = None
    ) -> Selection:
        """Return the passages that the filters keep and whose script is one of ``scripts``.

        Keys: ``page`` (any page of the passage), ``page_label``, ``file_name``,
        ``file_path`` (any name of the content), ``document_id``, ``title``,
        ``script``, ``origin`` and the keys of the user's own document metadata.

        Raises:
            FilterError: a key is unknown (the error names the known ones), or a
                value cannot be compared with the operator given.
        """
        ...

    def scripts(self) -> Mapping[str, int]:
        """Return how many passages there are of each script."""
        ...

    def nodes(self, node_ids: Sequence[str]) -> dict[str, BaseNode]:
        """Return fresh copies of the nodes (text, metadata, relationships), by id."""
        ...

    def spans(self, node_ids: Sequence[str]) -> dict[str, NodeSpan]:
        """Return by id the spans of nodes whose text is that of their document there.

        Nodes with a text or pages of their own are left out.
        """
        ...

    def row_shares(self, passage_ids: Collection[str]) -> Mapping[str, float]:
        """Return how much of each passage stands in rows of tables, 0 to 1, by id.

        Passages without a table are left out; so are all of an index that was made before
        it was noted (``IndexConfig.row_shares``).
        """
        ...

    def children(self, passage_id: str, kind: str | None = None) -> list[BaseNode]:
        """Return fresh copies of the nodes that lead to a passage, by position."""
        ...

    def text(self, document_id: str, start: int, end: int) -> str:
        """Return characters ``start`` to ``end`` of a document's derived text."""
        ...

    def sentences(self, document_id: str, start: int, end: int) -> SentenceTable | None:
        """Return the sentences that begin within a span of the derived text.

        None: the document was written without its sentence table.
        """
        ...

    def pages(self, document_id: str, start: int = 0, end: int | None = None) -> list[Page]:
        """Return the pages that overlap a span of the document, with their raw text."""
        ...

    def page_spans(self, document_id: str, start: int, end: int) -> list[Page]:
        """Return the pages that overlap a span of the document, without their raw text."""
        ...

    def has_kind(self, kind: str, how: How) -> bool:
        """Tell whether nodes of this kind were built to be searched in this way."""
        ...
