"""A passage → the node that is returned: a copy that carries what matched, and where."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore, TextNode

from pipelines.text import sentence_spans, sentence_terms
from rag_app.retrieval.passages import Passage, fetch
from rag_app.retrieval.queries import query_terms
from rag_app.retrieval.rankings import Found, Ranking, View

Span = tuple[int, int]
HIDDEN_KEYS = ("matched", "origin", "page")


@dataclass(frozen=True)
class Match:
    """One arm's reason for a passage: the node it found, where in the ranking, how much it gave."""

    ranking: Ranking
    rank: int
    found: Found
    value: float


def matches_of(passage: Passage, rankings: Sequence[Ranking]) -> list[Match]:
    """Return what each arm found in a passage.

    An arm that found a node for the question and once more among the preferred
    documents is named once, with the better vote.
    """
    best: dict[tuple[str, str, str], Match] = {}
    for member in passage.members:
        for part in member.contributions:
            ranking = rankings[part.source]
            found = _in(ranking, member.key)
            key = (ranking.arm.name, ranking.query, found.hit.node_id)
            match = Match(ranking, part.rank, found, part.value)
            if key not in best or match.value > best[key].value:
                best[key] = match
    return list(best.values())


def _in(ranking: Ranking, passage_id: str) -> Found:
    return next(found for found in ranking.found if found.hit.passage_id == passage_id)


def returned_nodes(passages: Sequence[Passage], rankings: Sequence[Ranking]) -> list[NodeWithScore]:
    """Return the passages as LlamaIndex takes them, each with its evidence in its metadata."""
    matches = {passage.id: matches_of(passage, rankings) for passage in passages}
    found = {m.found.hit.node_id: m.found for group in matches.values() for m in group}
    # Words are found in the passage itself, which was read already.
    pieces = {p.id: p.node for p in passages if p.id in found and found[p.id].view is p.view}
    pieces |= fetch(found.keys() - pieces.keys(), lambda key: found[key].view)
    return [
        NodeWithScore(node=_returned(passage, matches[passage.id], pieces), score=passage.score)
        for passage in passages
    ]


def _returned(
    passage: Passage, matches: Sequence[Match], pieces: Mapping[str, BaseNode]
) -> BaseNode:
    node = as_window(passage.node, passage.view, passage.window)
    entries = [(match, _matched(match, pieces, node)) for match in matches]
    # Of equal votes the narrower evidence says more about where to look.
    entries.sort(key=lambda pair: (-pair[0].value, len(pair[1]["text"]), pair[1]["arm"]))
    matched = [entry for _, entry in entries]
    first = next(
        (entry["pages"] for entry in matched if entry["pages"]), node.metadata.get("pages")
    )
    node.metadata |= {
        "matched": matched,
        "origin": passage.view.origin or str(node.metadata.get("origin") or ""),
        "page": first[0] if first else None,
    }
    node.excluded_embed_metadata_keys = _with(node.excluded_embed_metadata_keys, HIDDEN_KEYS)
    node.excluded_llm_metadata_keys = _with(node.excluded_llm_metadata_keys, HIDDEN_KEYS)
    return node


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


def _matched(match: Match, pieces: Mapping[str, BaseNode], passage: BaseNode) -> dict[str, Any]:
    hit, ranking = match.found.hit, match.ranking
    piece = pieces.get(hit.node_id, passage)
    entry = {
        "arm": ranking.arm.name,
        "rank": match.rank,
        "score": hit.score,
        "node_id": hit.node_id,
        **place_of(ranking, match.found, piece, passage),
    }
    return {**entry, "query": ranking.query} if ranking.generated else entry


def place_of(ranking: Ranking, found: Found, piece: BaseNode, passage: BaseNode) -> dict[str, Any]:
    """Return what matched: ``text``, ``pages``, and ``start`` and ``end`` in the document.

    Vectors match the whole node; words match the sentence that holds most of them.
    """
    inner = None
    if ranking.arm.how == "words":
        starts = _sentence_starts(piece, found.view)
        inner = best_sentence(piece.get_content(), ranking.query, starts)
    place = _place(piece, found.view, inner)
    if not place["pages"]:
        # A piece (a text that is no part of the passage) lies where its passage lies.
        place["pages"] = list(passage.metadata.get("pages") or [])
    return place


def _place(piece: BaseNode, view: View, inner: Span | None) -> dict[str, Any]:
    """Return text, span and pages of a node, or of a part of it."""
    text = piece.get_content()
    start = getattr(piece, "start_char_idx", None)
    end = getattr(piece, "end_char_idx", None)
    pages = list(piece.metadata.get("pages") or [])
    if inner is not None:
        text = text[slice(*inner)]
        if start is not None:
            start, end = start + inner[0], start + inner[1]
            if len(pages) > 1 and piece.ref_doc_id is not None:
                within = view.snapshot.page_spans(piece.ref_doc_id, start, end)
                pages = [page.number for page in within if page.number is not None]
    return {"text": text, "pages": pages, "start": start, "end": end}


def _sentence_starts(piece: BaseNode, view: View) -> tuple[int, ...] | None:
    """Return where sentences begin in a node's text, where the index knows."""
    start = getattr(piece, "start_char_idx", None)
    end = getattr(piece, "end_char_idx", None)
    if start is None or end is None or piece.ref_doc_id is None:
        return None
    starts = view.snapshot.sentence_starts(piece.ref_doc_id, start, end)
    return None if starts is None else tuple(at - start for at in starts)


# Two lists of words look for it in the same passage, one after the other.
@lru_cache(maxsize=16)
def best_sentence(text: str, query: str, starts: tuple[int, ...] | None = None) -> Span | None:
    """Return the span of the sentence that holds most of the query's terms, else None.

    A term that is rare in the text counts more: ``1 / (sentences that hold it)``.
    Of a sentence that is too long to show, the part that holds most of them is returned.

    Args:
        text: of a passage.
        query: its terms are looked for.
        starts: where sentences begin in the text; None: they are found here.
    """
    wanted = set(query_terms(query))
    best = _best(text, sentence_spans(text, max_tokens=None, starts=starts), wanted)
    if best is None:
        return None
    start, end = best
    parts = sentence_spans(text[start:end], starts=())
    if len(parts) == 1:
        return best
    return _best(text, [(start + low, start + high) for low, high in parts], wanted)


def _best(text: str, spans: Sequence[Span], wanted: set[str]) -> Span | None:
    """Return the span that holds most of the wanted terms, the first of equal ones."""
    held = [wanted.intersection(sentence_terms(text[start:end])) for start, end in spans]
    counts = Counter(chain.from_iterable(held))
    scores = [math.fsum([1 / counts[term] for term in terms]) if terms else 0.0 for terms in held]
    best = max(scores, default=0.0)
    return spans[scores.index(best)] if best else None


def _with(keys: Sequence[str], more: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*keys, *more]))
