"""An index of any size without reading or embedding: random unit vectors, random words."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import (
    BaseNode,
    Document,
    IndexNode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

from pipelines.nodes import hidden_from_llm
from pipelines.sentence_table import SentenceTable
from rag_app.store.protocol import IndexConfig, Prepared
from rag_app.store.sqlite.store import create_store

DIMENSION = 384
KINDS = ("child-128", "child-256")
CHILDREN = 8  # per parent and kind
PARENTS = 250  # per document
WORDS = 600  # per parent: what 1,024 tokens of a report hold
SENTENCE, LINE = 20, 12  # words
VOCABULARY = 50_000
NAME = "synthetic"
# Words, not part numbers; without vowels, which a stemmer would cut.
_LETTERS = str.maketrans("0123456789", "bcdfghkmnp")


class RandomEmbedding(BaseEmbedding):
    """Gives every question a random unit vector in no time: the model's share is left out."""

    model_name: str = NAME
    dimension: int = DIMENSION
    scripts: tuple[str, ...] = ("*",)

    def _get_query_embedding(self, query: str) -> list[float]:
        seed = int.from_bytes(hashlib.sha256(query.encode()).digest()[:4], "big")
        vector = np.random.default_rng(seed).standard_normal(DIMENSION)
        return (vector / np.linalg.norm(vector)).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def words(rng: np.random.Generator, count: int) -> list[str]:
    """Return words whose frequencies fall as those of a language (Zipf)."""
    ranks = np.minimum(rng.zipf(1.2, count), VOCABULARY)
    return [f"w{rank}".translate(_LETTERS) for rank in ranks]


def build(path: Path, vectors: int) -> None:
    """Write an index of about ``vectors`` vectors in each of two lists."""
    config = IndexConfig(embed_model=NAME, embed_fingerprint="", dimension=DIMENSION)
    store = create_store(path, config)
    with store.writer() as writer:
        for prepared in _documents(vectors // CHILDREN):
            writer.put(prepared)
    store.close()


def _documents(parents: int) -> Iterator[Prepared]:
    rng = np.random.default_rng(0)
    for number, start in enumerate(range(0, parents, PARENTS)):
        yield _document(rng, number, min(PARENTS, parents - start))


def _document(rng: np.random.Generator, number: int, parents: int) -> Prepared:
    listed = [words(rng, WORDS) for _ in range(parents)]
    texts = [_prose(each) for each in listed]
    text = "\n".join(texts)
    content_hash = hashlib.sha256(text.encode()).hexdigest()
    name = f"document-{number}.pdf"
    starts = np.cumsum([0, *(len(t) + 1 for t in texts[:-1])]).tolist()
    document = Document(id_=content_hash, text=text, metadata=_facts(name, content_hash))
    document.metadata["page_map"] = [
        {"number": i + 1, "label": str(i + 1), "start": s, "end": s + len(t), "raw": ""}
        for i, (s, t) in enumerate(zip(starts, texts, strict=True))
    ]
    nodes: list[BaseNode] = []
    vectors: dict[str, tuple[list[str], np.ndarray]] = {}
    terms = {}
    spans = [(s, s + len(t)) for s, t in zip(starts, texts, strict=True)]
    parent_nodes = [
        _node(document, "parent", *span, page, None) for page, span in enumerate(spans, 1)
    ]
    nodes += parent_nodes
    terms = {node.node_id: Counter(each) for node, each in zip(parent_nodes, listed, strict=True)}
    for kind in KINDS:
        ids = []
        for page, (parent, (start, end)) in enumerate(zip(parent_nodes, spans, strict=True), 1):
            size = (end - start) // CHILDREN
            for at in range(CHILDREN):
                low = start + at * size
                child = _node(document, kind, low, low + size, page, parent.node_id)
                ids.append(child.node_id)
                nodes.append(child)
        matrix = rng.standard_normal((len(ids), DIMENSION), dtype=np.float32)
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        vectors[kind] = (ids, matrix)
    table = SentenceTable.of(text, _sentences(text))
    return Prepared((name,), document, nodes, vectors, terms, sentences=table)


def _prose(listed: list[str]) -> str:
    """Return words as sentences and lines, of which a passage's evidence is made."""
    written = [
        (word if at % SENTENCE else word.capitalize())
        + ("" if (at + 1) % SENTENCE else ".")
        + (" " if (at + 1) % LINE else "\n")
        for at, word in enumerate(listed)
    ]
    return "".join(written).rstrip()


def _sentences(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of such prose stand."""
    ends = [0, *(match.end() for match in re.finditer(r"\.\s+", text)), len(text)]
    return [(start, start + len(text[start:end].rstrip())) for start, end in pairwise(ends)]


def _facts(name: str, content_hash: str) -> dict[str, object]:
    return {
        "file_name": name,
        "file_path": name,
        "title": name,
        "content_hash": content_hash,
        "reader": "synthetic/1",
        "read_by": "synthetic/1",
    }


def _node(
    document: Document, kind: str, start: int, end: int, page: int, parent: str | None
) -> BaseNode:
    text = document.text[start:end]
    name = document.metadata["file_name"]
    metadata = {
        "kind": kind,
        "file_name": name,
        "file_path": name,
        "page_label": str(page),
        "pages": [page],
        "title": name,
        "heading": "",
        "script": "latin",
    }
    identity = f"{document.id_}|{kind}|{start}|{end}"
    values = {
        "id_": hashlib.sha256(identity.encode()).hexdigest(),
        "text": text,
        "metadata": metadata,
        "excluded_embed_metadata_keys": list(metadata),
        "excluded_llm_metadata_keys": hidden_from_llm(metadata),
        "start_char_idx": start,
        "end_char_idx": end,
    }
    node = TextNode(**values) if parent is None else IndexNode(**values, index_id=parent)
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document.id_)
    if parent is not None:
        node.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=parent)
    return node
