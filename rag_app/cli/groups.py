"""Options that several commands share: a group of them is one parameter of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from rag_app.cli import options


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is written, and which settings file is read: options of every command."""

    json: options.Json = False
    quiet: options.Quiet = False
    verbose: options.Verbose = False
    config: options.Config = None


@dataclass(frozen=True, kw_only=True)
class RankingOptions:
    """What a strategy prefers: options of all that search, ``rag eval`` as well."""

    no_prefer_documents: options.NoPreferDocuments = False
    no_prefer_tables: options.NoPreferTables = False
    glossary: options.Glossary = None
    rerank: options.Rerank = None
    rerank_base_url: options.RerankBaseUrl = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that they are; None: not given."""
        return {
            "prefer_documents": False if self.no_prefer_documents else None,
            "prefer_tables": False if self.no_prefer_tables else None,
            "glossary": tuple(self.glossary) if self.glossary else None,
            "rerank": self.rerank,
            "rerank_base_url": self.rerank_base_url,
        }


@dataclass(frozen=True, kw_only=True)
class EmbeddingOptions:
    """Which model embeds: options of all that ingest or search."""

    embed_model: options.EmbedModel = None
    embed_base_url: options.EmbedBaseUrl = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that they are; None: not given."""
        return {"embed_model": self.embed_model, "embed_base_url": self.embed_base_url}


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Where and how one question is searched: ``rag ask``, ``search`` and ``explain``."""

    index: options.ManyIndexes = None
    strategy: options.Strategy = None
    top_k: options.TopK = None
    file: options.Files = None
    page: options.Pages = None
    where: options.Where = None
    ranking: RankingOptions
    queries: options.Queries = None
    llm: options.Llm = None
    base_url: options.BaseUrl = None
    reasoning_effort: options.ReasoningEffort = None
    embedding: EmbeddingOptions

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that they are; None: not given."""
        return {
            **self.ranking.settings,
            **self.embedding.settings,
            "strategy": self.strategy,
            "similarity_top_k": self.top_k,
            "llm": self.llm,
            "llm_base_url": self.base_url,
            "llm_reasoning_effort": self.reasoning_effort,
        }


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with each option of its groups as a parameter, as typer reads them."""
    signature = inspect.signature(command, eval_str=True)
    groups = {
        name: one.annotation
        for name, one in signature.parameters.items()
        if is_dataclass(one.annotation)
    }
    flat = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, one in signature.parameters.items()
        for parameter in (_parameters(groups[name]) if name in groups else [one])
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        made = {name: _made(group, given) for name, group in groups.items()}
        own = {name: given[name] for name in signature.parameters if name not in groups}
        command(**own, **made)

    run.__signature__ = signature.replace(parameters=flat)  # type: ignore[attr-defined]
    return run


def _parameters(group: Any) -> Iterator[inspect.Parameter]:
    kinds = get_type_hints(group, include_extras=True)
    for one in fields(group):
        kind = kinds[one.name]
        if is_dataclass(kind):
            yield from _parameters(kind)
        else:
            keyword = inspect.Parameter.KEYWORD_ONLY
            yield inspect.Parameter(one.name, keyword, default=one.default, annotation=kind)


def _made(group: Any, given: Mapping[str, Any]) -> Any:
    kinds = get_type_hints(group)
    return group(
        **{
            one.name: _made(kinds[one.name], given)
            if is_dataclass(kinds[one.name])
            else given[one.name]
            for one in fields(group)
        }
    )
