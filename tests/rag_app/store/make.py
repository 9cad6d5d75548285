"""Small contents for tests of the store, made by hand: parents, children, vectors, terms."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np
from llama_index.core.schema import (
    BaseNode,
    Document,
    IndexNode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

from pipelines.sentence_table import SentenceTable
from rag_app.store.array_types import Vector
from rag_app.store.protocol import IndexConfig, Prepared
from tests.support.embedding import hash_vector

DIMENSION = 16
CONFIG = IndexConfig(
    embed_model="hash",
    embed_fingerprint="f" * 64,
    dimension=DIMENSION,
    child_sizes=(128,),
    kinds=("parent", "child-128"),
    vector_kinds=("child-128",),
    word_kinds=("parent",),
)
READER = "by-hand/1"


def sha(*parts: object) -> str:
    return hashlib.sha256("\x00".join(map(str, parts)).encode()).hexdigest()


def vector(text: str) -> Vector:
    return np.array(hash_vector(text, DIMENSION), dtype=np.float32)


def prepared(
    names: str | Sequence[str],
    pages: Sequence[str],
    *,
    script: str = "latin",
    metadata: dict[str, object] | None = None,
) -> Prepared:
    """Make a content: one parent per page, one child per sentence (ends with a full stop)."""
    names = (names,) if isinstance(names, str) else tuple(names)
    text, page_map = "\n".join(pages), []
    start = 0
    for number, page in enumerate(pages, 1):
        end = start + len(page)
        page_map.append(
            {"number": number, "label": f"p{number}", "start": start, "end": end, "raw": page}
        )
        start = end + 1
    content_hash = sha(*pages, metadata)
    document = Document(
        id_=content_hash,
        text=text,
        metadata={
            "file_name": PurePath(names[0]).name,
            "file_path": names[0],
            "title": "A title",
            "content_hash": content_hash,
            "reader": READER,
            "page_map": page_map,
            **(metadata or {}),
        },
    )
    parents: list[BaseNode] = []
    children: list[BaseNode] = []
    for page in page_map:
        first, last = int(page["start"]), int(page["end"])
        if first == last:
            continue
        parent = _node(document, "parent", first, last, page, script)
        parents.append(parent)
        for low, high in _sentences(text, first, last):
            children.append(_node(document, "child-128", low, high, page, script, parent.node_id))
    ids = [node.node_id for node in children]
    matrix = np.array([vector(node.text) for node in children], np.float32)
    return Prepared(
        names=names,
        document=document,
        nodes=[*parents, *children],
        vectors={"child-128": (ids, matrix.reshape(-1, DIMENSION))},
        terms={node.node_id: Counter(node.text.lower().split()) for node in parents},
        sentences=SentenceTable.of(
            text, [(node.start_char_idx, node.end_char_idx) for node in children]
        ),
    )


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans = []
    while start < end:
        stop = text.find(".", start, end) + 1 or end
        if text[start:stop].strip():
            spans.append((start, stop))
        start = stop
    return spans


def _node(document, kind, start, end, page, script, parent_id=None):
    text = document.text[start:end]
    metadata = {
        "kind": kind,
        "file_name": document.metadata["file_name"],
        "file_path": document.metadata["file_path"],
        "page_label": page["label"],
        "pages": [page["number"]],
        "title": document.metadata["title"],
        "script": script,
    }
    if kind == "parent":
        metadata["heading"] = f"Heading {page['number']}"
    values = {
        "id_": sha(document.id_, kind, start, end, text),
        "text": text,
        "metadata": metadata,
        "start_char_idx": start,
        "end_char_idx": end,
        "excluded_embed_metadata_keys": list(metadata),
        "excluded_llm_metadata_keys": [
            key for key in metadata if key not in ("file_name", "pages")
        ],
    }
    node = TextNode(**values) if parent_id is None else IndexNode(**values, index_id=parent_id)
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document.id_)
    if parent_id is not None:
        node.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=parent_id)
    return node
