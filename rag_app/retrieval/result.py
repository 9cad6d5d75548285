"""What one query gave: the nodes, and everything that led to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from llama_index.core.schema import NodeWithScore

from rag_app.retrieval.candidates import CandidateList
from rag_app.retrieval.documents import Preference
from rag_app.retrieval.fusion import Fused
from rag_app.retrieval.glossary import GlossaryTerm
from rag_app.retrieval.rankings import Ranking
from rag_app.retrieval.strategy import Strategy


@dataclass(frozen=True, slots=True)
class Degraded:
    """A part of a strategy that took no part in an answer.

    Attributes:
        part: name of the arm, ``queries`` (the generation of further queries), or
            ``postprocessor:`` and its name (of a reranker; else of its class).
        kind: ``failed`` or ``silent`` (an embedding model that does not know the language).
        reason: what happened.
        hint: what to do.
    """

    part: str
    kind: Literal["failed", "silent"]
    reason: str
    hint: str = ""

    def __str__(self) -> str:
        did = "failed" if self.kind == "failed" else "took no part"
        return f"{self.part} {did}: {self.reason}" + (f" ({self.hint})" if self.hint else "")


@dataclass(frozen=True)
class RetrievalResult:
    """One query in full.

    Attributes:
        question: as it was searched.
        queries: the question and the generated ones.
        strategy: what was run.
        nodes: the passages, best first, with their evidence.
        rankings: what each arm found for each query.
        fused: all passage ids, best first, with what each ranking added.
        reading: which of them became passages.
        preference: the documents that the question names.
        degraded: what took no part.
        glossary: the terms of glossaries that the question names; what documents print for
            them was searched too.
        timings_ms: milliseconds by stage: ``queries``, ``documents``, ``arms``,
            ``fusion``, ``reading``, ``rerank`` (where there is one), ``total``.
        postprocessors: names of what chose ``nodes`` from the passages of ``reading``.
        reranked: node id → rank and score that they gave, before a fusion.
    """

    question: str
    queries: Sequence[str]
    strategy: Strategy
    nodes: Sequence[NodeWithScore]
    rankings: Sequence[Ranking]
    fused: Sequence[Fused]
    reading: CandidateList
    preference: Preference
    degraded: Sequence[Degraded]
    glossary: Sequence[GlossaryTerm]
    timings_ms: Mapping[str, float]
    postprocessors: Sequence[str] = ()
    reranked: Mapping[str, tuple[int, float]] = field(default_factory=dict)
