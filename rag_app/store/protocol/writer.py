"""Writing to an index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from rag_app.store.protocol.values import IndexConfig, Prepared

if TYPE_CHECKING:
    pass


class Writer(Protocol):
    """The one writer of an index; each method is one transaction."""

    def put(self, prepared: Prepared) -> Literal["added", "replaced"]:
        """Write one file; contents that had one of its names lose that name."""
        ...

    def extend(self, prepared: Prepared) -> None:
        """Add nodes, vectors and terms to a content that is here; what it has stays.

        Nodes whose id is here already are not written again, nor are vectors
        or terms of a kind that has them. ``prepared.names`` are not looked at.

        Raises:
            KeyError: the index does not hold this content.
        """
        ...

    def configure(self, config: IndexConfig) -> None:
        """Record another configuration (more kinds).

        Raises:
            IndexMismatchError: it would change more than kinds and number format.
        """
        ...

    def add_name(self, content_hash: str, name: str, *, origin: str = "") -> None:
        """Record one more name of a content that is already here.

        Another content that had this name loses it, and goes when it was its last.

        Raises:
            KeyError: the index does not hold this content.
        """
        ...

    def rename(self, names: Mapping[str, Sequence[str]]) -> None:
        """Give contents (by hash) these names in place of their present ones, all at once.

        Names may go from one of them to another; what else had one loses it, and goes
        when it was its last. A title that begins with an old name begins with the
        first new one.

        Raises:
            KeyError: the index does not hold one of them; nothing is renamed.
        """
        ...

    def remove(self, names: Iterable[str]) -> int:
        """Remove names, and contents that have none left with all their nodes.

        Returns how many contents were removed; unknown names are ignored.
        """
        ...
