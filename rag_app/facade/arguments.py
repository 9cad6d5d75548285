"""Checks of the arguments of public functions, in errors that name the function called.

A wrong value is found before it is used; otherwise it would cause an error of some
library, which names neither the function nor the allowed values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms.llm import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters

from pipelines.errors import ConfigError, FilterError
from rag_app import bounds
from rag_app.answer.prompts import Prompts
from rag_app.bounds import Bounds, shown
from rag_app.retrieval.strategy import Strategy
from rag_app.session import QuerySession
from rag_app.settings import Settings


@dataclass(frozen=True)
class _Rule:
    """The allowed values of an argument.

    Attributes:
        fits: tells whether a value is allowed.
        allowed: the allowed values in words.
        hint: an example.
        optional: whether it may be None.
        error: class of the error.
        secret: whether a wrong value is left out of the error.
    """

    fits: Callable[[Any], bool]
    allowed: str
    hint: str = ""
    optional: bool = True
    error: type[ConfigError] = ConfigError
    secret: bool = False


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _number(allowed: Bounds, hint: str = "", *, optional: bool) -> _Rule:
    return _Rule(allowed.hold, str(allowed), hint, optional)


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike)) and bool(str(value)) and "\0" not in str(value)


def _texts(value: Any) -> bool:
    return (
        isinstance(value, Iterable)
        and not isinstance(value, (str, bytes, Mapping))
        and all(isinstance(one, str) for one in value)
    )


def _names(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(key, str) and _texts(one) and len(list(one)) > 0 for key, one in value.items()
    )


def _postprocessors(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(
        isinstance(one, BaseNodePostprocessor) for one in value
    )


_FLAG = _Rule(_is(bool), "True or False", optional=False)
_FILTERS = (
    'MetadataFilters(filters=[MetadataFilter(key="file_name", value="report.pdf")]), both of '
    "llama_index.core.vector_stores"
)
_RULES: Mapping[str, _Rule] = {
    "path": _Rule(_is_path, "a path of a folder", 'give it as "reports" or Path("reports")', False),
    "into": _Rule(_is_path, "a path of a folder", 'give it as "reports" or Path("reports")', False),
    "embed_model": _Rule(
        _is(BaseEmbedding),
        "an embedding model of LlamaIndex",
        "to use one by its name: settings=load_settings(embed_model=NAME)",
    ),
    "llm": _Rule(
        _is(LLM),
        "a language model of LlamaIndex",
        'to use one by its name: settings=load_settings(llm="openai:NAME")',
    ),
    "settings": _Rule(_is(Settings), "Settings", "make them by rag_app.load_settings(…)"),
    "pipelines": _Rule(_texts, "a list of names of pipelines", 'write ["hybrid"]', optional=False),
    "names": _Rule(_names, "a mapping of content hashes to lists of one name or more"),
    "callback_manager": _Rule(_is(CallbackManager), "a CallbackManager of LlamaIndex"),
    "strategy": _Rule(
        _is(str, Strategy), "the name of a strategy, or a Strategy", 'such as "hybrid"'
    ),
    "filters": _Rule(
        _is(MetadataFilters), "MetadataFilters", f"write {_FILTERS}", True, FilterError
    ),
    "glossary": _Rule(
        lambda value: isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value),
        "a list of names of glossaries or of files",
        'such as ["accounting", "./mine.json"], or ["none"]',
    ),
    "node_postprocessors": _Rule(
        _postprocessors,
        "a list of postprocessors of LlamaIndex",
        "such as [SimilarityPostprocessor(similarity_cutoff=0.2)]",
    ),
    "prompts": _Rule(
        lambda value: isinstance(value, (Prompts, Mapping)) or _is_path(value),
        "Prompts, a mapping of the form of prompts.toml, or the path of such a file",
        'write {"answer": {"system": "…"}}',
    ),
    "similarity_top_k": _number(bounds.PASSAGES, optional=True),
    "depth": _number(bounds.DEPTH, optional=True),
    "workers": _number(bounds.WORKERS, optional=True),
    "queries": _number(bounds.QUERIES, "1 is the question alone", optional=False),
    "top": _number(bounds.PASSAGES, optional=False),
    "session": _Rule(_is(QuerySession), "a QuerySession", "open one by Index.session()"),
    "origin": _Rule(_is(str), "a text", "what the results call the index", False),
    "progress": _Rule(callable, "a function", "it is told (file, stage, done, total)"),
    "on_file": _Rule(callable, "a function", "it is told the report of each file"),
    "timeout": _number(bounds.TIMEOUT, optional=False),
    "question": _Rule(_is(str, QueryBundle), "a text", "", False),
    "cache": _Rule(
        lambda value: isinstance(value, bool) or _is_path(value),
        "True, False or the path of a folder",
        "a folder takes the place of the setting cache_dir",
        optional=False,
    ),
    "password": _Rule(_is(str), "a text", "it opens encrypted PDFs", secret=True),
    **dict.fromkeys(("prefer_documents", "prefer_tables"), _Rule(_is(bool), "True, False or None")),
    **dict.fromkeys(("exist_ok", "prune", "strict", "streaming", "verify"), _FLAG),
}


def check(function: str, **given: Any) -> None:
    """Raise where the value of an argument is not allowed.

    Args:
        function: the name in the error, such as ``"Index.as_retriever"``.
        **given: the arguments by name.

    Raises:
        ConfigError: names the function, the argument, the value and the allowed values.
    """
    for name, value in given.items():
        rule = _RULES[name]
        if not (rule.fits(value) or (value is None and rule.optional)):
            given_as = _shown(value, secret=rule.secret)
            raise rule.error(
                f"{function}(): {name} is {given_as}; it must be {rule.allowed}"
                + (" or None" if rule.optional and "None" not in rule.allowed else ""),
                hint=rule.hint,
            )


def check_each(function: str, name: str, values: object, fits: tuple[type, ...], say: str) -> None:
    """Raise where one of several values is not allowed; ``say`` is the allowed ones in words.

    Raises:
        ConfigError: names the function, the value and the allowed values.
    """
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Mapping)):
        raise ConfigError(f"{function}(): {name} is {_shown(values)}", hint=f"give a list of {say}")
    for value in values:
        if not isinstance(value, fits):
            raise ConfigError(
                f"{function}(): one of {name} is {_shown(value)}", hint=f"each must be {say}"
            )


def check_keywords(function: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise where a function does not accept a keyword.

    Raises:
        TypeError: like Python's own; names the function that was called.
    """
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(
                f"{function}() got an unexpected keyword argument {name!r}{meant}"
                f" (allowed: {', '.join(known)})"
            )


def _shown(value: object, *, secret: bool = False) -> str:
    return f"{'***' if secret else shown(value)}, of type {type(value).__name__}"
