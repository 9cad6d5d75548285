"""Fused ids → the passages that are read: k distinct ones, overlapping windows merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from llama_index.core.schema import BaseNode

from pipelines.splitting import Span
from rag_app.passages import hull, overlap
from rag_app.retrieval.fusion import Fused
from rag_app.retrieval.rankings import View


@dataclass
class Candidate:
    """One passage that is read.

    Attributes:
        node: of the best fused id, as the store gave it.
        score: of that id.
        members: the fused ids that it covers, best first: one, or the sentences of a window.
        view: the index it is in.
        window: span of the document that is read in place of the node; None: the node's own.
    """

    node: BaseNode
    score: float
    members: list[Fused]
    view: View
    window: Span | None = None

    @property
    def id(self) -> str:
        """Return the id of the node."""
        return self.node.node_id


@dataclass
class CandidateList:
    """The passages of one query and what did not become one of its own.

    Attributes:
        passages: best first, at most k.
        merged: fused id → id of the passage whose window covers it.
        gone: fused ids whose node is in no index (an index that is damaged).
    """

    passages: list[Candidate] = field(default_factory=list)
    merged: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)


def read_candidates(fused: Sequence[Fused], owners: Mapping[str, View], k: int) -> CandidateList:
    """Return the first k passages of the fused ids; see :func:`collect`."""
    nodes = _with_nodes(fused, owners, k)
    return collect(((item, node, owners[item.key]) for item, node in nodes), k)


def collect(ranked: Iterable[tuple[Fused, BaseNode | None, View]], k: int) -> CandidateList:
    """Return the first k passages of a ranking of nodes.

    A sentence is read with its window; windows of one document that overlap are
    one passage, which keeps the place of its best sentence. Nothing is taken from the
    ranking once k passages are there and no further one could merge.
    """
    reading = CandidateList()
    for item, node, view in ranked:
        if node is None:
            reading.gone.append(item.key)
            continue
        passage = Candidate(node, item.score, [item], view, window_of(node))
        overlapping = [other for other in reading.passages if _overlap(passage, other)]
        if overlapping:
            _merge(reading, overlapping, passage)
        elif len(reading.passages) < k:
            reading.passages.append(passage)
        else:
            break
        if len(reading.passages) >= k and not any(p.window for p in reading.passages):
            break
    return reading


def window_of(node: BaseNode) -> Span | None:
    """Return the span of a sentence's window in its document; None for other nodes."""
    start, end = node.metadata.get("window_start"), node.metadata.get("window_end")
    if isinstance(start, int) and isinstance(end, int):
        return start, end
    return None


def _with_nodes(
    fused: Sequence[Fused], owners: Mapping[str, View], k: int
) -> Iterator[tuple[Fused, BaseNode | None]]:
    """Yield each id with its node, reading k at first: where nothing merges, it takes no more."""
    remaining = iter(fused)
    size = k
    while chunk := list(islice(remaining, size)):
        size *= 2
        nodes = fetch((item.key for item in chunk), owners.__getitem__)
        for item in chunk:
            yield item, nodes.get(item.key)


def fetch(ids: Iterable[str], owner: Callable[[str], View]) -> dict[str, BaseNode]:
    """Return fresh copies of nodes, each from the index that holds it."""
    by_view: dict[View, list[str]] = {}
    for key in dict.fromkeys(ids):
        by_view.setdefault(owner(key), []).append(key)
    nodes: dict[str, BaseNode] = {}
    for view, keys in by_view.items():
        nodes |= view.snapshot.nodes(keys)
    return nodes


def _overlap(one: Candidate, other: Candidate) -> bool:
    if one.window is None or other.window is None:
        return False
    same = one.view is other.view and one.node.ref_doc_id == other.node.ref_doc_id
    return same and overlap(one.window, other.window)


def _merge(reading: CandidateList, overlapping: list[Candidate], new: Candidate) -> None:
    """Widen the best of the overlapping passages by the others and by the new one."""
    best, *others = overlapping
    parts = [*overlapping, new]
    best.window = hull(part.window for part in parts if part.window is not None)
    best.members = sorted(
        (member for part in parts for member in part.members),
        key=lambda item: (-item.score, item.key),
    )
    reading.merged |= {member.key: best.id for member in best.members if member.key != best.id}
    swallowed = {other.id for other in others}
    reading.passages = [p for p in reading.passages if p.id not in swallowed]
