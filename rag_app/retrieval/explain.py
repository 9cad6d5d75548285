"""Why a query finds what it finds: every list, every contribution, what was dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from llama_index.core.schema import BaseNode

from rag_app.passages import source_name
from rag_app.retrieval.arms import owners_of
from rag_app.retrieval.candidates import fetch
from rag_app.retrieval.evidence import place_of
from rag_app.retrieval.excerpts import excerpt_of
from rag_app.retrieval.fusion import Fused
from rag_app.retrieval.matched_sentences import MatchedSentences
from rag_app.retrieval.rankings import IndexHit, Ranking
from rag_app.retrieval.result import RetrievalResult

_SNIPPET = 160
_TIERS = ("", " in the named documents", " in those named best")


@dataclass(frozen=True, slots=True)
class Row:
    """One passage in one arm's list, by the node that was found of it."""

    rank: int
    score: float
    passage_id: str
    node_id: str
    origin: str
    file: str
    pages: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class ArmList:
    """One arm's list for one query; see :class:`rag_app.retrieval.rankings.Ranking`.

    ``tier`` is 0 for all documents, 1 for those that the question names, 2 for those
    that it names best.
    """

    arm: str
    query: str
    generated: bool
    tier: int
    weight: float
    of_glossary: bool
    status: str
    reason: str
    found: int
    milliseconds: float
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """What one list gave to a fused score; ``lists`` counts from 0 as in ``arms``."""

    lists: int
    arm: str
    query: str
    tier: int
    of_glossary: bool
    rank: int
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class FusedRow:
    """One passage in the fused list.

    ``outcome``: ``returned``, ``merged`` (into the window of ``into``), ``missing``
    (the index does not hold its node) or ``below`` (after the k that were asked for).
    ``row_factor``: what the sum of its shares was multiplied by, for its rows of tables.
    """

    rank: int
    score: float
    passage_id: str
    origin: str
    file: str
    pages: tuple[int, ...]
    outcome: str
    into: str
    row_factor: float
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class ChosenRow:
    """One passage that the postprocessors chose.

    ``fused_rank`` is its place before (None: new). ``reranked_rank`` and ``reranked_score``
    are what they gave it, which a fusion with the place before does not change (None: they
    failed).
    """

    rank: int
    score: float
    passage_id: str
    origin: str
    file: str
    pages: tuple[int, ...]
    fused_rank: int | None
    reranked_rank: int | None
    reranked_score: float | None


@dataclass(frozen=True)
class Explanation:
    """One query explained; ``to_dict`` for programs, ``render`` for people."""

    question: str
    queries: tuple[str, ...]
    strategy: str
    fusion: str
    fusion_k: float
    k: int
    documents: tuple[dict[str, Any], ...]
    glossary: tuple[dict[str, Any], ...]
    arms: tuple[ArmList, ...]
    fused: tuple[FusedRow, ...]
    postprocessors: tuple[str, ...]
    chosen: tuple[ChosenRow, ...]
    degraded: tuple[dict[str, str], ...]
    timings_ms: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON takes it."""
        return asdict(self)

    def render(self) -> str:
        """Return plain text: named documents and terms, the fused list, then each arm's list."""
        returned = sum(row.outcome == "returned" for row in self.fused)
        parts = [
            f"{self.question}\nstrategy {self.strategy}, fusion {self.fusion}, "
            f"{returned} of {len(self.fused)} shown are returned"
        ]
        parts += [f"further query: {query}" for query in self.queries[1:]]
        parts += [_degraded_line(item) for item in self.degraded]
        if self.documents:
            parts.append("Documents that the question names\n" + _documents(self.documents))
        if self.glossary:
            parts.append("Terms of glossaries in the question\n" + _terms(self.glossary))
        parts.append("Fused\n" + "\n".join(_fused_lines(self.fused)))
        if self.postprocessors:
            parts.append(_chosen_block(self.postprocessors, self.chosen))
        parts += [_arm_block(item) for item in self.arms]
        return "\n\n".join(parts)


def explanation_of(result: RetrievalResult, k: int, top: int) -> Explanation:
    """Return the explanation of a result whose views are still open."""
    reader = _NodeLookup(result, top)
    return Explanation(
        question=result.question,
        queries=tuple(result.queries),
        strategy=result.strategy.name,
        fusion=result.strategy.fusion,
        fusion_k=result.strategy.fusion_k,
        k=k,
        documents=tuple(asdict(document) for document in result.preference.documents),
        glossary=tuple(asdict(term) for term in result.glossary),
        arms=tuple(reader.arm(ranking) for ranking in result.rankings),
        fused=tuple(reader.fused(rank, item) for rank, item in enumerate(result.fused[:top], 1)),
        postprocessors=tuple(result.postprocessors),
        chosen=_chosen(result) if result.postprocessors else (),
        degraded=tuple(asdict(item) for item in result.degraded),
        timings_ms=dict(result.timings_ms),
    )


class _NodeLookup:
    """Reads the nodes that an explanation shows, all at once."""

    def __init__(self, result: RetrievalResult, top: int) -> None:
        self._result, self._top = result, top
        owners = owners_of(result.rankings)
        shown = {item.key for item in result.fused[:top]}
        holders = {key: owners[key] for key in shown}
        self._found: dict[tuple[int, str], IndexHit] = {}
        for number, ranking in enumerate(result.rankings):
            for rank, found in enumerate(ranking.found):
                if rank < top or found.passage_id in shown:
                    holders[found.node_id] = holders[found.passage_id] = found.view
                    self._found[number, found.passage_id] = found
        self._owners = holders
        self._nodes = fetch(holders, holders.__getitem__)
        self._sentences = MatchedSentences()
        self._returned = {found.node.node_id for found in result.nodes}

    def arm(self, ranking: Ranking) -> ArmList:
        """Return the first rows of one arm's list."""
        rows = (
            self._row(ranking, found, rank)
            for rank, found in enumerate(ranking.found[: self._top], 1)
        )
        return ArmList(
            arm=ranking.arm.name,
            query=ranking.query,
            generated=ranking.generated,
            tier=ranking.tier,
            weight=ranking.weight,
            of_glossary=ranking.of_glossary,
            status=ranking.status,
            reason=ranking.reason,
            found=len(ranking.found),
            milliseconds=1000 * ranking.seconds,
            rows=tuple(rows),
        )

    def fused(self, rank: int, item: Fused) -> FusedRow:
        """Return one row of the fused list."""
        node = self._nodes.get(item.key)
        merged = self._result.reading.merged.get(item.key, "")
        outcome = "below"
        if node is None:
            outcome = "missing"
        elif item.key in self._returned:
            outcome = "returned"
        elif merged:
            outcome = "merged"
        return FusedRow(
            rank=rank,
            score=item.score,
            passage_id=item.key,
            origin=self._owners[item.key].origin,
            file=_file(node),
            pages=_pages(node),
            outcome=outcome,
            into=merged,
            row_factor=item.factor,
            shares=tuple(
                self._share(item.key, part.source, part.rank, part.value)
                for part in item.contributions
            ),
        )

    def _row(self, ranking: Ranking, found: IndexHit, rank: int) -> Row:
        place = self._place(ranking, found)
        return Row(
            rank=rank,
            score=found.score,
            passage_id=found.passage_id,
            node_id=found.node_id,
            origin=found.view.origin,
            file=_file(self._nodes.get(found.passage_id)),
            pages=tuple(place["pages"]),
            text=place["text"],
        )

    def _share(self, key: str, source: int, rank: int, value: float) -> Share:
        ranking = self._result.rankings[source]
        found = self._found[source, key]
        text = self._place(ranking, found)["text"]
        return Share(
            lists=source,
            arm=ranking.arm.name,
            query=ranking.query,
            tier=ranking.tier,
            of_glossary=ranking.of_glossary,
            rank=rank,
            value=value,
            text=text,
        )

    def _place(self, ranking: Ranking, found: IndexHit) -> dict[str, Any]:
        piece, passage = (self._nodes.get(key) for key in (found.node_id, found.passage_id))
        if piece is None or passage is None:
            return {"pages": [], "text": ""}
        return place_of(ranking, found, excerpt_of(piece), passage, self._sentences)


def _chosen(result: RetrievalResult) -> tuple[ChosenRow, ...]:
    before = {item.key: rank for rank, item in enumerate(result.fused, 1)}
    given = result.reranked
    return tuple(
        ChosenRow(
            rank=rank,
            score=found.score or 0.0,
            passage_id=found.node.node_id,
            origin=str(found.node.metadata.get("origin") or ""),
            file=_file(found.node),
            pages=_pages(found.node),
            fused_rank=before.get(found.node.node_id),
            reranked_rank=given.get(found.node.node_id, (None, None))[0],
            reranked_score=given.get(found.node.node_id, (None, None))[1],
        )
        for rank, found in enumerate(result.nodes, 1)
    )


def _file(node: BaseNode | None) -> str:
    return "" if node is None else source_name(node)


def _pages(node: BaseNode | None) -> tuple[int, ...]:
    return () if node is None else tuple(node.metadata.get("pages") or ())


def _documents(documents: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(
        f"  {item['score']:6.2f}  {item['name']}  ({', '.join(item['words'])})"
        for item in documents
    )


def _terms(terms: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(
        f"  {item['term']} ({item['glossary']}): {'; '.join(item['prints'])}" for item in terms
    )


def _degraded_line(item: Mapping[str, str]) -> str:
    did = "failed" if item["kind"] == "failed" else "took no part"
    return f"{item['part']} {did}: {item['reason']}"


def _fused_lines(rows: Sequence[FusedRow]) -> list[str]:
    lines: list[str] = []
    for row in rows:
        place = _place(row.origin, row.file, row.pages)
        lines.append(f"{row.rank:>4}  {row.score:.4f}  {place}  {row.outcome}")
        for share in row.shares:
            where = _TIERS[share.tier] + (" for the glossary" if share.of_glossary else "")
            found = f"{share.arm} rank {share.rank}{where}: {_short(share.text)}"
            lines.append(f"        +{share.value:.4f}  {found}")
        if row.row_factor != 1:
            lines.append(f"        ×{row.row_factor:.4f}  for its rows of tables")
    return lines or ["  nothing"]


def _chosen_block(postprocessors: Sequence[str], rows: Sequence[ChosenRow]) -> str:
    lines = [
        f"{row.rank:>4}  {row.score:.4f}  {_place(row.origin, row.file, row.pages)}"
        + (f"  fused rank {row.fused_rank}" if row.fused_rank else "")
        + _reranked(row)
        for row in rows
    ]
    return "\n".join([f"Chosen by {', '.join(postprocessors)}", *(lines or ["  nothing"])])


def _reranked(row: ChosenRow) -> str:
    """Return what the postprocessors gave a passage, where the score shown is another one."""
    if row.reranked_rank is None or row.reranked_score == row.score:
        return ""
    return f", reranked rank {row.reranked_rank} ({row.reranked_score:.4f})"


def _arm_block(item: ArmList) -> str:
    where = _TIERS[item.tier]
    head = f"{item.arm}{where}, weight {item.weight:g}"
    head += f", {item.found} found, {item.milliseconds:.1f} ms"
    if item.generated:
        head += f", for: {item.query}"
    if item.status != "voted":
        return f"{head}\n  {item.reason}"
    lines = [
        f"{r.rank:>4}  {r.score:.4f}  {_place(r.origin, r.file, r.pages)}  {_short(r.text)}"
        for r in item.rows
    ]
    return "\n".join([head, *lines])


def _place(origin: str, file: str, pages: Sequence[int]) -> str:
    name = f"{origin}/{file}" if origin else file
    return f"{name} p. {', '.join(map(str, pages))}" if pages else name


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SNIPPET else line[: _SNIPPET - 1] + "…"
