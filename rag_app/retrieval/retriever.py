"""A strategy over an index, or over several, as a LlamaIndex retriever."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index.core.vector_stores.types import MetadataFilters

from pipelines.analysers import fingerprints
from pipelines.errors import ConfigError, MissingNodesError, RetrievalError
from pipelines.quantities import asks_for_quantity
from pipelines.terms import search_terms
from rag_app import bounds
from rag_app.bounds import shown
from rag_app.retrieval.arms import fuse, owners_of, plan, run
from rag_app.retrieval.candidates import CandidateList, read_candidates
from rag_app.retrieval.catalogue import Catalogues
from rag_app.retrieval.documents import Preference, prefer
from rag_app.retrieval.evidence import returned_nodes
from rag_app.retrieval.filtering import refuse_filters_that_fit_nothing
from rag_app.retrieval.fusion import Fused
from rag_app.retrieval.glossary import GlossaryTerm, search_text, synonyms_in, terms_in
from rag_app.retrieval.glossary_files import load_glossaries
from rag_app.retrieval.queries import QueryGenerator, all_queries, clean_question
from rag_app.retrieval.rankings import QueryVectors, Ranking, VectorKey, View
from rag_app.retrieval.rerank import LoadReranker, Reranked, load_reranker, name_of, rerank
from rag_app.retrieval.result import Degraded, RetrievalResult
from rag_app.retrieval.row_weight import weigh_rows
from rag_app.retrieval.strategy import Arm, Strategy, get_strategy, pipeline_of
from rag_app.session import QuerySession
from rag_app.stopwatch import Stopwatch
from rag_app.store.array_types import Vector
from rag_app.store.protocol import IndexConfig, Store

if TYPE_CHECKING:
    from rag_app.retrieval.explain import Explanation

DEFAULT_TOP_K = 5


@dataclass(frozen=True)
class Member:
    """One index of a retriever: its store, the model it was made with, its filters, its name."""

    store: Store
    embed_model: BaseEmbedding | None
    filters: MetadataFilters | None
    origin: str


class StrategyRetriever(BaseRetriever):
    """Searches an index by a strategy; each query sees exactly one generation of it.

    Returned nodes are copies: nothing done to them changes the index. Each carries
    in its metadata ``matched`` (what each arm found, best first), ``origin`` and
    ``page`` (the first page of the best evidence), which no model reads.

    Args:
        store: the index.
        strategy: a name of ``STRATEGIES`` or your own composition.
        embed_model: the model that the index was made with; not needed by words alone.
        similarity_top_k: how many distinct passages are returned, where there are so many.
        depth: how many passages each arm ranks; None: as the strategy says.
        filters: which passages are searched.
        query_generator: question → further questions that are searched as well.
        prefer_documents: prefer the documents that the question names; None: as the
            strategy says.
        prefer_tables: prefer passages with tables where the question asks for a quantity;
            None: as the strategy says.
        glossary: names of glossaries, or files, with what documents print for words of the
            question; ``["none"]``: none; None: as the strategy says.
        node_postprocessors: what reorders or filters the first ``rerank_depth`` passages of
            the strategy before the best k are taken; None: what the strategy names.
        make_reranker: name and number of passages → the reranker that the strategy names.
        strict: raise when a part of the strategy fails, instead of answering by the rest.
        origin: name of the index, shown in the results.
        session: one of the index, in which the filters are checked now; None: one for that.
        callback_manager: as in LlamaIndex; the global one is never asked.

    Raises:
        ConfigError: an impossible k or depth, or a missing embedding model.
        MissingNodesError: the index does not hold what the strategy searches.
    """

    def __init__(
        self,
        store: Store,
        strategy: str | Strategy = "hybrid",
        *,
        embed_model: BaseEmbedding | None = None,
        similarity_top_k: int = DEFAULT_TOP_K,
        depth: int | None = None,
        filters: MetadataFilters | None = None,
        query_generator: QueryGenerator | None = None,
        prefer_documents: bool | None = None,
        prefer_tables: bool | None = None,
        glossary: Sequence[str] | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] | None = None,
        make_reranker: LoadReranker = load_reranker,
        strict: bool = False,
        origin: str = "",
        session: QuerySession | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        chosen = get_strategy(strategy)
        if depth is not None:
            chosen = replace(chosen, depth=depth)
        if prefer_documents is not None:
            chosen = replace(chosen, prefer_documents=prefer_documents)
        if prefer_tables is not None:
            chosen = replace(chosen, prefer_tables=prefer_tables)
        if glossary is not None:
            chosen = replace(chosen, glossary=tuple(glossary))
        self._set_up((Member(store, embed_model, filters, origin),), chosen, similarity_top_k)
        self._strict, self._make_reranker = strict, make_reranker
        self._check(session)
        self._postprocessors = self._named_postprocessors(node_postprocessors)
        self._query_generator = query_generator
        super().__init__(callback_manager=callback_manager)

    def _set_up(self, members: tuple[Member, ...], strategy: Strategy, k: int) -> None:
        check_top_k(k)
        self._members, self._strategy, self._k = members, strategy, k
        self._checked: set[tuple[int, int]] = set()
        # Raw scores of different queries cannot be compared.
        named = () if strategy.fusion == "max" else strategy.glossary
        self._glossaries = load_glossaries(named)
        self._vectors: dict[VectorKey, Vector] = {}

    def _named_postprocessors(
        self, given: Sequence[BaseNodePostprocessor] | None
    ) -> tuple[BaseNodePostprocessor, ...]:
        if given is not None:
            return tuple(given)
        named = self._strategy.rerank
        if not named:
            return ()
        # What is fused is cut afterwards.
        count = (
            max(self._k, self._strategy.rerank_depth) if self._strategy.rerank_fused else self._k
        )
        return (self._make_reranker(named, count),)

    def _check(self, session: QuerySession | None) -> None:
        """Raise early the errors that every question would raise."""
        known = all(_is_plain(self._strategy, one.store.config) for one in self._members)
        # What this process has not seen yet, another one may have added.
        if not known or any(one.filters for one in self._members):
            with QuerySession(self.stores) if session is None else nullcontext(session) as current:
                self._check_kinds(self._views(current))
        for member in self._members:
            _check_model(self._strategy, member)

    @property
    def strategy(self) -> Strategy:
        """What is run."""
        return self._strategy

    @property
    def similarity_top_k(self) -> int:
        """How many passages are returned."""
        return self._k

    @property
    def stores(self) -> Mapping[str, Store]:
        """The indexes that are searched, by their names among several."""
        return {member.origin: member.store for member in self._members}

    def named(self, origin: str) -> Self:
        """Return the same retriever over one index, whose results name their origin."""
        other = copy.copy(self)
        other._members = tuple(replace(member, origin=origin) for member in self._members)
        return other

    def as_strict(self) -> Self:
        """Return the same retriever, which raises where this one answers by the rest."""
        strict = copy.copy(self)
        strict._strict = True
        return strict

    def retrieve_detailed(self, query: QueryType) -> RetrievalResult:
        """Return the passages and everything that led to them.

        Raises:
            ConfigError, StoreError: the question is empty, or the configuration or an
                index is wrong.
            RetrievalError: all arms failed, or one did and the retriever is strict.
        """
        with QuerySession(self.stores) as session:
            return self.retrieve_in(session, query)

    def retrieve_in(self, session: QuerySession, query: QueryType) -> RetrievalResult:
        """Do the same as :meth:`retrieve_detailed`, reading in a session.

        Args:
            session: of this retriever's ``stores``; it stays open.
            query: the question.
        """
        return self._search(_bundle(query), self._views(session))

    def explain(self, query: QueryType, *, top: int = 10) -> Explanation:
        """Return why a query finds what it finds: the first ``top`` of every list.

        Raises: as :meth:`retrieve_detailed`.
        """
        with QuerySession(self.stores) as session:
            return self.explain_in(session, query, top=top)

    def explain_in(self, session: QuerySession, query: QueryType, *, top: int = 10) -> Explanation:
        """Do the same as :meth:`explain`, reading in a session of this retriever's ``stores``."""
        from rag_app.retrieval.explain import explanation_of

        found = self._search(_bundle(query), self._views(session))
        return explanation_of(found, self._k, top)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(self.retrieve_detailed(query_bundle).nodes)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _views(self, session: QuerySession) -> list[View]:
        """Return each index as this question sees it."""
        views = []
        for member in self._members:
            snapshot = session.snapshot(member.store)
            model = member.embed_model
            embed = model.get_query_embedding if model is not None else None
            within = snapshot.select(member.filters) if member.filters else None
            views.append(View(member.origin, snapshot, embed, within))
        return views

    def _search(self, bundle: QueryBundle, views: Sequence[View]) -> RetrievalResult:
        clock = Stopwatch()
        self._check_kinds(views)
        refuse_filters_that_fit_nothing(views, [member.filters for member in self._members])
        question = clean_question(bundle.query_str)
        queries, degraded = self._queries(question)
        clock.lap("queries")
        views, preference = self._prefer(question, views)
        clock.lap("documents")
        terms = terms_in(question, self._glossaries)
        if self._glossaries:
            terms = (*terms, *(one for one in synonyms_in(question) if _is_absent(one, views)))
        printed = search_text(terms)
        planned = plan(self._strategy, queries, views, printed)
        vectors = QueryVectors(_given_vectors(bundle, question), self._vectors, {printed})
        wanted = self._wanted()
        depth = max(self._strategy.depth, wanted)
        while True:
            rankings = run(planned, depth, vectors)
            clock.lap("arms")
            owners = owners_of(rankings)
            fused = self._fused(question, rankings, owners)
            reading = read_candidates(fused, owners, wanted)
            clock.lap("fusion")
            if not _wants_more(reading, rankings, wanted, depth):
                break
            depth *= 4
        degraded += self._failures(rankings)
        nodes = returned_nodes(reading.passages, rankings)
        clock.lap("reading")
        reranked = Reranked(nodes)
        if self._postprocessors:
            reranked = self._rerank(nodes, bundle)
            clock.lap("rerank")
        return RetrievalResult(
            question=question,
            queries=queries,
            strategy=self._strategy,
            nodes=reranked.nodes[: self._k],
            rankings=rankings,
            fused=fused,
            reading=reading,
            preference=preference,
            degraded=degraded + reranked.degraded,
            glossary=terms,
            timings_ms=clock.timings(),
            postprocessors=tuple(map(name_of, self._postprocessors)),
            reranked=reranked.given,
        )

    def _fused(
        self, question: str, rankings: Sequence[Ranking], owners: Mapping[str, View]
    ) -> list[Fused]:
        fused = fuse(self._strategy, rankings)
        # Cosines and BM25 scores as they are can be below 0, and are shown as what they are.
        weighable = self._strategy.prefer_tables and self._strategy.fusion != "max"
        return weigh_rows(fused, owners) if weighable and asks_for_quantity(question) else fused

    def _rerank(self, nodes: Sequence[NodeWithScore], bundle: QueryBundle) -> Reranked:
        strategy = self._strategy
        fusion_k = strategy.fusion_k if strategy.rerank_fused else None
        return rerank(nodes, self._postprocessors, bundle, strict=self._strict, fusion_k=fusion_k)

    def _wanted(self) -> int:
        """Return how many passages are read: k, or what the postprocessors choose from."""
        if not self._postprocessors:
            return self._k
        return max(self._k, min(self._strategy.depth, self._strategy.rerank_depth))

    def _queries(self, question: str) -> tuple[list[str], list[Degraded]]:
        if self._query_generator is None:
            return [question], []
        try:
            generated = self._query_generator(question)
            return all_queries(question, generated), []
        except Exception as error:
            if self._strict or isinstance(error, ConfigError):
                raise
            return [question], [Degraded("queries", "failed", str(error) or repr(error))]

    def _failures(self, rankings: Sequence[Ranking]) -> list[Degraded]:
        """Return what took no part; raise when nothing did, or when nothing may be missing."""
        failed = [ranking for ranking in rankings if ranking.status == "failed"]
        answered = any(ranking.status in ("voted", "nothing") for ranking in rankings)
        if failed and (self._strict or not answered):
            reasons = dict.fromkeys(f"{r.arm.name}: {r.reason}" for r in failed)
            raise RetrievalError(
                f"{'an arm' if answered else 'every arm'} of {self._strategy.name!r} failed: "
                + "; ".join(reasons)
            ) from failed[0].error
        hint = "choose a multilingual embedding model and ingest again to search it by meaning too"
        return list(
            dict.fromkeys(
                Degraded(r.arm.name, r.status, r.reason, hint if r.status == "silent" else "")
                for r in rankings
                # What a glossary says may be in another language than the question.
                if r.status == "failed" or (r.status == "silent" and not r.of_glossary)
            )
        )

    def _prefer(self, question: str, views: Sequence[View]) -> tuple[Sequence[View], Preference]:
        if not self._strategy.prefer_documents or self._strategy.fusion == "max":
            return views, Preference()
        catalogues = [Catalogues.of(member.store) for member in self._members]
        return prefer(question, views, catalogues, [member.filters for member in self._members])

    def _check_kinds(self, views: Sequence[View]) -> None:
        """Raise when an index lacks what an arm searches; asked once for each generation."""
        for member, view in enumerate(views):
            seen = (member, view.snapshot.generation)
            if seen in self._checked:
                continue
            for arm in self._strategy.arms:
                if arm.weight and not view.snapshot.has_kind(arm.kind, arm.how):
                    raise _missing(self._strategy, arm, self._members[member])
                if arm.weight and arm.how == "words":
                    fingerprints([arm.kind], dict(view.snapshot.config.analysers))
            self._checked.add(seen)


class JoinedRetriever(StrategyRetriever):
    """Several indexes as one; results say in ``origin`` which they came from.

    Vectors of one model are ranked together by cosine, words by the share of the
    question's weight that is found (BM25 scores of two collections are not
    comparable as they stand), vectors of different models apart; then all rankings
    are fused by rank.

    Args:
        retrievers: one for each index; the first one's strategy is run on all.
        similarity_top_k: how many passages are returned; None: as the first one.
        node_postprocessors: as for :class:`StrategyRetriever`; those of the parts do not count.
        session: as for :class:`StrategyRetriever`.
    """

    def __init__(
        self,
        retrievers: Sequence[StrategyRetriever],
        *,
        similarity_top_k: int | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] | None = None,
        session: QuerySession | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        if not retrievers:
            raise ConfigError("no index to search", hint="give one or more retrievers")
        first = retrievers[0]
        members = tuple(member for retriever in retrievers for member in retriever._members)
        names = [member.origin for member in members]
        if len(set(names)) != len(names):
            raise ConfigError(
                f"the indexes are named {', '.join(map(repr, names))}",
                hint="give each retriever its own origin",
            )
        k = first.similarity_top_k if similarity_top_k is None else similarity_top_k
        self._set_up(members, first.strategy, k)
        self._strict, self._query_generator = first._strict, first._query_generator
        self._make_reranker = first._make_reranker
        self._check(session)
        self._postprocessors = self._named_postprocessors(node_postprocessors)
        BaseRetriever.__init__(self, callback_manager=callback_manager)


def check_top_k(k: object) -> None:
    """Raise where the number of passages is not allowed.

    Raises:
        ConfigError: says what is allowed.
    """
    if not bounds.PASSAGES.hold(k):
        raise ConfigError(f"similarity_top_k is {shown(k)}", hint=f"it must be {bounds.PASSAGES}")


def _bundle(query: QueryType) -> QueryBundle:
    return QueryBundle(query) if isinstance(query, str) else query


def _given_vectors(bundle: QueryBundle, question: str) -> dict[str, Sequence[float]]:
    return {question: bundle.embedding} if bundle.embedding else {}


def _is_absent(term: GlossaryTerm, views: Sequence[View]) -> bool:
    """Tell whether a word of the question stands in no passage, though the index counts words."""
    words = [one for one in search_terms(term.term) if len(one) > 1]
    counting = [view.snapshot for view in views if view.snapshot.has_kind("parent", "words")]
    return bool(words and counting) and all(
        0 in snapshot.document_frequencies("parent", words)[1].values() for snapshot in counting
    )


def _wants_more(reading: CandidateList, rankings: Sequence[Ranking], k: int, depth: int) -> bool:
    """Tell whether merging left fewer than k passages and an arm has more to give."""
    full = any(len(ranking.found) >= depth for ranking in rankings)
    return len(reading.passages) < k and full


def _is_plain(strategy: Strategy, config: IndexConfig) -> bool:
    """Tell whether a configuration names all that the arms search, and no analyser to compare."""
    kinds = {"vectors": config.vector_kinds, "words": config.word_kinds}
    compared = dict(config.analysers)
    arms = [arm for arm in strategy.arms if arm.weight]
    return all(arm.kind in kinds[arm.how] and arm.kind not in compared for arm in arms)


def _check_model(strategy: Strategy, member: Member) -> None:
    if strategy.needs_vectors and member.embed_model is None:
        raise ConfigError(
            f"the strategy {strategy.name!r} searches by vectors",
            hint=f"pass embed_model ({member.store.config.embed_model})",
        )


def _missing(strategy: Strategy, arm: Arm, member: Member) -> MissingNodesError:
    pipeline = pipeline_of(arm)
    where = f" {member.origin!r}" if member.origin else f" {member.store.path}"
    build = f"rag ingest --pipeline {pipeline}" if pipeline else "ingest with child_sizes"
    return MissingNodesError(
        f"the strategy {strategy.name!r} searches {arm.name}, which the index{where} does not hold",
        hint=f"build it with `{build}`" if pipeline else f"build {arm.kind} nodes: {build}",
    )
