"""From retrieved nodes to a decision: what is read, and whether it is worth an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.text import content_words, search_terms
from rag_app.answer.evidence import Evidence
from rag_app.answer.refusal import (
    Scale,
    Signals,
    Thresholds,
    Verdict,
    decision_of,
    signals,
    verdict,
)
from rag_app.answer.response import Decision
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
    """What is known before a sentence is written.

    Attributes:
        question: as it was asked.
        found: what was retrieved.
        passages: the retrieved nodes, overlaps merged, best first.
        sentences: of these passages.
        weights: IDF weight of each search term of the question.
        signals: what the verdict rests on.
        verdict: whether to answer.
        decision: score and thresholds behind it; ``None`` where nothing was found.
    """

    question: str
    found: Retrieved
    passages: list[Passage]
    sentences: list[Sentence]
    weights: dict[str, float]
    signals: Signals
    verdict: Verdict
    decision: Decision | None

    @property
    def meaning_voted(self) -> bool:
        """Whether a vector arm found one of the passages."""
        return self.signals.cosine is not None


def make_plan(
    question: str,
    found: Retrieved,
    evidence: Evidence,
    thresholds: Thresholds,
    scale: Scale | None = None,
) -> Plan:
    """Merge, measure and decide (``scale``: of cosines, as in :func:`signals`)."""
    passages = passages_of(found.nodes)
    sentences = sentences_of(passages, evidence.sentences)
    words = set(content_words(question))
    weights = evidence.idf({*search_terms(question), *words})
    measured = signals(question, _only(weights, words), passages, sentences, scale)
    return Plan(
        question=question,
        found=found,
        passages=passages,
        sentences=sentences,
        weights=_only(weights, set(search_terms(question))),
        signals=measured,
        verdict=verdict(question, measured, passages, evidence, thresholds),
        decision=decision_of(measured, thresholds) if passages else None,
    )


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


def _only(weights: dict[str, float], terms: set[str]) -> dict[str, float]:
    return {term: weight for term, weight in weights.items() if term in terms}
