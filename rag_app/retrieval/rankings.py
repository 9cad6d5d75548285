"""Each arm over each query → ranked lists of passages that say where they come from."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from pipelines.analysers import query_terms
from pipelines.errors import ConfigError, EmbeddingError, IndexMismatchError, StoreError
from pipelines.text import language_name
from rag_app.retrieval.language import knows
from rag_app.retrieval.strategy import Arm
from rag_app.store import idf
from rag_app.store.array_types import Vector
from rag_app.store.protocol import Hit, Selection, Snapshot

Status = Literal["voted", "nothing", "silent", "failed"]
Embed = Callable[[str], Sequence[float]]


@dataclass(frozen=True, eq=False)
class View:
    """One index as one query sees it.

    Attributes:
        origin: its name among several; empty for a single one.
        snapshot: exactly one generation of it.
        embed: text → vector, of the model that the index was made with; None: no model.
        within: the passages that the filters keep; None: all.
        preferred: narrower and narrower sets of them, in the documents that the question
            names and in those that it names best; empty: no preference.
    """

    origin: str
    snapshot: Snapshot
    embed: Embed | None
    within: Selection | None = None
    preferred: tuple[Selection, ...] = ()

    def scope(self, tier: int) -> Selection | None:
        """Return the passages that are searched in a tier: 0 is all that the filters keep."""
        return self.preferred[tier - 1] if tier else self.within


class IndexHit(NamedTuple):
    """A passage in a ranked list: its best node with the raw score, and the index it is in."""

    passage_id: str
    node_id: str
    score: float
    view: View


@dataclass(frozen=True)
class Ranking:
    """What one arm found for one query.

    Attributes:
        arm, query: who searched for what.
        views: where: indexes whose scores can be compared.
        generated: whether the query is another than the question.
        tier: where it is searched: 0 everywhere, 1 in the documents that the question
            names, 2 in those that it names best.
        weight: in the fusion.
        of_glossary: whether the query is what glossaries say of words of the question.
        found: passages, best first.
        status: ``voted``; ``nothing`` (no passage); ``silent`` (the model does not
            know the query's language); ``failed``.
        reason: why it took no part.
        seconds: spent.
        error: what made it fail.
    """

    arm: Arm
    query: str
    views: tuple[View, ...] = field(repr=False)
    generated: bool = False
    tier: int = 0
    weight: float = 1.0
    of_glossary: bool = False
    found: tuple[IndexHit, ...] = ()
    status: Status = "voted"
    reason: str = ""
    seconds: float = 0.0
    error: Exception | None = field(default=None, compare=False)


VectorKey = tuple[str, str]  # of a model, and a text
_MAX_REPEATED_VECTORS = 256


class QueryVectors:
    """The vectors of one question's queries, each computed once, also when it fails.

    Args:
        given: vectors that the caller has computed, by text.
        repeated: vectors of texts that several questions search, such as what a glossary
            says; those of ``texts`` are taken from it and put into it.
        texts: which.
    """

    def __init__(
        self,
        given: Mapping[str, Sequence[float]] | None = None,
        repeated: MutableMapping[VectorKey, Vector] | None = None,
        texts: Collection[str] = (),
    ) -> None:
        self._given = given or {}
        self._repeated = {} if repeated is None else repeated
        self._texts = texts
        self._known: dict[VectorKey, Vector | Exception] = {}

    def get(self, view: View, text: str) -> Vector:
        """Return the unit vector of a query by the model of an index, shape (dimension,).

        Raises:
            ConfigError: the index needs a model and none was given.
            IndexMismatchError: the model's vectors have another length.
            EmbeddingError: the model failed, or its vector is no direction.
        """
        key = (model_of(view), text)
        if key not in self._known:
            repeated = self._repeated.get(key)
            self._known[key] = self._compute(view, text) if repeated is None else repeated
        known = self._known[key]
        if isinstance(known, Exception):
            raise known
        if text in self._texts and key not in self._repeated:
            if len(self._repeated) >= _MAX_REPEATED_VECTORS:
                self._repeated.clear()
            self._repeated[key] = known
        return known

    def _compute(self, view: View, text: str) -> Vector | Exception:
        config = view.snapshot.config
        if view.embed is None:
            return ConfigError(
                "this strategy searches by vectors and no embedding model was given",
                hint=f"pass embed_model (the index was made with {config.embed_model})",
            )
        try:
            found = self._given.get(text)
            if found is None:
                found = view.embed(text)
            vector = np.asarray(found, dtype=np.float32)
        except (ConfigError, StoreError, EmbeddingError) as error:
            return error
        except Exception as error:
            failure = EmbeddingError(
                f"{config.embed_model} could not embed it: {type(error).__name__}: {error}"
            )
            failure.__cause__ = error
            return failure
        if vector.shape != (config.dimension,):
            return IndexMismatchError(
                f"the embedding model gives {vector.shape} numbers, the index holds "
                f"{config.dimension} ({config.embed_model})",
                hint="open the index with the model it was made with",
            )
        length = float(np.linalg.norm(vector))
        if not (math.isfinite(length) and length > 0):
            return EmbeddingError(f"{config.embed_model} gave a vector without a direction")
        return vector / np.float32(length)


def knows_language(view: View, text: str) -> bool:
    """Tell whether the embedding model of an index knows the language of a text."""
    return knows(view.snapshot.config.scripts, text)


def model_of(view: View) -> str:
    """Return what tells the models of two indexes apart; equal ones can be compared."""
    config = view.snapshot.config
    return f"{config.embed_fingerprint or config.embed_model}|{config.query_instruction}"


def rank(ranking: Ranking, depth: int, vectors: QueryVectors) -> Ranking:
    """Return the ranking with what its arm finds.

    Raises:
        ConfigError, StoreError: the configuration or an index is wrong. Whatever
            else goes wrong makes the ranking ``failed``.
    """
    started = time.perf_counter()
    try:
        if ranking.arm.how == "vectors":
            done = _by_vectors(ranking, depth, vectors)
        else:
            done = _by_words(ranking, depth)
    except (ConfigError, StoreError):
        raise
    except Exception as error:
        reason = str(error) if isinstance(error, EmbeddingError) else repr(error)
        done = _Done(status="failed", reason=reason, error=error)
    return replace(ranking, **done._asdict(), seconds=time.perf_counter() - started)


class _Done(NamedTuple):
    """The outcome of one search: hits, status, and the reason where it failed."""

    found: tuple[IndexHit, ...] = ()
    status: Status = "voted"
    reason: str = ""
    error: Exception | None = None


def _by_vectors(ranking: Ranking, depth: int, vectors: QueryVectors) -> _Done:
    able = [view for view in ranking.views if knows_language(view, ranking.query)]
    if not able:
        model = ranking.views[0].snapshot.config.embed_model
        language = language_name(ranking.query)
        return _Done(status="silent", reason=f"{model} does not know {language}")
    found = {}
    for view in able:
        vector, within = vectors.get(view, ranking.query), view.scope(ranking.tier)
        found[view] = view.snapshot.search_vectors(ranking.arm.kind, vector, depth, within)
    return _merged(found, dict.fromkeys(found, 1.0), depth)


def _by_words(ranking: Ranking, depth: int) -> _Done:
    terms = query_terms(ranking.query, ranking.arm.kind)
    found = {
        view: view.snapshot.search_words(ranking.arm.kind, terms, depth, view.scope(ranking.tier))
        for view in ranking.views
    }
    # BM25 of two collections is comparable as the share of the question that is found.
    whole = {
        view: 1.0 if len(found) == 1 else _weight_of(terms, view, ranking.arm.kind)
        for view in found
    }
    return _merged(found, whole, depth)


def _weight_of(terms: Sequence[str], view: View, kind: str) -> float:
    weights = term_weights(view, kind, terms)
    return math.fsum(weights[term] for term in terms)


def term_weights(view: View, kind: str, terms: Sequence[str]) -> dict[str, float]:
    """Return the IDF weight of each term among the nodes of a kind, as BM25 has it."""
    total, counts = view.snapshot.document_frequencies(kind, set(terms))
    return {term: idf(total, counts[term]) for term in terms}


def _merged(found: Mapping[View, Sequence[Hit]], whole: Mapping[View, float], depth: int) -> _Done:
    """Return the hits of all indexes, by the share of ``whole`` that they score.

    A passage that is in several indexes has the place of its best hit.
    """
    kept = [IndexHit(*hit, view) for view, hits in found.items() for hit in hits]
    if len(found) > 1:
        kept.sort(key=lambda one: (-one.score / whole[one.view], one.passage_id))
        best: dict[str, IndexHit] = {}
        for one in kept:
            best.setdefault(one.passage_id, one)
        kept = list(best.values())[:depth]
    if not kept:
        return _Done(status="nothing", reason="nothing matches")
    return _Done(tuple(kept))
