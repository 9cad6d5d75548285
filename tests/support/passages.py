"""Passages and retrievers made by hand, for tests of what is done with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

from pipelines.page_map import Page
from rag_app.answer.response import UnreadPages
from rag_app.passages import Passage


def node(
    text: str,
    *,
    document: str = "doc",
    start: int | None = 0,
    pages: Sequence[int] = (1,),
    file: str = "report.pdf",
    matched: Sequence[Mapping[str, Any]] = (),
    **metadata: Any,
) -> NodeWithScore:
    """A retrieved passage as our retrievers return it."""
    made = TextNode(
        text=text,
        start_char_idx=start,
        end_char_idx=None if start is None else start + len(text),
        metadata={
            "kind": "parent",
            "file_name": file,
            "page_label": str(pages[0]) if pages else "",
            "pages": list(pages),
            "matched": [dict(match) for match in matched],
            **metadata,
        },
    )
    made.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document)
    return NodeWithScore(node=made, score=1.0)


class FixedRetriever(BaseRetriever):
    """Returns the same nodes for every question, and counts them."""

    def __init__(self, nodes: Sequence[NodeWithScore]) -> None:
        self.nodes = list(nodes)
        self.asked: list[str] = []
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle.query_str)
        return list(self.nodes)


class FixedEvidence:
    """Evidence over whole documents: text by id, pages as (number, label, start, end, raw)."""

    def __init__(
        self,
        documents: Mapping[str, str] | None = None,
        pages: Mapping[str, Sequence[Page]] | None = None,
        *,
        scripts: Mapping[str, int] | None = None,
        languages: Sequence[str] = (),
        multilingual: bool = False,
    ) -> None:
        self._documents = documents or {}
        self._pages = pages or {}
        self._scripts = scripts or {}
        self._languages = list(languages)
        self._multilingual = multilingual
        self.unread: list[UnreadPages] = []
        self.by_ocr: Mapping[int, float] = {}
        self.running: frozenset[str] = frozenset()

    def pages(self, passage: Passage) -> list[Page]:
        start, end = passage.start or 0, passage.end or 0
        pages = self._pages.get(passage.document_id, ())
        return [page for page in pages if page.start < end and start < page.end]

    def text(self, passage: Passage) -> str:
        text = self._documents.get(passage.document_id)
        return passage.text if text is None else text[passage.start : passage.end]

    def sentences(self, passage: Passage) -> None:
        return None

    def idf(self, terms: Collection[str]) -> dict[str, float]:
        return dict.fromkeys(terms, 1.0)

    def frequencies(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        return 0, dict.fromkeys(terms, 0)

    def margins(self, passage: Passage) -> frozenset[str]:
        return self.running

    def scripts(self) -> Mapping[str, int]:
        return self._scripts

    def languages(self) -> list[str]:
        return self._languages

    def is_multilingual(self) -> bool:
        return self._multilingual

    def ocr_pages(self, passage: Passage) -> Mapping[int, float]:
        return self.by_ocr

    def unread_pages(self) -> list[UnreadPages]:
        return self.unread


def evidence_of(*pages: str, document: str = "doc", raw: Sequence[str] = ()) -> FixedEvidence:
    """Evidence for one document of these pages, joined by a space; ``raw`` as they were read."""
    made, start = [], 0
    for number, text in enumerate(pages, start=1):
        own = raw[number - 1] if raw else text
        made.append(Page(number, str(number), start, start + len(text), own))
        start += len(text) + 1
    return FixedEvidence({document: " ".join(pages)}, {document: made})
