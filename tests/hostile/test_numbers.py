"""Numbers that nothing can count, in every place where a number is given: an error of ours."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from pydantic.fields import FieldInfo

from pipelines.errors import ConfigError, FilterError
from rag_app.cli.filters import page_range
from rag_app.cli.session import UsageError
from rag_app.evaluation import Question, evaluate
from rag_app.index import Index
from rag_app.retrieval.adapters.fusion import RankFusionRetriever
from rag_app.retrieval.fusion import reciprocal_rank_fusion
from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.retrieval.strategy import Arm, Strategy
from rag_app.settings import Settings, load_settings

# As text; what is a number all the same, such as 1_000 in a TOML file, is none of these.
TEXTS = ("-1", "99999999999999999999", "9" * 5000, "nan", "-inf", "1e400", "1__0", "0x10", "True")
VALUES: tuple[Any, ...] = (True, -1, 10**20, 10**5000, math.nan, math.inf, 1e400, [3], "many")
OPTIONS = [
    ("search", "-k"),
    ("ask", "--top-k"),
    ("explain", "--top"),
    ("explain", "--top-k"),
    ("search", "--queries"),
    ("ask", "--workers"),
    ("ingest", "--workers"),
    ("eval", "--top-k"),
]


def _is_number(field: FieldInfo) -> bool:
    return re.search(r"\b(int|float)\b", str(field.annotation)) is not None


NUMBERS = sorted(name for name, field in Settings.model_fields.items() if _is_number(field))


@pytest.fixture
def retriever(index, model) -> Iterator[StrategyRetriever]:
    with Index.open(index) as opened:
        yield opened.as_retriever()


def test_all_numeric_settings_are_found() -> None:
    named = {"similarity_top_k", "llm_timeout", "child_sizes", "embed_threads", "answer_from"}
    assert named <= set(NUMBERS)
    assert len(NUMBERS) > 14


@pytest.mark.parametrize(("command", "option"), OPTIONS)
@pytest.mark.parametrize("text", [*TEXTS, "", "0", "1.5"])
def test_an_option_that_is_no_such_number_is_wrong_usage(rag, place, command, option, text):
    (place / "q.jsonl").write_text('{"question": "Q?"}\n')
    first = "q.jsonl" if command == "eval" else "valve"
    more = ["--questions", "q.jsonl"] if (command, option) == ("ask", "--workers") else [first]
    done = rag(command, *more, option, text)
    assert (done.code, done.out) == (2, "")
    assert option in done.err
    assert " 1" in done.err  # what is allowed begins there
    assert len(done.err) < 300


@pytest.mark.parametrize("text", [*TEXTS, "", "0", "1.5", "3-2", "100001", "1-100001", "1-2-3"])
def test_pages_that_no_file_has_are_wrong_usage(text):
    with pytest.raises(UsageError, match=r"^--page .* from 1") as raised:
        page_range(text)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("field", NUMBERS)
def test_a_setting_that_is_no_such_number_is_an_error_from_every_side(place, monkeypatch, field):
    for value in VALUES:
        given = (value,) if field == "child_sizes" else value
        with pytest.raises(ConfigError, match=field) as raised:
            load_settings(**{field: given})
        assert len(raised.value.message) < 300
    for text in TEXTS:
        monkeypatch.setenv(f"RAG_{field.upper()}", text)
        with pytest.raises(ConfigError, match=r"must be a (whole )?number( of \w+)? from "):
            load_settings()
    monkeypatch.delenv(f"RAG_{field.upper()}")
    for text in ("-1", "99999999999999999999", "nan", "-inf", "1e400", "true", '"1__0"', '"x"'):
        toml = f"[{text}]" if field == "child_sizes" else text
        (place / "other.toml").write_text(f"{field} = {toml}\n")
        with pytest.raises(ConfigError, match=rf"other\.toml: {field} = .*must be"):
            load_settings(Path("other.toml"))


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_number_of_a_strategy_or_a_fusion_is_an_error_of_ours(value: Any) -> None:
    arms = (Arm("words", "parent"),)
    makers = (
        lambda: Arm("words", "parent", weight=value),
        lambda: Strategy("s", arms, fusion_k=value),
        lambda: Strategy("s", arms, depth=value),
        lambda: Strategy("s", arms, rerank_depth=value),
        lambda: reciprocal_rank_fusion([["a"]], k=value),
        lambda: reciprocal_rank_fusion([["a"]], [value]),
        lambda: RankFusionRetriever([], k=value),
        lambda: RankFusionRetriever([], similarity_top_k=value),
    )
    for make in makers:
        with pytest.raises(ConfigError) as raised:
            make()
        assert "must be" in raised.value.hint


def test_a_number_of_an_evaluation_is_an_error_of_ours(retriever):
    asked = [Question("lead time?", "1", pages=(("valve.pdf", 2),))]
    for value, name in product(VALUES, ("ks", "budgets", "seed", "resamples")):
        given: Any = [value] if name in ("ks", "budgets") else value
        with pytest.raises(ConfigError, match=rf"evaluate\(\): {name} is ") as raised:
            evaluate(retriever, asked, **{name: given})
        assert "must be" in raised.value.hint


def test_a_condition_that_no_number_fits_finds_nothing_and_says_so(rag, index):
    for value in ("=99999999999999999999", ">nan", f"={'9' * 5000}", ">1e400"):
        done = rag("search", "valve", "--where", f"page{value}")
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("error: no passage fits")


def test_a_filter_with_a_number_that_python_does_not_write_says_so(index, model):
    filters = MetadataFilters(filters=[MetadataFilter(key="page", value=10**5000)])
    with Index.open(index) as opened, pytest.raises(FilterError, match="cannot be shown"):
        opened.as_retriever(filters=filters).retrieve("valve")
