"""The options of a query: declared and documented once, and all of them used."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.vector_stores.types import MetadataFilters

from rag_app.facade import querying
from rag_app.facade.querying import OPTION_NAMES, RetrieverOptions, make_retriever
from rag_app.index import Index
from rag_app.joined import JoinedIndex
from rag_app.settings import load_settings

FUNCTIONS = [
    getattr(kind, name)
    for kind in (Index, JoinedIndex)
    for name in ("as_retriever", "as_query_engine", "explain")
]


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_each_option_is_documented_where_it_is_declared(name: str) -> None:
    assert f"\n    {name}: " in (inspect.getdoc(RetrieverOptions) or "")


def test_all_options_reach_the_retriever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(querying, "StrategyRetriever", lambda *_, **given: given)
    filters = MetadataFilters(filters=[])
    options = RetrieverOptions(
        similarity_top_k=2,
        depth=7,
        filters=filters,
        prefer_documents=False,
        prefer_tables=False,
        glossary=["none"],
        node_postprocessors=[],
        queries=3,
        strict=True,
    )
    opened: Any = SimpleNamespace(store=None, settings=load_settings())
    chosen = {"strategy": "bm25", "llm": MockLLM(), "origin": "", "session": None}
    made: Any = make_retriever("f", opened, callback_manager=None, **chosen, **options)
    assert callable(made.pop("query_generator"))
    expected = {name: value for name, value in options.items() if name != "queries"}
    assert {name: made[name] for name in expected} == expected
    assert set(options) == set(OPTION_NAMES)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__qualname__)
def test_each_function_takes_the_options_and_repeats_none(function: Any) -> None:
    parameters = inspect.signature(function).parameters
    assert parameters["options"].annotation == "Unpack[RetrieverOptions]"
    assert not parameters.keys() & set(OPTION_NAMES)
