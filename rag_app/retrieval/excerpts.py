"""What evidence needs of a node that an arm found: its text, and where that stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from llama_index.core.schema import BaseNode

from rag_app.retrieval.candidates import fetch
from rag_app.retrieval.rankings import IndexHit, View
from rag_app.store.protocol import NodeSpan


class Excerpt(NamedTuple):
    """A text and its place.

    Attributes:
        node_id: of the node.
        text: of the node.
        pages: physical numbers of its pages.
        document_id: of its document; None: of none.
        start, end: its span in the document's derived text; None: not known.
    """

    node_id: str
    text: str
    pages: Sequence[int]
    document_id: str | None
    start: int | None
    end: int | None

    @property
    def span(self) -> tuple[int, int] | None:
        """Return the span in the document, where the text is what stands there."""
        if self.document_id is None or self.start is None or self.end is None:
            return None
        # A user's passage may say more than its place in the document.
        return (self.start, self.end) if self.end - self.start == len(self.text) else None


def excerpt_of(node: BaseNode) -> Excerpt:
    """Return what evidence needs of a node that was read."""
    return Excerpt(
        node_id=node.node_id,
        text=node.get_content(),
        pages=node.metadata.get("pages") or (),
        document_id=node.ref_doc_id,
        start=getattr(node, "start_char_idx", None),
        end=getattr(node, "end_char_idx", None),
    )


def read_excerpts(
    found: Iterable[IndexHit], passages: Mapping[tuple[View, str], BaseNode]
) -> dict[str, Excerpt]:
    """Return the nodes that were found, by id; what no index holds any more is left out.

    Most are parts of passages that were read already: of these only the places are read.

    Args:
        found: what the arms found.
        passages: those that were read, by index and id.
    """
    excerpts: dict[str, Excerpt] = {}
    left = {}
    for one in found:
        if (one.view, one.node_id) in passages:
            excerpts[one.node_id] = excerpt_of(passages[one.view, one.node_id])
        else:
            left[one.node_id] = one
    for view in dict.fromkeys(one.view for one in left.values()):
        ids = [key for key, one in left.items() if one.view is view]
        for key, place in view.snapshot.spans(ids).items():
            excerpts[key] = _part(left[key], place, passages.get((view, left[key].passage_id)))
    others = fetch(left.keys() - excerpts.keys(), lambda key: left[key].view)
    return excerpts | {key: excerpt_of(node) for key, node in others.items()}


def _part(found: IndexHit, place: NodeSpan, passage: BaseNode | None) -> Excerpt:
    """Return the part of a passage that lies at a place of the document."""
    document_id, start, end, pages = place
    whole = excerpt_of(passage) if passage is not None else None
    if (
        whole is not None
        and whole.span is not None
        and whole.document_id == document_id
        and whole.span[0] <= start
        and end <= whole.span[1]
    ):
        text = whole.text[start - whole.span[0] : end - whole.span[0]]
    else:
        text = found.view.snapshot.text(document_id, start, end)
    return Excerpt(found.node_id, text, pages, document_id, start, end)
