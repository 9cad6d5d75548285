"""Postprocessors of LlamaIndex between fusion and the choice of k: rerankers, filters."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.errors import ConfigError, RetrievalError, StoreError
from rag_app.retrieval.evidence import HIDDEN_KEYS
from rag_app.retrieval.result import Degraded

_FORM = (
    "it is package.module:NAME, a class of LlamaIndex's postprocessors or a function that returns "
    "one, such as llama_index.core.postprocessor:SentenceTransformerRerank"
)


def load_reranker(name: str, k: int) -> BaseNodePostprocessor:
    """Import and make the postprocessor that a preset or ``--rerank`` names.

    It is made without arguments; one that has a ``top_n`` is told to return ``k``.

    Args:
        name: ``package.module:NAME``.
        k: how many passages are asked for.

    Raises:
        ConfigError: it cannot be imported or made, or is no postprocessor; says why.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ConfigError(f"there is no reranker {name!r}", hint=_FORM)
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


def rerank(
    candidates: Sequence[NodeWithScore],
    processors: Sequence[BaseNodePostprocessor],
    query: QueryBundle,
    *,
    strict: bool = False,
) -> tuple[list[NodeWithScore], list[Degraded]]:
    """Return what the postprocessors make of the candidates, one after the other.

    They are given copies. The order of what they return counts; where their scores do
    not fall along it, the scores are ``1 / rank``. The evidence of a passage stays.
    One that fails is reported and skipped.

    Raises:
        ConfigError, StoreError: of a postprocessor.
        RetrievalError: one failed, and ``strict`` is set.
    """
    current, degraded = list(candidates), []
    for processor in processors:
        name = type(processor).__name__
        try:
            found = processor.postprocess_nodes(_copies(current), query_bundle=query)
            current = _checked(found, current)
        except (ConfigError, StoreError):
            raise
        except Exception as error:
            if strict:
                raise RetrievalError(f"the postprocessor {name} failed: {error!r}") from error
            reason = f"{type(error).__name__}: {error}"
            degraded.append(Degraded(f"postprocessor:{name}", "failed", reason))
    return current, degraded


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
