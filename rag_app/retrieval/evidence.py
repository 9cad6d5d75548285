"""A passage → the node that is returned: a copy that carries what matched, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore, TextNode

from pipelines.splitting import Span
from rag_app.retrieval.candidates import Candidate
from rag_app.retrieval.excerpts import Excerpt, excerpt_of, read_excerpts
from rag_app.retrieval.matched_sentences import MatchedSentences
from rag_app.retrieval.rankings import IndexHit, Ranking, View

HIDDEN_KEYS = ("matched", "origin", "page", "page_label")


@dataclass(frozen=True)
class ArmMatch:
    """One arm's reason for a passage: the node it found, where in the ranking, how much it gave."""

    ranking: Ranking
    rank: int
    found: IndexHit
    value: float


def matches_of(passage: Candidate, rankings: Sequence[Ranking]) -> list[ArmMatch]:
    """Return what each arm found in a passage.

    An arm that found a node for the question and once more among the preferred
    documents is named once, with the better match. What glossaries say has one match, the best:
    to look for its place in the passage by every arm would cost more than it tells.
    """
    best: dict[tuple[str, ...], ArmMatch] = {}
    for member in passage.members:
        for part in member.contributions:
            ranking = rankings[part.source]
            found = _in(ranking, member.key)
            own = (ranking.arm.name, ranking.query, found.node_id)
            key = (ranking.query,) if ranking.of_glossary else own
            match = ArmMatch(ranking, part.rank, found, part.value)
            if key not in best or match.value > best[key].value:
                best[key] = match
    return list(best.values())


def _in(ranking: Ranking, passage_id: str) -> IndexHit:
    return next(found for found in ranking.found if found.passage_id == passage_id)


def returned_nodes(
    passages: Sequence[Candidate], rankings: Sequence[Ranking]
) -> list[NodeWithScore]:
    """Return the passages as LlamaIndex takes them, each with its evidence in its metadata."""
    matches = {passage.id: matches_of(passage, rankings) for passage in passages}
    found = {m.found.node_id: m.found for group in matches.values() for m in group}
    excerpts = read_excerpts(found.values(), {(p.view, p.id): p.node for p in passages})
    sentences = MatchedSentences()
    return [
        NodeWithScore(
            node=_returned(passage, matches[passage.id], excerpts, sentences), score=passage.score
        )
        for passage in passages
    ]


def _returned(
    passage: Candidate,
    matches: Sequence[ArmMatch],
    excerpts: Mapping[str, Excerpt],
    sentences: MatchedSentences,
) -> BaseNode:
    node = as_window(passage.node, passage.view, passage.window)
    entries = [(match, _matched(match, excerpts, node, sentences)) for match in matches]
    # Of equal matches the narrower evidence says more about where to look.
    entries.sort(key=lambda pair: (-pair[0].value, len(pair[1]["text"]), pair[1]["arm"]))
    matched = [entry for _, entry in entries]
    first = next(
        (entry["pages"] for entry in matched if entry["pages"]), node.metadata.get("pages")
    )
    page = first[0] if first else None
    # In place: the node is a copy, and each assignment would validate all of its fields.
    node.metadata.update(
        matched=matched,
        origin=passage.view.origin or str(node.metadata.get("origin") or ""),
        page=page,
        page_label=_label_of(page, node, passage.view),
    )
    for hidden in (node.excluded_embed_metadata_keys, node.excluded_llm_metadata_keys):
        hidden.extend(key for key in HIDDEN_KEYS if key not in hidden)
    return node


def _label_of(page: int | None, node: BaseNode, view: View) -> str:
    """Return the printed label of one of a node's pages; its number where it has none."""
    metadata = node.metadata
    if page is None or page in (metadata.get("pages") or [page])[:1]:
        return str(metadata.get("page_label") or "")
    start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    if node.ref_doc_id is not None and start is not None and end is not None:
        for one in view.snapshot.page_spans(node.ref_doc_id, start, end):
            if one.number == page:
                return one.label
    return str(page)


def joined_evidence(copies: Sequence[BaseNode]) -> BaseNode:
    """Return one node for several copies of it, each found by another arm, with all evidence."""
    first, *others = copies
    if not others:
        return first
    joined = first.model_copy(deep=True)
    matched = [entry for copy in copies for entry in copy.metadata.get("matched") or ()]
    if matched:
        joined.metadata["matched"] = matched
    return joined


def as_window(node: BaseNode, view: View, window: Span | None) -> BaseNode:
    """Return a sentence widened to a span of its document: text, span and pages together.

    The node given is left as it is; without a window it is returned.
    """
    if window is None or node.ref_doc_id is None or not isinstance(node, TextNode):
        return node
    start, end = window
    pages = view.snapshot.page_spans(node.ref_doc_id, start, end)
    widened = node.model_copy(deep=True)
    widened.text = view.snapshot.text(node.ref_doc_id, start, end)
    widened.start_char_idx, widened.end_char_idx = start, end
    widened.metadata |= {
        "pages": [page.number for page in pages if page.number is not None],
        "page_label": pages[0].label if pages else "",
        "window_start": start,
        "window_end": end,
    }
    return widened


def _matched(
    match: ArmMatch, excerpts: Mapping[str, Excerpt], passage: BaseNode, sentences: MatchedSentences
) -> dict[str, Any]:
    hit, ranking = match.found, match.ranking
    excerpt = excerpts.get(hit.node_id) or excerpt_of(passage)
    entry = {
        "arm": ranking.arm.name,
        "rank": match.rank,
        "score": hit.score,
        "node_id": hit.node_id,
        **place_of(ranking, match.found, excerpt, passage, sentences),
    }
    if ranking.generated:
        entry["query"] = ranking.query
    if ranking.of_glossary:
        entry["of_glossary"] = True
    return entry


def place_of(
    ranking: Ranking,
    found: IndexHit,
    excerpt: Excerpt,
    passage: BaseNode,
    sentences: MatchedSentences,
) -> dict[str, Any]:
    """Return what matched: ``text``, ``pages``, and ``start`` and ``end`` in the document.

    Vectors match the whole node; words match the sentence that says most of the query.
    """
    inner = sentences.span(ranking, found, excerpt) if ranking.arm.how == "words" else None
    part = excerpt if inner is None else _part_of(excerpt, found.view, inner)
    # A piece (a text that is no part of the passage) lies where its passage lies.
    pages = list(part.pages) or list(passage.metadata.get("pages") or [])
    return {"text": part.text, "pages": pages, "start": part.start, "end": part.end}


def _part_of(excerpt: Excerpt, view: View, inner: Span) -> Excerpt:
    """Return a part of an excerpt, with the pages that it lies on."""
    text = excerpt.text[slice(*inner)]
    if excerpt.start is None:
        return excerpt._replace(text=text)
    start, end = excerpt.start + inner[0], excerpt.start + inner[1]
    pages = excerpt.pages
    if len(pages) > 1 and excerpt.document_id is not None:
        within = view.snapshot.page_spans(excerpt.document_id, start, end)
        pages = [page.number for page in within if page.number is not None]
    return excerpt._replace(text=text, pages=pages, start=start, end=end)
