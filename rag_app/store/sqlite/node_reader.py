"""Reading nodes, text and pages back from the tables, each by its span."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.errors import IndexDamagedError
from pipelines.page_map import Page, pages_of
from pipelines.rows import ROW_SHARE
from rag_app.store.protocol import NodeSpan
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.codec import (
    OWN_KEYS,
    derive,
    pack_id,
    restore,
    unpack_id,
    unpack_text,
    user_metadata,
)
from rag_app.store.sqlite.row_cache import RowCache, check_page
from rag_app.store.sqlite.sealing import check_content
from rag_app.store.sqlite.sentence_table import read_sentences

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode, Document

    from pipelines.sentence_table import SentenceTable

_COLUMNS = (
    "SELECT n.node_id, n.content, k.name, n.passage, n.node, n.start, n.stop, n.script,"
    " n.heading, n.window_start, n.window_end, n.text, n.extra, n.checksum,"
    " p.node_id, p.start, p.stop"
    " FROM nodes n JOIN kinds k USING (kind) JOIN nodes p ON p.node = n.passage"
)
_SPAN_COLUMNS = (
    "SELECT n.node_id, n.content, k.name, n.passage, n.node, n.start, n.stop, n.script,"
    " n.heading, n.window_start, n.window_end, n.text, n.extra, n.checksum"
    " FROM nodes n JOIN kinds k USING (kind)"
)
_MAX_STATEMENT_IDS = 500  # older versions of SQLite allow 999 marks in a statement


@dataclass(frozen=True, slots=True)
class _Content:
    """What all nodes of a content share; ``names``: metadata that follows its first name."""

    document_id: str
    title: str
    names: dict[str, str]
    user: dict[str, Any]
    length: int


class NodeReader:
    """Reads within one transaction; what belongs to a content is read once.

    Whatever is read is compared with its checksum. All methods raise ``IndexDamagedError``
    when something is not as it was written.
    """

    def __init__(self, sql: sqlite3.Connection, sums: Checksums, cache: RowCache) -> None:
        self._sql, self._sums = sql, sums
        self._cache = cache
        self._contents: dict[int, _Content] = {}

    def nodes(self, node_ids: Sequence[str]) -> dict[str, BaseNode]:
        """Return fresh nodes by id; ids that are not here are left out."""
        wanted = list(dict.fromkeys(node_ids))
        rows = {unpack_id(values[0]): values for values in self._rows(_COLUMNS, wanted)}
        return {node_id: self._node(rows[node_id]) for node_id in wanted if node_id in rows}

    def spans(self, node_ids: Sequence[str]) -> dict[str, NodeSpan]:
        """Return where nodes lie whose text and pages are not their own, by id."""
        found = {}
        for values in self._rows(_SPAN_COLUMNS, node_ids):
            self._check_node(values)
            node_id, content, *_ = values
            start, stop, text, extra = values[5], values[6], values[11], values[12]
            if start is not None and text is None and '"pages"' not in (extra or ""):
                numbers = (page.number for page in self.pages(content, start, stop))
                pages = tuple(number for number in numbers if number is not None)
                document_id = self._content(content).document_id
                found[unpack_id(node_id)] = NodeSpan(document_id, start, stop, pages)
        return found

    def row_shares(self, node_ids: Sequence[str]) -> dict[str, float]:
        """Return what is noted of the rows of tables in passages, by id; 0 is left out."""
        found = {}
        for values in self._rows(_SPAN_COLUMNS, node_ids):
            self._check_node(values)
            extra = json.loads(values[12] or "{}")
            if share := extra.get("set", {}).get(ROW_SHARE):
                found[unpack_id(values[0])] = float(share)
        return found

    def _rows(self, columns: str, node_ids: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(node_ids), _MAX_STATEMENT_IDS):
            some = [pack_id(node_id) for node_id in node_ids[start : start + _MAX_STATEMENT_IDS]]
            marks = ",".join("?" * len(some))
            yield from self._sql.execute(f"{columns} WHERE n.node_id IN ({marks})", some).fetchall()

    def children(self, passage_id: str, kind: str | None) -> list[BaseNode]:
        """Return the nodes that lead to a passage, by kind and position."""
        rows = self._sql.execute(
            f"{_COLUMNS} WHERE n.passage = (SELECT node FROM nodes WHERE node_id = ?)"  # noqa: S608
            " AND n.passage <> n.node AND coalesce(k.name = ?, 1) ORDER BY n.start, n.node",
            (pack_id(passage_id), kind),
        )
        return [self._node(values) for values in rows.fetchall()]

    def of_content(self, content: int) -> list[BaseNode]:
        """Return all nodes of a content, in the order in which they were written."""
        rows = self._sql.execute(f"{_COLUMNS} WHERE n.content = ? ORDER BY n.node", (content,))
        return [self._node(values) for values in rows.fetchall()]

    def text(self, content: int, start: int, stop: int) -> str:
        """Return a span of the derived text, as far as there is one."""
        start, stop = max(start, 0), min(stop, self._content(content).length)
        if stop <= start:
            return ""
        rows = self._sql.execute(
            "SELECT start, stop, text, checksum FROM blocks"
            " WHERE content = ? AND start < ? AND start >="
            " (SELECT coalesce(max(start), 0) FROM blocks WHERE content = ? AND start <= ?)"
            " ORDER BY start",
            (content, stop, content, start),
        ).fetchall()
        for first, last, text, checksum in rows:
            if checksum != self._sums.text(content, first, last, text):
                raise self._mismatch(self._with_name("the text of", content))
        joined = "".join([text for _, _, text, _ in rows])
        first = rows[0][0] if rows else 0
        found = joined[start - first : stop - first]
        if first > start or len(found) != stop - start:
            raise self._sums.damaged(self._with_name("a part is missing of the text of", content))
        return found

    def sentences(self, content: int, start: int, stop: int) -> SentenceTable | None:
        """Return the sentences that begin in a span of the text; None: there is no table."""
        return read_sentences(self._sql, self._sums, content, start, stop)

    def pages(self, content: int, start: int, stop: int) -> list[Page]:
        """Return the pages that share a character with a span, without their raw text."""
        return pages_of(self._cache.pages(self._sql, self._sums, content), start, stop)

    def raw_pages(self, content: int, start: int, stop: int | None) -> list[Page]:
        """Return the same with their raw text; all to the end without an end."""
        if stop is None:
            where, values = "stop > ? OR ? = 0", (start, start)
        else:
            where, values = "stop > ? AND start < ? AND stop > start", (start, stop)
        rows = self._sql.execute(
            "SELECT position, number, label, start, stop, raw_checksum, checksum, raw"  # noqa: S608
            " FROM pages"
            f" WHERE content = ? AND ({where}) ORDER BY start, position",
            (content, *values),
        ).fetchall()
        return [self._raw_page(content, *row) for row in rows]

    def _raw_page(
        self,
        content: int,
        position: int,
        number: int | None,
        label: str,
        start: int,
        stop: int,
        raw_checksum: int | None,
        checksum: int,
        blob: bytes | None,
    ) -> Page:
        place = (number, label, start, stop, raw_checksum)
        check_page(self._sums, content, position, place, checksum)
        if raw_checksum is None:
            return Page(number, label, start, stop, self.text(content, start, stop))
        found = self._sums.blobs((content, position), blob or b"")
        if raw_checksum != found:
            raise self._mismatch(self._with_name(f"page {number} of", content))
        return Page(number, label, start, stop, unpack_text(blob or b""))

    def document(self, content: int) -> Document:
        """Return the Document as it was read."""
        from llama_index.core.schema import Document

        content_hash, reader, length, beyond = self._sql.execute(
            "SELECT content_hash, reader, length, metadata FROM contents WHERE content = ?",
            (content,),
        ).fetchone()
        about = self._content(content)
        metadata: dict[str, Any] = {
            "file_name": about.names["file_name"],
            "file_path": about.names["file_path"],
            "title": about.title,
            "content_hash": content_hash,
            "reader": reader,
            "page_map": [
                {"number": p.number, "label": p.label, "start": p.start, "end": p.end, "raw": p.raw}
                for p in self.raw_pages(content, 0, None)
            ],
            **json.loads(beyond),
        }
        return Document(
            id_=about.document_id,
            text=self.text(content, 0, length),
            metadata=metadata,
            excluded_embed_metadata_keys=list(metadata),
            excluded_llm_metadata_keys=list(metadata),
        )

    def _node(self, values: tuple[Any, ...]) -> BaseNode:
        self._check_node(values)
        (node_id, content, kind, passage, row, start, stop, script) = values[:8]
        own = dict(zip(OWN_KEYS, values[8:11], strict=True))
        text, extra, _, lead_id, lead_start, lead_stop = values[11:]
        about = self._content(content)
        low, high = (lead_start, lead_stop) if start is None else (start, stop)
        pages = [] if low is None else self.pages(content, low, high)
        return restore(
            derive(kind, about.title, script, own, pages, about.user),
            extra,
            node_id=unpack_id(node_id),
            text=self.text(content, start, stop) if text is None else text,
            span=(start, stop),
            document_id=about.document_id,
            passage_id=None if passage == row else unpack_id(lead_id),
            names=about.names,
        )

    def _check_node(self, values: tuple[Any, ...]) -> None:
        """Compare what the columns of a node say with their checksum, the last of them."""
        if values[13] != self._sums.row(*values[:13]):
            raise self._mismatch(self._with_name("a node of", values[1]))

    def _mismatch(self, what: str) -> IndexDamagedError:
        return self._sums.damaged(f"{what} does not match its checksum")

    def _with_name(self, what: str, content: int) -> str:
        """Return a part of a content, in words, with the name of the content."""
        row = self._sql.execute(
            "SELECT name FROM names WHERE content = ? ORDER BY name_row", (content,)
        ).fetchone()
        return f"{what} {row[0] if row else f'content {content}'}"

    def _content(self, content: int) -> _Content:
        if content not in self._contents:
            check_content(self._sql, self._sums, content)
            document_id, title, origin, metadata, length, file_name, file_path = self._sql.execute(
                "SELECT document_id, title, c.origin, metadata, length, file_name, file_path"
                " FROM contents c LEFT JOIN names USING (content) WHERE content = ?"
                " ORDER BY name_row LIMIT 1",
                (content,),
            ).fetchone()
            names = {"file_name": file_name or "", "file_path": file_path or "", "origin": origin}
            user = user_metadata(json.loads(metadata))
            self._contents[content] = _Content(document_id, title, names, user, length)
        return self._contents[content]
