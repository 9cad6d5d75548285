"""Retrieved nodes → passages, which are read: each stretch of a document once.

A passage knows its span in its document, so that every sentence taken from it can
be traced. Overlapping passages of one document become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from pipelines.sentence_table import SentenceTable
from pipelines.splitting import Span
from pipelines.text import sentence_spans, sentence_terms

# Longer than the sentences that are searched (128): an answer should not stop at a comma.
MAX_SENTENCE_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Match:
    """One piece of evidence for a passage, as an arm found it.

    Attributes:
        arm: how it was found (``vectors:child-128``, ``words:parent``).
        score: the arm's raw score (cosine, BM25).
        start, end: span in the document, in characters; ``None`` where it has none.
        of_glossary: whether it was found for what a glossary says, not for the question.
    """

    arm: str
    score: float
    start: int | None = None
    end: int | None = None
    of_glossary: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one document that is read.

    Attributes:
        node_ids: ids of the retrieved nodes that it is made of, best first.
        origin: name of the index it came from (``""`` for a single one).
        document_id: id of the document (``""`` when the node names none).
        start, end: span in the document's derived text; ``None`` where it has none.
        text: verbatim text; ``document.text[start:end]`` where there is a span.
        rank: position in the ranking, from 1.
        file: printed name of the file; the document's id where it has none.
        path: path of the file (``""`` when unknown).
        title, heading: of the document and of the section (``""`` when unknown).
        page: the page of the best evidence, from 1; ``None`` when unknown.
        page_label: the printed label of that page (``""`` when unknown).
        pages: physical pages, from 1.
        matches: the evidence that the arms found, best first.
    """

    node_ids: tuple[str, ...]
    origin: str
    document_id: str
    start: int | None
    end: int | None
    text: str
    rank: int
    file: str = ""
    path: str = ""
    title: str = ""
    heading: str = ""
    page: int | None = None
    page_label: str = ""
    pages: tuple[int, ...] = ()
    matches: tuple[Match, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a passage.

    Attributes:
        passage: index of its passage in the list of passages.
        position: in the passage, from 0.
        start, end: span in the passage's text, in characters.
        text: verbatim text, without white space at its ends.
    """

    passage: int
    position: int
    start: int
    end: int
    text: str

    @property
    def terms(self) -> Sequence[str]:
        """Its search terms, repetitions included."""
        return sentence_terms(self.text)


TableOf = Callable[[Passage], SentenceTable | None]


def passages_of(nodes: Sequence[NodeWithScore]) -> list[Passage]:
    """Return the passages of retrieved nodes, best first, overlaps merged.

    A merged passage has the best rank of its parts.
    """
    passages = [_passage(found, rank) for rank, found in enumerate(nodes, start=1)]
    return merge_overlaps(passages)


def merge_overlaps(passages: Iterable[Passage]) -> list[Passage]:
    """Return passages of which no two share a character of a document, best rank first.

    A passage without a span is dropped when an earlier one of the same document
    has the same text.
    """
    by_document: dict[tuple[str, str], list[Passage]] = {}
    for passage in passages:
        by_document.setdefault((passage.origin, passage.document_id), []).append(passage)
    merged: list[Passage] = []
    for group in by_document.values():
        merged += _merge_spans([p for p in group if p.start is not None])
        merged += _drop_repeated([p for p in group if p.start is None])
    return sorted(merged, key=lambda passage: passage.rank)


def sentences_of(passages: Sequence[Passage], table_of: TableOf = lambda _: None) -> list[Sentence]:
    """Return all sentences of the passages, in their order.

    Args:
        passages: from which the sentences are taken.
        table_of: the sentence table of a passage; None: its sentences are found here.
    """
    found: list[Sentence] = []
    for index, passage in enumerate(passages):
        position = 0
        spans = sentence_spans(
            passage.text, max_tokens=MAX_SENTENCE_TOKENS, table=table_of(passage)
        )
        for start, end in spans:
            raw = passage.text[start:end]
            text = raw.strip()
            if not text:
                continue
            first = start + len(raw) - len(raw.lstrip())
            found.append(Sentence(index, position, first, first + len(text), text))
            position += 1
    return found


def overlap(one: Span, other: Span) -> bool:
    """Tell whether two spans of one text share a character."""
    return one[0] < other[1] and other[0] < one[1]


def hull(spans: Iterable[Span]) -> Span:
    """Return the smallest span that covers all of them."""
    starts, ends = zip(*spans, strict=True)
    return min(starts), max(ends)


def _merge_spans(group: list[Passage]) -> list[Passage]:
    merged: list[Passage] = []
    for passage in sorted(group, key=_span):
        if merged and overlap(_span(merged[-1]), _span(passage)):
            merged[-1] = _union(merged[-1], passage)
        else:
            merged.append(passage)
    return merged


def _union(left: Passage, right: Passage) -> Passage:
    """Join two overlapping passages of which ``left`` starts first."""
    _, left_end = _span(left)
    right_start, right_end = _span(right)
    best, other = (left, right) if left.rank <= right.rank else (right, left)
    tail = right.text[left_end - right_start :] if right_end > left_end else ""
    start, end = hull((_span(left), _span(right)))
    return replace(
        best,
        node_ids=best.node_ids + other.node_ids,
        start=start,
        end=end,
        text=left.text + tail,
        heading=left.heading,
        pages=tuple(sorted({*left.pages, *right.pages})),
        matches=best.matches + other.matches,
    )


def _drop_repeated(group: list[Passage]) -> list[Passage]:
    first: dict[str, Passage] = {}
    for passage in sorted(group, key=lambda passage: passage.rank):
        first.setdefault(passage.text, passage)
    return list(first.values())


def _span(passage: Passage) -> Span:
    return passage.start or 0, passage.end or 0


def _passage(found: NodeWithScore, rank: int) -> Passage:
    node = found.node
    metadata = node.metadata
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    start, end = _node_span(node, text)
    return Passage(
        node_ids=(node.node_id,),
        origin=str(metadata.get("origin") or ""),
        document_id=node.ref_doc_id or "",
        start=start,
        end=end,
        text=text,
        rank=rank,
        file=source_name(node),
        path=str(metadata.get("file_path") or ""),
        title=str(metadata.get("title") or ""),
        heading=str(metadata.get("heading") or ""),
        page=_page(metadata),
        page_label=str(metadata.get("page_label") or ""),
        pages=_pages(metadata),
        matches=_matches(metadata.get("matched")),
    )


def _node_span(node: BaseNode, text: str) -> tuple[int | None, int | None]:
    start = getattr(node, "start_char_idx", None)
    end = getattr(node, "end_char_idx", None)
    # Other splitters give wrong offsets: only those that fit the text count.
    if start is None or end is None or end - start != len(text) or not node.ref_doc_id:
        return None, None
    return start, end


def source_name(node: BaseNode) -> str:
    """Return the name of a node's source: its file's name, else its path, else its id."""
    metadata = node.metadata
    return str(metadata.get("file_name") or metadata.get("file_path") or node.ref_doc_id or "")


def _page(metadata: dict[str, Any]) -> int | None:
    page = metadata.get("page")
    return page if isinstance(page, int) else next(iter(_pages(metadata)), None)


def _pages(metadata: dict[str, Any]) -> tuple[int, ...]:
    pages = metadata.get("pages")
    return tuple(int(page) for page in pages) if isinstance(pages, list | tuple) else ()


def _matches(matched: object) -> tuple[Match, ...]:
    if not isinstance(matched, list | tuple):
        return ()
    return tuple(
        Match(
            str(m.get("arm", "")),
            float(m.get("score") or 0.0),
            m.get("start"),
            m.get("end"),
            bool(m.get("of_glossary")),
        )
        for m in matched
        if isinstance(m, dict)
    )
