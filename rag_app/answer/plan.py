"""From retrieved nodes to a decision: what is read, and whether it is worth an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.text import search_terms
from rag_app.answer.concepts import concepts_of
from rag_app.answer.decision import Thresholds, Verdict, decide, verdict
from rag_app.answer.evidence import Evidence
from rag_app.answer.ranking import FeatureSet, RankedUnit, Similarity, rank_units
from rag_app.answer.response import Decision
from rag_app.answer.units import Unit, units_of
from rag_app.answer.wording import AnswerKind, wording_of
from rag_app.models.usage import Meter
from rag_app.passages import Passage, Sentence, passages_of, sentences_of
from rag_app.session import QuerySession
from rag_app.store.protocol import Store


@runtime_checkable
class DetailedRetriever(Protocol):
    """A retriever that also says what failed and what else it searched."""

    def retrieve_detailed(self, query: QueryBundle) -> Any:
        """Return an object with ``nodes``, ``degraded`` and ``queries``."""
        ...


@runtime_checkable
class SessionRetriever(DetailedRetriever, Protocol):
    """A retriever that reads what it is given to read."""

    @property
    def stores(self) -> Mapping[str, Store]:
        """The indexes that it searches, by the names that its results call them."""
        ...

    def retrieve_in(self, session: QuerySession, query: QueryBundle) -> Any:
        """Return what ``retrieve_detailed`` does, out of a session of its ``stores``."""
        ...


@dataclass(frozen=True)
class Retrieved:
    """What a retriever returned.

    Attributes:
        nodes: best first.
        degraded: arms that failed and were done without.
        queries: further queries that were searched beside the question.
        glossary: terms of glossaries that the question names.
        cost: what a language model cost on the way (it wrote the further queries).
    """

    nodes: list[NodeWithScore]
    degraded: list[Any] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    glossary: list[Any] = field(default_factory=list)
    cost: Meter = field(default_factory=Meter)


@dataclass(frozen=True)
class Plan:
    """What is read for an answer.

    Attributes:
        question: as it was asked.
        found: what was retrieved.
        passages: the retrieved nodes, overlaps merged, best first.
        sentences: of these passages.
        weights: IDF weight of each search term of the question.
    """

    question: str
    found: Retrieved
    passages: list[Passage]
    sentences: list[Sentence]
    weights: dict[str, float]

    @property
    def vectors_used(self) -> bool:
        """Whether a vector arm found one of the passages."""
        return any(m.arm.startswith("vectors:") for p in self.passages for m in p.matches)


@dataclass(frozen=True)
class Judgement:
    """What is known without a language model.

    Attributes:
        units: the sentences and rows that the passages hold, in reading order.
        ranked: those that may be shown, best first.
        decision: what the verdict rests on.
        verdict: whether to answer.
        by: the coefficients that were used.
        kind: what is asked for.
    """

    units: Sequence[Unit]
    ranked: Sequence[RankedUnit]
    decision: Decision
    verdict: Verdict
    by: FeatureSet
    kind: AnswerKind


def make_plan(question: str, found: Retrieved, evidence: Evidence) -> Plan:
    """Merge what was retrieved, and find its sentences."""
    passages = passages_of(found.nodes)
    return Plan(
        question=question,
        found=found,
        passages=passages,
        sentences=sentences_of(passages, evidence.sentences),
        weights=evidence.idf(set(search_terms(question))),
    )


def judge(
    plan: Plan,
    evidence: Evidence,
    thresholds: Thresholds,
    similarity: Similarity | None = None,
) -> Judgement:
    """Rank the sentences and rows of the passages, and decide.

    Args:
        plan: what is read.
        evidence: what else the index knows.
        thresholds: when a question is answered.
        similarity: as in :func:`rank_units`.
    """
    wording = wording_of(plan.question)
    units = units_of(plan.passages, plan.sentences, evidence)
    ranking = rank_units(
        wording,
        concepts_of(wording.subject, evidence, _printed(plan.found.glossary)),
        plan.passages,
        units,
        similarity,
    )
    decision = decide(ranking, thresholds)
    judged = verdict(
        plan.question, decision, plan.passages, evidence, vectors_used=plan.vectors_used
    )
    return Judgement(units, ranking.units, decision, judged, ranking.by, wording.kind)


def _printed(glossary: Sequence[Any]) -> dict[str, tuple[str, ...]]:
    """Return the terms of glossaries that a question names, with what documents print for them."""
    return {term.term: tuple(term.prints) for term in glossary if term.sort == "terms"}


def retrieved_of(result: Any, question: str, cost: Meter | None = None) -> Retrieved:
    """Return what ``retrieve_detailed`` gave, or a plain list of nodes, as ``Retrieved``."""
    cost = cost or Meter()
    if isinstance(result, Sequence):
        return Retrieved(list(result), cost=cost)
    own = {question, getattr(result, "question", question)}
    queries = [query for query in getattr(result, "queries", ()) or () if query not in own]
    degraded = list(getattr(result, "degraded", ()) or ())
    glossary = list(getattr(result, "glossary", ()) or ())
    return Retrieved(list(result.nodes), degraded, queries, glossary, cost)
