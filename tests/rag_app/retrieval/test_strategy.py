from __future__ import annotations

import dataclasses
import math

import pytest

from pipelines.errors import ConfigError, FusionError
from rag_app.retrieval.strategy import (
    STRATEGIES,
    Arm,
    Strategy,
    get_strategy,
    pipeline_of,
    strategy_from_dict,
)


def test_hybrid_is_vectors_of_children_and_words_of_parents():
    hybrid = get_strategy("hybrid")
    assert [arm.name for arm in hybrid.arms] == ["vectors:child-256", "words:parent"]
    assert (hybrid.fusion, hybrid.fusion_k, hybrid.depth) == ("rrf", 10, 50)


def test_every_arm_of_every_strategy_is_built_by_a_pipeline():
    assert all(pipeline_of(arm) for strategy in STRATEGIES.values() for arm in strategy.arms)


def test_bm25_needs_no_vectors():
    assert not STRATEGIES["bm25"].needs_vectors
    assert STRATEGIES["hybrid"].needs_vectors


def test_strategies_cannot_be_changed():
    with pytest.raises(TypeError):
        STRATEGIES["hybrid"] = STRATEGIES["naive"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        STRATEGIES["hybrid"].depth = 3


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf])
def test_arm_with_an_impossible_weight_raises(weight):
    with pytest.raises(FusionError, match="vectors:parent"):
        Arm("vectors", "parent", weight)


@pytest.mark.parametrize(("how", "kind"), [("meaning", "parent"), ("words", "")])
def test_arm_that_cannot_search_raises(how, kind):
    with pytest.raises(ConfigError):
        Arm(how, kind)


@pytest.mark.parametrize(
    "values",
    [
        {"arms": ()},
        {"arms": (Arm("words", "parent", 0.0),)},
        {"arms": (Arm("words", "parent"), Arm("words", "parent", 2.0))},
        {"depth": 0},
        {"depth": True},
        {"fusion_k": -1},
        {"fusion": "sum"},
        {"fusion": "max", "arms": (Arm("words", "parent"), Arm("vectors", "parent"))},
    ],
)
def test_strategy_with_impossible_values_raises(values):
    with pytest.raises(ConfigError):
        Strategy("mine", **{"arms": (Arm("words", "parent"),), **values})


def test_get_strategy_of_an_unknown_name_suggests_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'hybrid'") as caught:
        get_strategy("hybird", {"mine": {}})
    assert "mine" in caught.value.hint


def test_get_strategy_gives_back_a_strategy():
    mine = Strategy("mine", (Arm("words", "parent"),))
    assert get_strategy(mine) is mine


def test_preset_over_a_base_keeps_what_it_does_not_name():
    preset = {"base": "hybrid", "fusion_k": 60, "prefer_documents": False}
    mine = get_strategy("mine", {"mine": preset})
    assert mine == dataclasses.replace(
        STRATEGIES["hybrid"], name="mine", fusion_k=60, prefer_documents=False
    )


def test_preset_with_arms_of_its_own():
    mine = strategy_from_dict(
        "mine", {"arms": [{"how": "words", "kind": "parent", "weight": 2}], "depth": 9}
    )
    assert mine == Strategy("mine", (Arm("words", "parent", 2),), depth=9)


@pytest.mark.parametrize(
    ("preset", "says"),
    [
        ({"base": "hybrid", "dept": 3}, "dept"),
        ({"arms": [{"how": "words", "kind": "parent", "wait": 1}]}, "wait"),
        ({"arms": ["words:parent"]}, "words:parent"),
        ({"base": "hybrid", "fusion_k": "ten"}, "must be a number"),
        ({"base": "hybrid", "prefer_documents": "no"}, "true or false"),
        ({"arms": 5}, "a list of tables"),
        ({"base": "nothing"}, "nothing"),
        ({}, "no arms"),
    ],
)
def test_preset_that_is_wrong_raises_and_says_what(preset, says):
    with pytest.raises(ConfigError, match=says):
        strategy_from_dict("mine", preset)


def test_preset_with_an_unknown_key_names_the_allowed_ones():
    with pytest.raises(ConfigError) as caught:
        strategy_from_dict("mine", {"dept": 3})
    assert "depth" in caught.value.hint
    assert "base" in caught.value.hint
