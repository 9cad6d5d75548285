"""Retrievers and query engines, made from the settings and from the arguments of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TypedDict, Unpack

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms.llm import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.vector_stores.types import MetadataFilters

from pipelines.errors import ConfigError
from rag_app.answer.decision import Thresholds
from rag_app.answer.engine import CitedQueryEngine
from rag_app.answer.limits import TokenLimits
from rag_app.answer.prompts import PromptsSource, load_prompts, prompts_of
from rag_app.facade.arguments import check, check_keywords
from rag_app.facade.opening import OpenedIndex
from rag_app.retrieval.queries import QueryGenerator
from rag_app.retrieval.rerank import LANGUAGE_MODEL, ModelReranker, load_reranker
from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.retrieval.strategy import Strategy, get_strategy
from rag_app.session import QuerySession
from rag_app.settings import Settings


class RetrieverOptions(TypedDict, total=False):
    """How passages are searched: keyword arguments of every function that queries an index.

    >>> options: RetrieverOptions = {"similarity_top_k": 1, "queries": 1}
    >>> with Index.create("reports.idx", exist_ok=True) as index:
    ...     report = index.ingest("report.pdf")
    ...     found = index.as_retriever("bm25", **options).retrieve("lead time")
    >>> len(found)
    1

    Attributes:
        similarity_top_k: how many distinct passages; None: the setting.
        depth: how many passages each arm ranks; None: as the strategy says.
        filters: which passages are searched.
        prefer_documents: prefer documents that the question names; None: the setting.
        prefer_tables: prefer passages with tables where the question asks for a quantity;
            None: the setting.
        glossary: names of glossaries, or files (``"./mine.json"``), with what documents
            print for words of the question; ``["none"]``: none; None: the setting.
        node_postprocessors: LlamaIndex postprocessors (rerankers, filters) that choose the k
            best of the first passages (30; ``Strategy.rerank_depth``); None: the one that
            the settings or the strategy name; empty: none.
        queries: how many queries in all are searched; above 1 the LLM writes the others.
        strict: raise when an arm fails, instead of answering by the rest.
    """

    similarity_top_k: int | None
    depth: int | None
    filters: MetadataFilters | None
    prefer_documents: bool | None
    prefer_tables: bool | None
    glossary: Sequence[str] | None
    node_postprocessors: Sequence[BaseNodePostprocessor] | None
    queries: int
    strict: bool


OPTION_NAMES = tuple(RetrieverOptions.__annotations__)


def make_retriever(
    caller: str,
    opened: OpenedIndex,
    *,
    strategy: str | Strategy | None,
    llm: LLM | None,
    origin: str,
    session: QuerySession | None,
    callback_manager: CallbackManager | None,
    **options: Unpack[RetrieverOptions],
) -> StrategyRetriever:
    """Return a retriever over one index; see :meth:`rag_app.index.Index.as_retriever`.

    Args:
        caller: the function that was called, which errors name.
        opened: the index.
        strategy: a name, or a ``Strategy``; None: the setting.
        llm: writes further queries, and orders passages for the reranker ``llm``; None: the one
            of the settings.
        origin: the name of the index in results.
        session: of this index; None: one for each question.
        callback_manager: LlamaIndex's.
        **options: how passages are searched.
    """
    check_keywords(caller, options, (*OPTION_NAMES, "origin"))
    check(
        caller,
        strategy=strategy,
        llm=llm,
        origin=origin,
        session=session,
        callback_manager=callback_manager,
        **options,
    )
    settings = opened.settings
    chosen = _strategy(settings, strategy)
    k, glossary = options.get("similarity_top_k"), options.get("glossary")
    return StrategyRetriever(
        opened.store,
        chosen,
        embed_model=opened.embed_model if chosen.needs_vectors else None,
        similarity_top_k=settings.similarity_top_k if k is None else k,
        depth=options.get("depth"),
        filters=options.get("filters"),
        query_generator=_query_generator(settings, options.get("queries", 1), llm),
        prefer_documents=_preference(options.get("prefer_documents"), settings.prefer_documents),
        prefer_tables=_preference(options.get("prefer_tables"), settings.prefer_tables),
        glossary=settings.glossary if glossary is None else glossary,
        node_postprocessors=options.get("node_postprocessors"),
        make_reranker=partial(_make_reranker, settings=settings, llm=llm),
        strict=options.get("strict", False),
        origin=origin,
        session=session,
        callback_manager=callback_manager,
    )


def _strategy(settings: Settings, strategy: str | Strategy | None) -> Strategy:
    chosen = get_strategy(strategy or settings.strategy, settings.presets)
    named, fused = settings.rerank, settings.rerank_fused
    return replace(
        chosen,
        rerank=chosen.rerank if named is None else named,
        rerank_fused=chosen.rerank_fused if fused is None else fused,
    )


def _make_reranker(
    name: str, k: int, *, settings: Settings, llm: LLM | None
) -> BaseNodePostprocessor:
    """Return the reranker of a name, which returns ``k`` passages.

    Raises:
        ConfigError: there is none, or it needs what the settings do not name.
    """
    if name != LANGUAGE_MODEL:
        return load_reranker(name, k, settings)
    model = llm or configured_llm(settings)
    if model is None:
        raise ConfigError(
            "the reranker llm is the language model, and none is named",
            hint="name one with --llm or the setting llm",
        )
    from rag_app.answer.written.ordering import order_scores

    scores = partial(order_scores, model, prompts=load_prompts(settings.prompts))
    return ModelReranker(label=name, top_n=k, scores=scores)


def _preference(given: bool | None, setting: bool) -> bool | None:
    """Return what a strategy is told; None: it decides, as it may leave out a preference."""
    return None if (setting if given is None else given) else False


def _query_generator(settings: Settings, queries: int, llm: LLM | None) -> QueryGenerator | None:
    if queries == 1:
        return None
    model = llm or configured_llm(settings)
    if model is None:
        raise ConfigError(
            "further queries are written by a language model, and none is named",
            hint="name one with --llm or the setting llm",
        )
    from rag_app.answer.written.queries import generate_queries

    prompts = load_prompts(settings.prompts)
    return lambda question: generate_queries(model, question, queries - 1, prompts=prompts)


def configured_llm(
    settings: Settings, callback_manager: CallbackManager | None = None
) -> LLM | None:
    """Return the language model that the settings name, which reports its calls; or None."""
    if settings.llm is None:
        return None
    # Its client alone is a third of what a question without a model imports.
    from rag_app.models.llm.client import load_llm

    llm = load_llm(settings)
    if llm is not None and callback_manager is not None:
        llm.callback_manager = callback_manager
    return llm


def make_engine(
    retriever: StrategyRetriever,
    opened: OpenedIndex,
    llm: LLM | None,
    streaming: bool,
    callback_manager: CallbackManager | None,
    prompts: PromptsSource | None = None,
) -> CitedQueryEngine:
    """Return the query engine of an index's settings over a retriever."""
    settings = opened.settings
    return CitedQueryEngine(
        retriever,
        llm=llm,
        embed_model=opened.embed_model if retriever.strategy.needs_vectors else None,
        streaming=streaming,
        prompts=prompts_of(prompts, below=load_prompts(settings.prompts)),
        thresholds=Thresholds(settings.answer_from, settings.closest_from),
        limits=TokenLimits(answer_tokens=settings.llm_max_tokens),
        callback_manager=callback_manager,
    )
