"""Nodes and documents as rows: which fields are stored, and which are derived on reading.

What follows from a node's columns (pages, names, title) is not stored a second
time. Other metadata is stored in ``extra``, so that a node comes back with the
metadata it was written with, and with its file's *present* name.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipelines.page_map import Page
from rag_app.store.array_types import Ints

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode


BLOCK_CHARS = 2000  # of a slice of derived text: a few of them fill a database page
# Keys of a Document that reading it added; the others are the user's.
READ_KEYS = frozenset({"read_by", "own_title", "page_states", "page_readers", "ocr_pages"})
# Keys of a Document that have columns of their own, or belong to a name.
DOCUMENT_KEYS = frozenset({"file_name", "file_path", "title", "content_hash", "reader", "page_map"})
# Keys of a node that belong to the present name of its file, never to the node.
NAME_KEYS = ("file_name", "file_path", "origin")
# Metadata that an LLM reads; everything else is excluded for it.
LLM_KEYS = frozenset(NAME_KEYS[:1]) | {"pages"}
_HEX = re.compile(r"[0-9a-f]{64}")


def pack_id(node_id: str) -> bytes | str:
    """Return the id as stored: a sha256 as its 32 bytes, any other id as it is."""
    return bytes.fromhex(node_id) if _HEX.fullmatch(node_id) else node_id


def unpack_id(stored: bytes | str) -> str:
    """Return the id that :func:`pack_id` stored."""
    return stored.hex() if isinstance(stored, bytes) else stored


def pack_ints(values: Iterable[int] | Ints) -> bytes:
    """Return integers as little-endian 64-bit numbers."""
    return np.asarray(values, dtype="<i8").tobytes()


def unpack_ints(blob: bytes) -> Ints:
    """Return what :func:`pack_ints` packed, shape (n,), read-only."""
    return np.frombuffer(blob, dtype="<i8")


def split_blocks(text: str) -> list[tuple[int, int, str]]:
    """Cut a text into (start, stop, slice) of ``BLOCK_CHARS`` characters."""
    starts = range(0, len(text), BLOCK_CHARS)
    return [
        (start, min(start + BLOCK_CHARS, len(text)), text[start : start + BLOCK_CHARS])
        for start in starts
    ]


def pack_text(text: str) -> bytes:
    """Return a text that is rarely read, compressed."""
    return zlib.compress(text.encode())


def unpack_text(blob: bytes) -> str:
    """Return what :func:`pack_text` packed."""
    return zlib.decompress(blob).decode()


def page_rows(
    page_map: Sequence[Mapping[str, Any]], text: str
) -> list[tuple[int, int | None, str, int, int, bytes | None]]:
    """Return (position, number, label, start, stop, raw); raw is None where the text is it."""
    rows = []
    for position, page in enumerate(page_map):
        start, stop, raw = int(page["start"]), int(page["end"]), str(page.get("raw", ""))
        apart = None if raw == text[start:stop] else pack_text(raw)
        rows.append((position, page["number"], str(page["label"]), start, stop, apart))
    return rows


def blank_pages(page_map: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the numbers of the pages that hold no text."""
    return [
        int(page["number"])
        for page in page_map
        if page["number"] is not None and not str(page.get("raw", "")).strip()
    ]


@dataclass(frozen=True, slots=True)
class DerivedMetadata:
    """The metadata of a node that follows from its columns."""

    kind: str
    title: str
    script: str
    own: Mapping[str, Any]
    pages: tuple[int, ...]
    page_label: str
    user: Mapping[str, Any]

    def metadata(self) -> dict[str, Any]:
        """Return it by the keys of nodes; the document's own keys come first."""
        return {
            **self.user,
            "kind": self.kind,
            "page_label": self.page_label,
            "pages": list(self.pages),
            "title": self.title,
            "script": self.script,
            **{key: value for key, value in self.own.items() if value is not None},
        }


# Optional keys of a node that have a column, and the type that fits into it.
OWN_KEYS: Mapping[str, type] = {"heading": str, "window_start": int, "window_end": int}


def own_columns(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the optional columns: ``None`` where a node has none that fits."""
    found = {key: metadata.get(key) for key in OWN_KEYS}
    return {key: value if type(value) is OWN_KEYS[key] else None for key, value in found.items()}


def derive(
    kind: str,
    title: str,
    script: str,
    own: Mapping[str, Any],
    pages: Sequence[Page],
    user: Mapping[str, Any],
) -> DerivedMetadata:
    """Return the derived metadata, given the pages that the node's span overlaps.

    ``user`` is the metadata that the user gave the document: its nodes carry it too.
    """
    numbers = tuple(page.number for page in pages if page.number is not None)
    return DerivedMetadata(kind, title, script, own, numbers, pages[0].label if pages else "", user)


def user_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that the user gave a document, without what reading it added."""
    hidden = DOCUMENT_KEYS | READ_KEYS
    return {key: value for key, value in metadata.items() if key not in hidden}


def extra_of(node: BaseNode, derived: DerivedMetadata) -> str | None:
    """Return the metadata of a node beyond its columns, as JSON; ``None`` where there is none."""
    base = derived.metadata()
    own = {key: value for key, value in node.metadata.items() if key not in NAME_KEYS}
    extra: dict[str, Any] = {}
    changed = {key: value for key, value in own.items() if key not in base or base[key] != value}
    dropped = [key for key in base if key not in own]
    if changed:
        extra["set"] = changed
    if dropped:
        extra["drop"] = dropped
    if set(node.excluded_embed_metadata_keys) != set(node.metadata):
        extra["embed"] = list(node.excluded_embed_metadata_keys)
    if set(node.excluded_llm_metadata_keys) != set(node.metadata) - LLM_KEYS:
        extra["llm"] = list(node.excluded_llm_metadata_keys)
    extra |= _templates(node)
    if not extra:
        return None
    return json.dumps(extra, ensure_ascii=False, separators=(",", ":"), default=str)


_TEMPLATES = ("text_template", "metadata_template", "metadata_separator", "metadata_seperator")


def _templates(node: BaseNode) -> dict[str, str]:
    fields = type(node).model_fields
    return {
        name: getattr(node, name)
        for name in _TEMPLATES
        if name in fields and getattr(node, name) != fields[name].default
    }


def restore(
    derived: DerivedMetadata,
    extra: str | None,
    *,
    node_id: str,
    text: str,
    span: tuple[int | None, int | None],
    document_id: str,
    passage_id: str | None,
    names: Mapping[str, str],
) -> BaseNode:
    """Return a fresh node; ``passage_id`` is the passage it leads to when it is not one itself."""
    from llama_index.core.schema import (
        IndexNode,
        NodeRelationship,
        RelatedNodeInfo,
        TextNode,
    )

    beyond: dict[str, Any] = json.loads(extra) if extra else {}
    metadata = {**derived.metadata(), **names, **beyond.get("set", {})}
    for key in beyond.get("drop", ()):
        metadata.pop(key, None)
    values: dict[str, Any] = {
        "id_": node_id,
        "text": text,
        "metadata": metadata,
        "start_char_idx": span[0],
        "end_char_idx": span[1],
        "excluded_embed_metadata_keys": beyond.get("embed", list(metadata)),
        "excluded_llm_metadata_keys": beyond.get(
            "llm", [key for key in metadata if key not in LLM_KEYS]
        ),
        **{name: beyond[name] for name in _TEMPLATES if name in beyond},
    }
    node = TextNode(**values) if passage_id is None else IndexNode(**values, index_id=passage_id)
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document_id)
    if passage_id is not None:
        node.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=passage_id)
    return node
