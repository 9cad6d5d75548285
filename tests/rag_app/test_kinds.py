"""Names of pipelines → kinds of nodes."""

from __future__ import annotations

import pytest

from pipelines.errors import ConfigError
from rag_app.kinds import PIPELINES, kinds_of
from rag_app.retrieval.strategy import STRATEGIES


@pytest.mark.parametrize(
    ("pipelines", "vectors", "words"),
    [
        (["hybrid"], ("child-256",), ("parent",)),
        (["naive"], ("parent",), ()),
        (["child_parent"], ("child-128", "child-256", "child-512"), ()),
        (["sentence_window"], ("sentence",), ()),
        (["bm25"], (), ("parent",)),
        (["multi_vector"], ("child-256", "piece"), ("parent", "piece")),
        (["hybrid", "naive", "hybrid"], ("child-256", "parent"), ("parent",)),
    ],
)
def test_each_pipeline_builds_what_its_strategy_searches(
    pipelines: list[str], vectors: tuple[str, ...], words: tuple[str, ...]
) -> None:
    assert kinds_of(pipelines) == (vectors, words)


@pytest.mark.parametrize(
    ("pipeline", "sizes", "vectors"),
    [
        ("hybrid", (128, 256, 512), ("child-256",)),
        ("hybrid", (256,), ("child-256",)),
        ("hybrid", (64, 100), ("child-64", "child-100")),
        ("child_parent", (64, 256), ("child-64", "child-256")),
        ("naive", (64,), ("parent",)),
    ],
)
def test_child_sizes_take_the_place_of_the_usual_ones(
    pipeline: str, sizes: tuple[int, ...], vectors: tuple[str, ...]
) -> None:
    assert kinds_of([pipeline], sizes).vectors == vectors


@pytest.mark.parametrize("pipelines", [[], ["hybird"]])
def test_an_unknown_pipeline_names_the_known_ones(pipelines: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        kinds_of(pipelines)
    assert "sentence_window" in error.value.hint


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_pipeline_alone_builds_what_its_strategy_searches(pipeline: str) -> None:
    kinds = kinds_of([pipeline])
    missing = [
        arm.name
        for arm in STRATEGIES[pipeline].arms
        if arm.kind not in (kinds.vectors if arm.how == "vectors" else kinds.words)
    ]
    assert missing == []


def test_pieces_are_searched_by_vectors_whatever_the_children_are():
    assert kinds_of(["multi_vector"], child_sizes=(64,)).vectors == ("child-64", "piece")
    assert kinds_of(["multi_vector"], child_sizes=(256, 512)).vectors == ("child-256", "piece")
