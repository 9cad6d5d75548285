"""The nodes of one content as rows: where each stands, and which passage it leads to."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.errors import StoreError
from pipelines.page_map import Page, pages_of
from rag_app.store.protocol import Prepared
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.codec import derive, extra_of, own_columns, pack_id, user_metadata

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode, Document


@dataclass(frozen=True, slots=True)
class NodeRow:
    """Where a node stands: its row, its kind's number, the row and the span of its passage."""

    row: int
    kind: int
    passage: int
    start: int | None
    stop: int | None


def kind_number(sql: sqlite3.Connection, name: str) -> int:
    """Return the number that stands for a kind, giving it one when it is new."""
    sql.execute("INSERT OR IGNORE INTO kinds (name) VALUES (?)", (name,))
    (number,) = sql.execute("SELECT kind FROM kinds WHERE name = ?", (name,)).fetchone()
    return int(number)


def insert_nodes(
    sql: sqlite3.Connection,
    sums: Checksums,
    content: int,
    prepared: Prepared,
    here: Mapping[str, NodeRow],
) -> dict[str, NodeRow]:
    """Write the nodes that are not ``here`` yet; return where each of the new ones stands.

    Raises:
        StoreError: a node leads to one that this content does not hold, or has the
            id of a node that is here.
    """
    new = [node for node in prepared.nodes if node.node_id not in here]
    made = _node_rows(sql, new, here)
    pages = _page_spans(prepared.document)
    metadata, text = prepared.document.metadata, prepared.document.text
    title, user = str(metadata.get("title", "")), user_metadata(metadata)
    rows = []
    for node in new:
        row = made[node.node_id]
        start, stop = _span(node)
        lead = (row.start, row.stop) if start is None else (start, stop)
        script, kind = str(node.metadata.get("script", "")), _kind(node)
        own = own_columns(node.metadata)
        derived = derive(kind, title, script, own, _pages_of(pages, *lead), user)
        apart = None if start is not None and text[start:stop] == _text(node) else _text(node)
        packed, extra = pack_id(node.node_id), extra_of(node, derived)
        beyond = (start, stop, script, *own.values(), apart, extra)
        checksum = sums.row(packed, content, kind, row.passage, row.row, *beyond)
        rows.append((row.row, packed, content, row.kind, row.passage, *beyond, checksum))
    try:
        sql.executemany(
            "INSERT INTO nodes (node, node_id, content, kind, passage, start, stop, script,"
            " heading, window_start, window_end, text, extra, checksum)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
    except sqlite3.IntegrityError as error:
        raise StoreError(
            f"two nodes have the id {_taken(sql, [node.node_id for node in new])!r}",
            hint="ids of passages and pieces must differ in the whole index",
        ) from error
    return made


def _taken(sql: sqlite3.Connection, ids: Sequence[str]) -> str:
    """Return an id that is twice among those given, or there already."""
    twice = [node_id for node_id, count in Counter(ids).items() if count > 1]
    for node_id in twice or ids:
        if sql.execute("SELECT 1 FROM nodes WHERE node_id = ?", (pack_id(node_id),)).fetchone():
            return node_id
    return ""


def _node_rows(
    sql: sqlite3.Connection, nodes: Sequence[BaseNode], here: Mapping[str, NodeRow]
) -> dict[str, NodeRow]:
    """Give each node a row that was never used, and find the passage that it leads to."""
    last = sql.execute("SELECT seq FROM sqlite_sequence WHERE name = 'nodes'").fetchone()
    first = (last[0] if last else 0) + 1
    rows = {node.node_id: first + index for index, node in enumerate(nodes)}
    kinds = {kind: kind_number(sql, kind) for kind in dict.fromkeys(_kind(node) for node in nodes)}
    targets = {node.node_id: _target(node) for node in nodes}
    spans = {node.node_id: _span(node) for node in nodes}
    made = {}
    for node in nodes:
        passage, seen = node.node_id, {node.node_id}
        while (target := targets.get(passage)) is not None:
            if target in seen or (target not in rows and target not in here):
                raise StoreError(
                    f"node {node.node_id!r} leads to {target!r}, which this content does not hold"
                )
            passage = target
            seen.add(target)
        own = (rows[node.node_id], kinds[_kind(node)])
        if passage in here:
            lead = here[passage]
            made[node.node_id] = NodeRow(*own, lead.passage, lead.start, lead.stop)
        else:
            made[node.node_id] = NodeRow(*own, rows[passage], *spans[passage])
    return made


def _pages_of(pages: Sequence[Page], start: int | None, stop: int | None) -> list[Page]:
    return [] if start is None or stop is None else pages_of(pages, start, stop)


def _page_spans(document: Document) -> list[Page]:
    """Return the pages of a document in order, without their raw text."""
    page_map: Sequence[Mapping[str, Any]] = document.metadata.get("page_map") or []
    return [
        Page(page["number"], str(page["label"]), int(page["start"]), int(page["end"]), "")
        for page in page_map
    ]


def _kind(node: BaseNode) -> str:
    return str(node.metadata.get("kind", "passage"))


def _target(node: BaseNode) -> str | None:
    """Return the id of the node that this one leads to, ``None`` for a passage."""
    from llama_index.core.schema import IndexNode

    if isinstance(node, IndexNode) and node.index_id != node.node_id:
        return str(node.index_id)
    parent = node.parent_node
    return parent.node_id if parent is not None else None


def _span(node: BaseNode) -> tuple[int | None, int | None]:
    start = getattr(node, "start_char_idx", None)
    stop = getattr(node, "end_char_idx", None)
    return (None, None) if start is None or stop is None else (start, stop)


def _text(node: BaseNode) -> str:
    return str(getattr(node, "text", ""))
