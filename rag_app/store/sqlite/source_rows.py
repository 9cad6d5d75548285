"""Records of the contents of an index, each with all its names."""

from __future__ import annotations

import json
import sqlite3

from pipelines.ocr import stored_ocr
from pipelines.page_reader_names import stored_readers
from pipelines.page_states import stored_states
from rag_app.store.protocol import SourceInfo
from rag_app.store.sqlite.codec import user_metadata

_COLUMNS = (
    "SELECT content, content_hash, document_id, title, pages, blank_pages, counts, bytes, reader,"
    " origin, metadata, fingerprint, built, length FROM contents"
)


def read_sources(sql: sqlite3.Connection, content: int | None = None) -> list[SourceInfo]:
    """Return all contents, or the one asked for."""
    where, values = ("", ()) if content is None else (" WHERE content = ?", (content,))
    names: dict[int, list[str]] = {}
    rows = sql.execute(f"SELECT content, name FROM names{where} ORDER BY name_row", values)  # noqa: S608
    for number, name in rows.fetchall():
        known = names.setdefault(number, [])
        if name not in known:
            known.append(name)
    found = sql.execute(f"{_COLUMNS}{where}", values).fetchall()
    return [_source(row, names.get(row[0], [])) for row in found]


def _source(row: tuple[object, ...], names: list[str]) -> SourceInfo:
    (_, content_hash, document_id, title, pages, blank, counts, size, reader) = row[:9]
    origin, metadata, fingerprint, built, length = row[9:]
    without_text, own = json.loads(str(blank)), json.loads(str(metadata))
    engine, ocr_pages = stored_ocr(own.get("ocr_pages"), int(str(pages)))
    return SourceInfo(
        content_hash=str(content_hash),
        names=tuple(names),
        document_id=str(document_id),
        title=str(title),
        pages=int(str(pages)),
        pages_without_text=tuple(without_text),
        nodes=json.loads(str(counts)),
        bytes=int(str(size)),
        reader=str(reader),
        origin=str(origin),
        metadata=user_metadata(own),
        fingerprint=str(fingerprint),
        built=frozenset(json.loads(str(built))),
        length=int(str(length)),
        page_states=stored_states(own.get("page_states"), without_text),
        ocr_engine=engine,
        ocr_pages=ocr_pages,
        page_readers=stored_readers(own.get("page_readers"), int(str(pages))),
    )
