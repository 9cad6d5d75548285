"""Document → parents, which are read, and children, which are searched and point at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.schema import BaseNode, TextNode, TransformComponent
from pydantic import Field, field_validator

from pipelines.errors import ConfigError
from pipelines.nodes import NodeMaker, header_of
from pipelines.passages import passages
from pipelines.splitters import splitter_spans
from pipelines.splitting import Breaks, Span, tile

__all__ = ["CHILD_SIZES", "PARENT_SIZE", "ChildParentParser", "header_of", "passages"]

PARENT_SIZE = 1024
CHILD_SIZES = (128, 256, 512)
MIN_SIZE_TOKENS = 16
# A child ends where its page does unless it would be tiny. The top of a page says what the
# page is about, and is found best when no text of another page stands before it.
_MIN_PAGE_SHARE = 0.15


class ChildParentParser(TransformComponent):
    """Parents of ``parent_size`` tokens, and for each child size children that tile them.

    Children are ``IndexNode`` objects whose ``index_id`` is their parent's id.

    Attributes:
        parent_size: maximum tokens of a parent.
        child_sizes: maximum tokens of a child, one kind of child for each.
        parent_splitter: any splitter of LlamaIndex, in place of ours.
        child_splitter: the same for the children; then ``child_sizes`` names one kind.
    """

    parent_size: int = Field(default=PARENT_SIZE, ge=MIN_SIZE_TOKENS)
    child_sizes: tuple[int, ...] = CHILD_SIZES
    parent_splitter: TransformComponent | None = None
    child_splitter: TransformComponent | None = None

    @field_validator("child_sizes")
    @classmethod
    def _distinct(cls, sizes: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(sizes)) != len(sizes) or any(size < MIN_SIZE_TOKENS for size in sizes):
            raise ValueError(f"child sizes must be distinct and at least {MIN_SIZE_TOKENS}")
        return sizes

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        """Return the parents of all documents, then their children, by size."""
        if self.child_splitter is not None and len(self.child_sizes) != 1:
            raise ConfigError(
                f"one child splitter cannot make {len(self.child_sizes)} kinds of children",
                hint="give child_sizes one number, which names the kind: child_sizes=(128,)",
            )
        parents: list[BaseNode] = []
        children: list[BaseNode] = []
        for document in nodes:
            own, below = self._parse(document)
            parents.extend(own)
            children.extend(below)
        return parents + children

    def _parse(self, document: BaseNode) -> tuple[list[TextNode], list[TextNode]]:
        maker = NodeMaker(document)
        settings = _settings(self.parent_size, self.parent_splitter)
        whole = (0, len(maker.text))
        ranks = maker.structure.ranks
        spans = _spans(maker, whole, self.parent_size, ranks, self.parent_splitter)
        parents = [maker.make(span, "parent", settings) for span in spans]
        ranks = (Breaks(maker.page_starts, _MIN_PAGE_SHARE), *ranks)
        children = [
            child
            for size in self.child_sizes
            for parent in parents
            for child in self._children(maker, parent, size, ranks)
        ]
        return parents, children

    def _children(
        self, maker: NodeMaker, parent: TextNode, size: int, ranks: Sequence[Breaks]
    ) -> Iterator[TextNode]:
        within = (parent.start_char_idx or 0, parent.end_char_idx or 0)
        # The parent's span, not its settings: an id depends on which text a child points at.
        settings = {**_settings(size, self.child_splitter), "within": within}
        for span in _spans(maker, within, size, ranks, self.child_splitter):
            yield maker.make(span, f"child-{size}", settings, parent=parent)


def _spans(
    maker: NodeMaker,
    within: Span,
    size: int,
    ranks: Sequence[Breaks],
    splitter: TransformComponent | None,
) -> list[Span]:
    if splitter is not None:
        return splitter_spans(splitter, maker.text, within)
    return list(tile(maker.text, within, size, ranks, maker.structure.tokens))


def _settings(size: int, splitter: TransformComponent | None) -> dict[str, object]:
    return {"size": size} if splitter is None else {"splitter": splitter.to_json()}
