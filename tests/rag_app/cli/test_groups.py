"""Options that several commands share reach each of them, declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from rag_app.cli import ask, evaluate, search
from rag_app.cli.groups import (
    EmbeddingOptions,
    OutputOptions,
    RankingOptions,
    SearchOptions,
    with_groups,
)

RANKING = {"no_prefer_documents", "no_prefer_tables", "glossary", "rerank", "rerank_base_url"}
EMBEDDING = {"embed_model", "embed_base_url"}
OUTPUT = {"json", "quiet", "verbose", "config"}


@pytest.mark.parametrize("command", [ask.ask, search.search, search.explain, evaluate.evaluate])
def test_each_command_that_searches_has_the_shared_options(command: Callable[..., None]) -> None:
    assert set(inspect.signature(command).parameters) >= {"index"} | EMBEDDING | RANKING | OUTPUT


def test_command_is_given_its_groups_and_its_own_options() -> None:
    taken: dict[str, Any] = {}

    @with_groups
    def command(question: str, *, find: SearchOptions, top: int = 3, output: OutputOptions) -> None:
        taken.update(question=question, find=find, top=top, output=output)

    parameters = inspect.signature(command).parameters
    given = {name: one.default for name, one in parameters.items()}
    command(
        **given | {"question": "Which?", "top": 5, "rerank": "a:b", "file": ["x"], "json": True},
    )
    assert taken == {
        "question": "Which?",
        "find": SearchOptions(
            file=["x"], ranking=RankingOptions(rerank="a:b"), embedding=EmbeddingOptions()
        ),
        "top": 5,
        "output": OutputOptions(json=True),
    }


def test_only_what_is_given_is_a_setting() -> None:
    plain = SearchOptions(ranking=RankingOptions(), embedding=EmbeddingOptions())
    assert set(plain.settings.values()) == {None}
    ranking = RankingOptions(no_prefer_documents=True, glossary=["none"])
    embedding = EmbeddingOptions(embed_base_url="http://b")
    found = SearchOptions(ranking=ranking, embedding=embedding, top_k=2, base_url="http://a")
    settings = found.settings
    assert {name: value for name, value in settings.items() if value is not None} == {
        "prefer_documents": False,
        "glossary": ("none",),
        "similarity_top_k": 2,
        "llm_base_url": "http://a",
        "embed_base_url": "http://b",
    }
