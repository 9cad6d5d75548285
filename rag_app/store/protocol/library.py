"""The contents of an index, with their names, documents, nodes and vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rag_app.store.protocol.values import How, Prepared, SourceInfo

if TYPE_CHECKING:
    from llama_index.core.schema import Document


class LibrarySnapshot(Protocol):
    """What ingestion, merging and information read, in exactly one generation."""

    def sources(self) -> list[SourceInfo]:
        """Return what the index holds, by first name."""
        ...

    def source(self, content_hash: str) -> SourceInfo | None:
        """Return one content, or ``None`` when the index does not hold it."""
        ...

    def find(self, name: str) -> SourceInfo | None:
        """Return the content that was given under this name, or ``None``."""
        ...

    def is_empty(self) -> bool:
        """Tell whether the index holds no content."""
        ...

    def names(self) -> list[str]:
        """Return every name of every content, sorted."""
        ...

    def document(self, content_hash: str) -> Document:
        """Return the Document of a content as it was read: text, page map, metadata.

        Raises:
            KeyError: the index does not hold it.
        """
        ...

    def export(self, content_hash: str) -> Prepared:
        """Return all of one content as it was written, for a merge.

        Raises:
            KeyError: the index does not hold it.
        """
        ...

    def incomplete(self, kind: str, how: How) -> list[str]:
        """Return the content hashes for which this kind is still to be built."""
        ...
