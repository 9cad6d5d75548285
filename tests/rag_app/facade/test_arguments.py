"""Each argument of a public function, given wrongly: an error of ours that names the function."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from pipelines.errors import ConfigError, FilterError, ModelNotFoundError
from rag_app.evaluation import Question, evaluate
from rag_app.facade import arguments
from rag_app.facade.querying import OPTION_NAMES
from rag_app.index import Index
from rag_app.joined import JoinedIndex
from tests.support.embedding import HashEmbedding
from tests.support.pdfs import make_pdf


class _Hostile:
    """Its text cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no text of me")


# Of no argument is one of these a value.
NEVER: tuple[Any, ...] = (SimpleNamespace(), b"bytes", 3.5j, _Hostile())
HUGE = (10**20, 10**5000, float("inf"))
WRONG: dict[str, tuple[Any, ...]] = {
    "path": (*NEVER, None, 5, "", "a\0b", ["reports"]),
    "into": (*NEVER, None, 5, "", "a\0b"),
    "embed_model": (*NEVER, "BAAI/bge-small-en-v1.5", HashEmbedding, 0, {}),
    "llm": (*NEVER, "gpt-4", 0, {}, False),
    "settings": (*NEVER, {}, "rag.toml", 0),
    "pipelines": (*NEVER, None, "hybrid", 5, [5], {"hybrid": 1}),
    "names": (*NEVER, [], "x", {"hash": "name"}, {"hash": []}, {1: ["a"]}),
    "strategy": (*NEVER, 5, ["hybrid"], {}, "no such strategy"),
    "filters": (*NEVER, {}, {"file_name": "a.pdf"}, [], "a.pdf", MetadataFilter(key="a", value=1)),
    "similarity_top_k": (*NEVER, 0, -1, 2.0, "5", True, float("nan"), *HUGE),
    "depth": (*NEVER, 0, -1, 2.0, "5", True, *HUGE),
    "workers": (*NEVER, 0, -1, 2.0, "5", True, *HUGE),
    "queries": (*NEVER, None, 0, -1, 2.0, "5", True, *HUGE),
    "top": (*NEVER, None, 0, -1, 2.0, "5", True, *HUGE),
    "origin": (*NEVER, None, 5),
    "callback_manager": (*NEVER, {}, "x", 0),
    "progress": (SimpleNamespace(), b"bytes", 5, "x", True),
    "on_file": (SimpleNamespace(), b"bytes", 5, "x", True),
    "password": (*NEVER, 5, ["secret"], b"secret"),
    "session": (*NEVER, {}, "x", 0),
    "timeout": (*NEVER, None, -1, "5", True, float("nan"), *HUGE),
    "question": (*NEVER, None, 5, ["x"], ""),
    "prefer_documents": (*NEVER, 1, "yes"),
    "prefer_tables": (*NEVER, 1, "yes"),
    "glossary": (*NEVER, 1, "accounting", [1], {}),
    "node_postprocessors": (*NEVER, SimilarityPostprocessor(), ["cross-encoder"], "rerank", {}),
    "prompts": (SimpleNamespace(), b"bytes", 5, "", ["x"]),
    **dict.fromkeys(
        ("exist_ok", "prune", "strict", "streaming", "verify"), (*NEVER, None, 1, "yes")
    ),
}
OF_A_RETRIEVER = (*OPTION_NAMES, "origin", "strategy", "llm", "callback_manager")
PUBLIC: dict[str, tuple[str, ...]] = {
    "create": ("path", "embed_model", "pipelines", "settings", "exist_ok"),
    "open": ("path", "embed_model", "settings"),
    "merge": ("into", "names", "embed_model", "settings"),
    "ingest": (
        *("pipelines", "llm", "prune", "progress"),
        *("on_file", "workers", "password", "timeout"),
    ),
    "as_retriever": (*OF_A_RETRIEVER, "session"),
    "as_query_engine": (*OF_A_RETRIEVER, "streaming", "prompts"),
    "explain": (*OF_A_RETRIEVER, "question", "top"),
    "info": ("verify",),
}
CASES = [
    pytest.param(function, name, value, id=f"{function}-{name}-{number}")
    for function, names in PUBLIC.items()
    for name in names
    for number, value in enumerate(WRONG[name])
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("arguments")
    pdf = make_pdf(place / "a.pdf", ["The crane lifts seven tonnes in the north."])
    with Index.create(place / "index", embed_model=HashEmbedding()) as index:
        index.ingest(pdf)
    return place / "index"


@pytest.fixture
def index(folder: Path) -> Iterator[Index]:
    with Index.open(folder, embed_model=HashEmbedding()) as opened:
        yield opened


@pytest.mark.parametrize(("function", "name", "value"), CASES)
def test_wrong_value_is_an_error_that_names_function_argument_and_what_is_allowed(
    index: Index, tmp_path: Path, function: str, name: str, value: Any
) -> None:
    given: dict[str, Any] = {
        "create": {"path": tmp_path / "new", "embed_model": HashEmbedding()},
        "open": {"path": index.path, "embed_model": HashEmbedding()},
        "merge": {"sources": [index], "into": tmp_path / "new", "embed_model": HashEmbedding()},
        "explain": {"question": "Which crane?"},
    }.get(function, {})
    with pytest.raises(ConfigError) as raised:
        getattr(index, function)(**{**given, name: value})
    error = raised.value
    if name == "question" and value == "":
        assert "empty" in error.message
        return
    if value == "no such strategy":
        assert "hybrid" in error.hint
        return
    assert error.message.startswith(f"Index.{function}(): {name} is ")
    assert "must be" in error.message
    assert "secret" not in str(error)
    assert isinstance(error, FilterError) == (name == "filters")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("function", PUBLIC)
def test_every_argument_of_a_public_function_is_in_the_table(function: str) -> None:
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    named = {
        name
        for name, one in inspect.signature(getattr(Index, function)).parameters.items()
        if one.kind not in kinds and name not in ("self", "sources", "loading")
    }
    assert named <= set(PUBLIC[function])
    assert set(PUBLIC[function]) <= arguments._RULES.keys()


@pytest.mark.parametrize("function", ["as_retriever", "as_query_engine", "explain"])
def test_wrong_value_for_several_indexes_names_the_function_that_was_called(
    index: Index, function: str
) -> None:
    question = {"question": "Which crane?"} if function == "explain" else {}
    joined = JoinedIndex([index])
    for wrong in ({"similarity_top_k": 0}, {"filters": "a.pdf"}, {"node_postprocessors": "x"}):
        with pytest.raises(ConfigError, match=rf"^JoinedIndex\.{function}\(\): "):
            getattr(joined, function)(**question, **wrong)


@pytest.mark.parametrize("function", ["as_retriever", "as_query_engine", "explain"])
@pytest.mark.parametrize("wrong", ["similarity_top_n", "nonsense"])
def test_unknown_keyword_names_the_function_that_was_called(
    index: Index, function: str, wrong: str
) -> None:
    question = ["Which crane?"] if function == "explain" else []
    for called, name in ((index, "Index"), (JoinedIndex([index]), "JoinedIndex")):
        with pytest.raises(TypeError, match=rf"^{name}\.{function}\(\).*'{wrong}'") as raised:
            getattr(called, function)(*question, **{wrong: 5})
        assert function == "as_retriever" or "similarity_top_k" in str(raised.value)


@pytest.mark.parametrize("value", [*NEVER, None, 5, {}, ["a", 5]])
def test_sources_names_and_inputs_of_no_kind_are_refused(
    index: Index, tmp_path: Path, value: Any
) -> None:
    with pytest.raises(ConfigError, match=r"Index\.merge\(\)"):
        Index.merge(value, into=tmp_path / "new")
    with pytest.raises(ConfigError, match=r"Index\.remove\(\)"):
        index.remove(value)
    with pytest.raises(ConfigError, match="cannot be ingested"):
        index.ingest(value)
    with pytest.raises(ConfigError, match="JoinedIndex"):
        JoinedIndex(value)


def test_none_is_the_setting_where_an_argument_may_be_left_out(index: Index) -> None:
    names = (
        *("similarity_top_k", "depth", "filters", "prefer_documents", "prefer_tables"),
        "glossary",
        *("llm", "callback_manager"),
    )
    retriever = index.as_retriever(None, **dict.fromkeys(names))
    assert retriever.similarity_top_k == index.settings.similarity_top_k


def _filters(value: str) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key="file_name", value=value)])


def test_filter_that_fits_nothing_is_an_error_and_no_refusal(index: Index) -> None:
    for ask in (
        lambda: index.as_retriever(filters=_filters("b.pdf")).retrieve("crane"),
        lambda: index.as_query_engine(filters=_filters("b.pdf")).query("Which crane?"),
        lambda: index.explain("Which crane?", filters=_filters("b.pdf")),
    ):
        with pytest.raises(FilterError, match=r"file_name == 'b\.pdf'"):
            ask()


def test_filter_that_fits_one_of_several_indexes_is_asked_there(
    index: Index, tmp_path: Path
) -> None:
    pdf = make_pdf(tmp_path / "b.pdf", ["The ferry sails at noon."])
    with Index.create(tmp_path / "other", embed_model=HashEmbedding()) as other:
        other.ingest(pdf)
        joined = JoinedIndex([index, other])
        [found] = joined.as_retriever(filters=_filters("b.pdf")).retrieve("ferry")
        assert found.node.metadata["file_name"] == "b.pdf"
        with pytest.raises(FilterError, match=r"c\.pdf"):
            joined.as_retriever(filters=_filters("c.pdf")).retrieve("ferry")


class _Uneven(HashEmbedding):
    rows: Any = None

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        made = super()._get_text_embeddings(texts)
        return [self.rows, *made[1:]] if any("uneven" in text for text in texts) else made


@pytest.mark.parametrize("rows", [[1.0], [], None, ["a"] * 64, [float("nan")] * 64, [[1.0]] * 64])
def test_rows_that_are_no_vectors_fail_their_file_alone(tmp_path: Path, rows: Any) -> None:
    good = make_pdf(tmp_path / "good.pdf", ["The crane lifts seven tonnes."])
    bad = make_pdf(tmp_path / "bad.pdf", ["The uneven quay of the north."])
    model = _Uneven(rows=rows)
    with Index.create(tmp_path / "index", embed_model=model) as index:
        report = index.ingest(bad, good)
    assert [one.status for one in report.files] == ["failed", "added"]
    error = report.files[0].error
    assert error.startswith(("the embedding model hash gave", "the embedding model hash failed"))
    assert "\n" not in error


def test_index_of_a_model_of_ones_own_says_to_pass_it(tmp_path: Path) -> None:
    pdf = make_pdf(tmp_path / "a.pdf", ["The crane lifts seven tonnes."])
    with Index.create(tmp_path / "index", embed_model=MockEmbedding(embed_dim=8)) as index:
        index.ingest(pdf)
    with Index.open(tmp_path / "index") as index, pytest.raises(ModelNotFoundError) as raised:
        index.as_retriever().retrieve("crane")
    assert "embed_model=" in raised.value.hint
    assert "hf download" not in str(raised.value)


QUESTION = Question(id="1", question="Which crane?", pages=(("a.pdf", 1),))


@pytest.mark.parametrize(
    "given",
    [
        *({"retriever": value} for value in (None, "hybrid", 5, _Hostile)),
        *({"questions": value} for value in ([None], ["Which crane?"], [{}])),
        *({"ks": value} for value in ([], [0], [True], ["5"], 5, None, [2.0])),
        *({"budgets": value} for value in ([0], [True], ["5"], 5, None, [2.0])),
    ],
)
def test_evaluate_with_a_wrong_argument_names_it(index: Index, given: dict[str, Any]) -> None:
    right = {"retriever": index.as_retriever(), "questions": [QUESTION]}
    [name] = given
    with pytest.raises(ConfigError, match=rf"evaluate\(\): (one of )?{name} is"):
        evaluate(**{**right, **given})
