"""Batches: by length, each text once, in the caller's order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import EmbeddingError
from rag_app.models.embedding.encoder import (
    LENGTH_STEP,
    PADDING_PER_BATCH,
    TOKENS_PER_BATCH,
    Engine,
    EngineConfig,
    is_direct,
    make_batches,
)
from rag_app.models.embedding.folder import locate
from rag_app.models.embedding.recipe import read_recipe

IDS = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=600), max_size=40)


@given(IDS)
def test_make_batches_places_every_text_once_whole_and_masked(ids: list[list[int]]) -> None:
    seen = {}
    for batch in make_batches(ids):
        assert batch.ids.shape == batch.mask.shape
        for place, row in enumerate(batch.rows):
            length = int(batch.mask[place].sum())
            assert batch.mask[place, :length].all()
            seen[int(row)] = batch.ids[place, :length].tolist()
    assert seen == dict(enumerate(ids))


@given(IDS)
def test_make_batches_are_bounded_and_of_few_widths(ids: list[list[int]]) -> None:
    widths = []
    for batch in make_batches(ids):
        count, width = batch.ids.shape
        assert width % LENGTH_STEP == 0
        assert count.bit_count() == 1
        assert count == 1 or count * width <= TOKENS_PER_BATCH
        lengths = batch.mask.sum(axis=1)
        assert width - lengths.max() < LENGTH_STEP
        # Shorter texts are filled up by little more than the start of a batch costs.
        assert (width - LENGTH_STEP - lengths).clip(0).sum() <= PADDING_PER_BATCH
        widths.append(width)
    assert widths == sorted(widths, reverse=True)


class _FakeRunner:
    def __init__(self, value: float = 1.0) -> None:
        self.value = value
        self.texts = 0

    def run(self, batches: list) -> list:  # type: ignore[type-arg]
        self.texts += sum(len(batch.rows) for batch in batches)
        return [(batch.rows, np.full((len(batch.rows), 384), self.value)) for batch in batches]


@pytest.fixture
def engine() -> Engine:
    folder = locate("minilm")
    return Engine(EngineConfig(folder, read_recipe(folder), "float32"))


def test_equal_texts_are_computed_once(engine: Engine) -> None:
    runner = _FakeRunner()
    engine._runner = runner  # type: ignore[assignment]
    assert engine.embed(["a", "b", "a", "a"]).shape == (4, 384)
    assert runner.texts == 2


def test_no_texts_are_no_vectors(engine: Engine) -> None:
    assert engine.embed([]).shape == (0, 384)


def test_numbers_that_are_none_raise(engine: Engine) -> None:
    engine._runner = _FakeRunner(float("nan"))  # type: ignore[assignment]
    with pytest.raises(EmbeddingError, match="NaN or infinite"):
        engine.embed(["a"])


def test_the_default_model_is_built_without_conversion(engine: Engine) -> None:
    assert is_direct(engine.config.folder)
