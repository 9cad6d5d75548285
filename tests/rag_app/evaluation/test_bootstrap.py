"""Intervals by the bootstrap."""

from __future__ import annotations

import random

import pytest

from pipelines.errors import ConfigError
from rag_app.evaluation import interval


def test_interval_is_the_same_for_the_same_seed_and_holds_the_mean():
    values = [random.Random(3).random() for _ in range(50)]
    assert interval(values, seed=1) == interval(values, seed=1)
    assert interval(values).low <= interval(values).mean <= interval(values).high
    assert f"{interval([0.5, 0.5]):.2f}" == "0.50 [0.50, 0.50]"


def test_interval_covers_the_true_mean_about_as_often_as_it_says():
    rng = random.Random(0)
    inside = 0
    for seed in range(200):
        found = interval([rng.random() for _ in range(40)], seed=seed, resamples=300)
        inside += found.low <= 0.5 <= found.high
    assert 175 <= inside <= 200


def test_interval_drawn_in_parts_is_as_long_as_asked(monkeypatch):
    monkeypatch.setattr("rag_app.evaluation.bootstrap._MAX_DRAWS", 10)
    assert interval([0.0, 1.0, 2.0], resamples=50).low >= 0


@pytest.mark.parametrize("wrong", [{"values": []}, {"resamples": 0}, {"level": 1.0}])
def test_interval_of_impossible_input_raises(wrong):
    with pytest.raises(ConfigError):
        interval(**{"values": [1.0], **wrong})
