"""One content in the tables: written whole, extended by further kinds, removed whole."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.documents import Page
from pipelines.errors import StoreError
from rag_app.store import parts
from rag_app.store.codec import (
    DOCUMENT_KEYS,
    base_name,
    blank_pages,
    derive,
    extra_of,
    own_columns,
    pack_id,
    page_rows,
    split_blocks,
    unpack_id,
    user_metadata,
)
from rag_app.store.protocol import IndexConfig, Prepared

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode, Document


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a node stands: its row, its kind's number, the row and the span of its passage."""

    row: int
    kind: int
    passage: int
    start: int | None
    stop: int | None


def hash_of(document: Document) -> str:
    """Return the content hash of a Document; its id stands in where it carries none."""
    return str(document.metadata.get("content_hash") or document.id_)


def insert(
    sql: sqlite3.Connection, prepared: Prepared, config: IndexConfig, names: Mapping[str, str]
) -> None:
    """Write all of one content; ``names`` maps each of its names to its origin."""
    document = prepared.document
    content = _insert_document(sql, prepared, built=_built(prepared, config))
    for name, origin in names.items():
        insert_name(sql, content, name, origin, document)
    placed = _insert_nodes(sql, content, prepared, {})
    _insert_parts(sql, content, prepared, placed, config)
    _count_nodes(sql, content)


def insert_name(
    sql: sqlite3.Connection, content: int, name: str, origin: str, document: Document | None = None
) -> None:
    """Write one name: a path, or the id of a user's Document, which keeps its own file name."""
    file_name, file_path = base_name(name), name
    if document is not None and name in (document.id_, document.metadata.get("file_path")):
        file_name = str(document.metadata.get("file_name", ""))
        file_path = str(document.metadata.get("file_path", ""))
    sql.execute(
        "INSERT INTO names (name, origin, content, file_name, file_path) VALUES (?, ?, ?, ?, ?)",
        (name, origin, content, file_name, file_path),
    )


def extend(sql: sqlite3.Connection, content: int, prepared: Prepared, config: IndexConfig) -> None:
    """Add what a content does not have yet."""
    rows = sql.execute(
        "SELECT n.node_id, n.node, n.kind, n.passage, p.start, p.stop"
        " FROM nodes n JOIN nodes p ON p.node = n.passage WHERE n.content = ?",
        (content,),
    )
    here = {unpack_id(node_id): Placed(*place) for node_id, *place in rows.fetchall()}
    placed = here | _insert_nodes(sql, content, prepared, here)
    _insert_parts(sql, content, prepared, placed, config)
    (built,) = sql.execute("SELECT built FROM contents WHERE content = ?", (content,)).fetchone()
    sql.execute(
        "UPDATE contents SET built = ? WHERE content = ?",
        (_dump(sorted({*json.loads(built), *_built(prepared, config)})), content),
    )
    _count_nodes(sql, content)


def delete(sql: sqlite3.Connection, content: int) -> None:
    """Remove every trace of a content: nodes, vectors, words, pages, text, names."""
    parts.release_terms(sql, content)
    for table in ("vectors", "words", "nodes", "blocks", "pages", "names", "contents"):
        sql.execute(f"DELETE FROM {table} WHERE content = ?", (content,))  # noqa: S608


def kind_number(sql: sqlite3.Connection, name: str) -> int:
    """Return the number that stands for a kind, giving it one when it is new."""
    sql.execute("INSERT OR IGNORE INTO kinds (name) VALUES (?)", (name,))
    (number,) = sql.execute("SELECT kind FROM kinds WHERE name = ?", (name,)).fetchone()
    return int(number)


def _built(prepared: Prepared, config: IndexConfig) -> list[str]:
    if prepared.built is not None:
        return sorted(prepared.built)
    return sorted(
        [
            *config.kinds,
            *(f"{kind}:vectors" for kind in config.vector_kinds),
            *(f"{kind}:words" for kind in config.word_kinds),
        ]
    )


def _insert_document(sql: sqlite3.Connection, prepared: Prepared, built: Sequence[str]) -> int:
    document, text = prepared.document, prepared.document.text
    page_map: Sequence[Mapping[str, Any]] = document.metadata.get("page_map") or []
    own = {key: value for key, value in document.metadata.items() if key not in DOCUMENT_KEYS}
    reader = str(document.metadata.get("reader", ""))
    cursor = sql.execute(
        "INSERT INTO contents (content_hash, document_id, title, reader, fingerprint, bytes,"
        " length, pages, blank_pages, counts, built, origin, metadata)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, ?, ?)",
        (
            hash_of(document),
            document.id_,
            str(document.metadata.get("title", "")),
            reader,
            prepared.fingerprint or reader,
            prepared.bytes,
            len(text),
            len(page_map),
            _dump(blank_pages(page_map)),
            _dump(built),
            prepared.origin,
            _dump(own),
        ),
    )
    content = cursor.lastrowid
    if content is None:
        raise StoreError("the database gave no row number for a content")
    sql.executemany(
        "INSERT INTO pages (content, position, number, label, start, stop, raw)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(content, *row) for row in page_rows(page_map, text)],
    )
    starts = [int(page["start"]) for page in page_map]
    sql.executemany(
        "INSERT INTO blocks (content, start, stop, text) VALUES (?, ?, ?, ?)",
        [(content, *block) for block in split_blocks(text, starts)],
    )
    return content


def _insert_nodes(
    sql: sqlite3.Connection, content: int, prepared: Prepared, here: Mapping[str, Placed]
) -> dict[str, Placed]:
    new = [node for node in prepared.nodes if node.node_id not in here]
    placed = _place(sql, new, here)
    pages = _PageFinder(prepared.document)
    metadata, text = prepared.document.metadata, prepared.document.text
    title, user = str(metadata.get("title", "")), user_metadata(metadata)
    rows = []
    for node in new:
        place = placed[node.node_id]
        start, stop = _span(node)
        lead = (place.start, place.stop) if start is None else (start, stop)
        script, kind = str(node.metadata.get("script", "")), _kind(node)
        own = own_columns(node.metadata)
        derived = derive(kind, title, script, own, pages.overlapping(*lead), user)
        apart = None if start is not None and text[start:stop] == _text(node) else _text(node)
        ids = (place.row, pack_id(node.node_id), content, place.kind, place.passage)
        extra = extra_of(node, derived)
        rows.append((*ids, start, stop, script, *own.values(), apart, extra))
    try:
        sql.executemany(
            "INSERT INTO nodes (node, node_id, content, kind, passage, start, stop, script,"
            " heading, window_start, window_end, text, extra)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
    except sqlite3.IntegrityError as error:
        raise StoreError(
            f"two nodes have the id {_taken(sql, [node.node_id for node in new])!r}",
            hint="ids of passages and pieces must differ in the whole index",
        ) from error
    return placed


def _taken(sql: sqlite3.Connection, ids: Sequence[str]) -> str:
    """Return an id that is there already, or twice among those given."""
    for node_id in ids:
        if sql.execute("SELECT 1 FROM nodes WHERE node_id = ?", (pack_id(node_id),)).fetchone():
            return node_id
    return ""


def _place(
    sql: sqlite3.Connection, nodes: Sequence[BaseNode], here: Mapping[str, Placed]
) -> dict[str, Placed]:
    """Give each node a row that was never used, and find the passage that it leads to."""
    last = sql.execute("SELECT seq FROM sqlite_sequence WHERE name = 'nodes'").fetchone()
    first = (last[0] if last else 0) + 1
    rows = {node.node_id: first + index for index, node in enumerate(nodes)}
    kinds = {kind: kind_number(sql, kind) for kind in dict.fromkeys(_kind(node) for node in nodes)}
    targets = {node.node_id: _target(node) for node in nodes}
    spans = {node.node_id: _span(node) for node in nodes}
    placed = {}
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
            placed[node.node_id] = Placed(*own, lead.passage, lead.start, lead.stop)
        else:
            placed[node.node_id] = Placed(*own, rows[passage], *spans[passage])
    return placed


def _insert_parts(
    sql: sqlite3.Connection,
    content: int,
    prepared: Prepared,
    placed: Mapping[str, Placed],
    config: IndexConfig,
) -> None:
    for kind, (node_ids, matrix) in prepared.vectors.items():
        places = _places(node_ids, placed)
        rows = [(place.row, place.passage) for place in places]
        parts.write_vectors(
            sql, content, kind_number(sql, kind), rows, matrix, dimension=config.dimension
        )
    by_kind: dict[int, list[tuple[Placed, Mapping[str, int]]]] = {}
    for node_id, counts in prepared.terms.items():
        (place,) = _places([node_id], placed)
        by_kind.setdefault(place.kind, []).append((place, counts))
    ready = kind_number(sql, "passage")
    if ready in by_kind:
        # A user's ready passage is searched as the parents are.
        parent = kind_number(sql, "parent")
        by_kind[parent] = by_kind.get(parent, []) + by_kind.pop(ready)
    for number, entries in by_kind.items():
        rows = [(place.row, place.passage) for place, _ in entries]
        parts.write_words(sql, content, number, rows, [counts for _, counts in entries])


def _places(node_ids: Iterable[str], placed: Mapping[str, Placed]) -> list[Placed]:
    try:
        return [placed[node_id] for node_id in node_ids]
    except KeyError as error:
        raise StoreError(
            f"a vector or terms are given for {error}, which is no node here"
        ) from None


def _count_nodes(sql: sqlite3.Connection, content: int) -> None:
    rows = sql.execute(
        "SELECT name, count(*) FROM nodes JOIN kinds USING (kind) WHERE content = ? GROUP BY kind",
        (content,),
    )
    counts: Counter[str] = Counter(dict(rows.fetchall()))
    sql.execute(
        "UPDATE contents SET counts = ? WHERE content = ?",
        (_dump(dict(sorted(counts.items()))), content),
    )


class _PageFinder:
    """Pages of a document by span; pages follow one another in the text."""

    def __init__(self, document: Document) -> None:
        page_map: Sequence[Mapping[str, Any]] = document.metadata.get("page_map") or []
        self._pages = [
            Page(page["number"], str(page["label"]), int(page["start"]), int(page["end"]), "")
            for page in page_map
        ]
        self._ends = [page.end for page in self._pages]

    def overlapping(self, start: int | None, stop: int | None) -> list[Page]:
        """Return the pages that share at least one character with the span."""
        if start is None or stop is None:
            return []
        found = []
        for page in self._pages[bisect_right(self._ends, start) :]:
            if page.start >= stop:
                break
            if page.end > page.start:
                found.append(page)
        return found


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


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
