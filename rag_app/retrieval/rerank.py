"""Postprocessors of LlamaIndex between fusion and the choice of k: rerankers, filters."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from pydantic import PrivateAttr

from pipelines.errors import ConfigError, RagError, RetrievalError, StoreError
from rag_app.retrieval.evidence import HIDDEN_KEYS
from rag_app.retrieval.fusion import reciprocal_rank_fusion
from rag_app.retrieval.result import Degraded
from rag_app.settings import RERANK_URLS, Settings

_FORM = (
    "it is package.module:NAME, a class of LlamaIndex's postprocessors or a function that returns "
    "one, such as llama_index.core.postprocessor:SentenceTransformerRerank; or "
    "cross-encoder:NAME, cohere:NAME, jina:NAME, like:NAME, tei:NAME, or llm"
)
CROSS_ENCODER, LANGUAGE_MODEL = "cross-encoder", "llm"

Scores = Callable[[str, Sequence[str]], Sequence[float]]
LoadReranker = Callable[[str, int], BaseNodePostprocessor]


class ModelReranker(BaseNodePostprocessor):
    """Orders passages by the scores of a model, best first; equal scores stay in their order.

    A LlamaIndex postprocessor like any other: it works in any query engine.

    Attributes:
        label: what it is called in results and messages.
        top_n: how many passages it returns.
    """

    label: str
    top_n: int
    _scores: Scores = PrivateAttr()

    def __init__(self, *, label: str, top_n: int, scores: Scores) -> None:
        super().__init__(label=label, top_n=top_n)
        self._scores = scores

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex records the class."""
        return "ModelReranker"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise ConfigError(f"the reranker {self.label} was given no question")
        if not nodes:
            return []
        texts = [one.node.get_content(metadata_mode=MetadataMode.EMBED) for one in nodes]
        scores = self._scores(query_bundle.query_str, texts)
        scored = [
            NodeWithScore(node=one.node, score=score)
            for one, score in zip(nodes, scores, strict=True)
        ]
        return sorted(scored, key=lambda one: -(one.score or 0.0))[: self.top_n]


def name_of(processor: BaseNodePostprocessor) -> str:
    """Return what a postprocessor is called in results: its label, else its class."""
    return processor.label if isinstance(processor, ModelReranker) else type(processor).__name__


def load_reranker(name: str, k: int, settings: Settings | None = None) -> BaseNodePostprocessor:
    """Make the reranker that a preset or ``--rerank`` names.

    A postprocessor is made without arguments; one that has a ``top_n`` is told to return ``k``.

    Args:
        name: ``cross-encoder:NAME``, ``cohere:NAME``, ``jina:NAME``, ``like:NAME``,
            ``tei:NAME`` or ``package.module:NAME``.
        k: how many passages are asked for.
        settings: address and key of a server; None: the defaults.

    Raises:
        ConfigError: it cannot be imported or made, or is no postprocessor; says why.
    """
    module, _, attribute = name.partition(":")
    if name == LANGUAGE_MODEL:
        raise ConfigError(
            "a language model reranks only for an index, whose settings name the model",
            hint='use Index.as_retriever, with settings=load_settings(llm="…", rerank="llm")',
        )
    if not module or not attribute:
        raise ConfigError(f"there is no reranker {name!r}", hint=_FORM)
    if module == CROSS_ENCODER:
        from rag_app.models.rerank.cross_encoder import load_cross_encoder

        scores: Scores = load_cross_encoder(attribute, settings or Settings())
        return ModelReranker(label=name, top_n=k, scores=scores)
    if module in RERANK_URLS:
        from rag_app.models.rerank.server import load_rerank_server

        served = load_rerank_server(module, attribute, settings or Settings())
        return ModelReranker(label=name, top_n=k, scores=served.scores)
    return _imported(name, module, attribute, k)


def _imported(name: str, module: str, attribute: str, k: int) -> BaseNodePostprocessor:
    try:
        factory = getattr(importlib.import_module(module), attribute)
        options = {"top_n": k} if "top_n" in getattr(factory, "model_fields", {}) else {}
        made = factory(**options)
    except Exception as error:  # whatever a module of the user's does
        raise ConfigError(
            f"the reranker {name!r} could not be loaded: {type(error).__name__}: {error}",
            hint=f"install what it needs, or name another: {_FORM}",
        ) from error
    if not isinstance(made, BaseNodePostprocessor):
        raise ConfigError(
            f"the reranker {name!r} is of type {type(made).__name__}", hint=f"wrong kind: {_FORM}"
        )
    return made


@dataclass(frozen=True)
class Reranked:
    """What postprocessors made of the candidates.

    Attributes:
        nodes: what they returned, best first; fused with the candidates where that was asked.
        degraded: the postprocessors that failed.
        given: node id → rank and score that the postprocessors gave.
    """

    nodes: list[NodeWithScore]
    degraded: list[Degraded] = field(default_factory=list)
    given: Mapping[str, tuple[int, float]] = field(default_factory=dict)


def rerank(
    candidates: Sequence[NodeWithScore],
    processors: Sequence[BaseNodePostprocessor],
    query: QueryBundle,
    *,
    strict: bool = False,
    fusion_k: float | None = None,
) -> Reranked:
    """Return what the postprocessors make of the candidates, one after the other.

    They are given copies. The order of what they return counts; where their scores do
    not fall along it, the scores are ``1 / rank``. The evidence of a passage stays.
    One that fails is reported and skipped.

    Args:
        candidates: best first.
        processors: what reorders or filters them.
        query: the question.
        strict: whether a failure is raised.
        fusion_k: the k by which their order is fused with that of the candidates by ranks;
            None: it replaces that.

    Raises:
        ConfigError, StoreError: of a postprocessor.
        RetrievalError: one failed, and ``strict`` is set.
    """
    current, degraded = list(candidates), []
    for processor in processors:
        name = name_of(processor)
        try:
            found = processor.postprocess_nodes(_copies(current), query_bundle=query)
            current = _checked(found, current)
        except (ConfigError, StoreError):
            raise
        except Exception as error:
            if strict:
                raise RetrievalError(f"the postprocessor {name} failed: {error!r}") from error
            degraded.append(_failure(name, error))
    if len(degraded) == len(processors):
        return Reranked(current, degraded)
    given = {one.node.node_id: (rank, one.score or 0.0) for rank, one in enumerate(current, 1)}
    if fusion_k is not None:
        current = _fused(candidates, current, fusion_k)
    return Reranked(current, degraded, given)


def _failure(name: str, error: Exception) -> Degraded:
    part = f"postprocessor:{name}"
    if isinstance(error, RagError):
        return Degraded(part, "failed", error.message, error.hint)
    return Degraded(part, "failed", f"{type(error).__name__}: {error}")


def _fused(
    before: Sequence[NodeWithScore], after: Sequence[NodeWithScore], k: float
) -> list[NodeWithScore]:
    """Return what postprocessors left, by its ranks before and after them."""
    left = {one.node.node_id: one.node for one in after}
    ids = [one.node.node_id for one in before if one.node.node_id in left]
    fused = reciprocal_rank_fusion([ids, list(left)], k=k)
    return [NodeWithScore(node=left[item.key], score=item.score) for item in fused]


def _copies(nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    return [NodeWithScore(node=n.node.model_copy(deep=True), score=n.score) for n in nodes]


def _checked(found: Any, given: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """Return what a postprocessor gave: each node once, with its evidence, scores that fall."""
    if not isinstance(found, Sequence) or not all(isinstance(n, NodeWithScore) for n in found):
        raise TypeError(f"it returned {type(found).__name__}, not a list of NodeWithScore")
    once = {n.node.node_id: n for n in reversed(found)}
    nodes = [n for n in found if once[n.node.node_id] is n]
    evidence = {n.node.node_id: n.node.metadata for n in given}
    for one in nodes:
        _restore_evidence(one, evidence.get(one.node.node_id, {}))
    scores = _falling([one.score for one in nodes])
    return [NodeWithScore(node=n.node, score=s) for n, s in zip(nodes, scores, strict=True)]


def _restore_evidence(found: NodeWithScore, evidence: dict[str, Any]) -> None:
    node = found.node
    node.metadata.update({key: evidence[key] for key in HIDDEN_KEYS if key in evidence})
    for hidden in (node.excluded_embed_metadata_keys, node.excluded_llm_metadata_keys):
        hidden.extend(key for key in HIDDEN_KEYS if key not in hidden)


def _falling(scores: Sequence[float | None]) -> list[float]:
    numbers = [math.nan if score is None else float(score) for score in scores]
    falls = all(a >= b for a, b in pairwise(numbers))
    if falls and all(map(math.isfinite, numbers)):
        return numbers
    return [1 / rank for rank, _ in enumerate(numbers, 1)]
