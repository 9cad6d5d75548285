from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.errors import IndexDamagedError
from rag_app.compatibility import (
    explicit_child_sizes,
    explicit_setting,
    new_config,
    reading_options,
    recorded_settings,
)
from rag_app.models.embedding.identity import EmbeddingIdentity
from rag_app.settings import Settings, load_settings

MODEL = EmbeddingIdentity("some/model", "f" * 64, 384)


def test_setting_that_is_set_explicitly_is_returned_even_when_it_is_the_default():
    default = Settings().window
    assert explicit_setting(Settings(), "window") is None
    assert explicit_setting(Settings(window=default), "window") == default


def test_child_sizes_that_are_not_set_are_left_to_the_pipelines():
    assert explicit_child_sizes(Settings()) is None
    assert explicit_child_sizes(Settings(child_sizes=(64,))) == (64,)


def test_new_index_records_the_model_and_its_chunking():
    config = new_config(Settings(parent_size=512, window=2), MODEL)
    assert (config.embed_model, config.dimension) == ("some/model", 384)
    assert (config.parent_size, config.window) == (512, 2)


def test_new_index_without_a_model_records_no_model():
    config = new_config(Settings(), None)
    assert (config.embed_model, config.embed_fingerprint, config.dimension) == ("", "", 0)


def test_recorded_model_is_loaded_where_none_is_named_and_not_downloaded_if_unknown():
    config = new_config(Settings(), MODEL)
    settings = recorded_settings(config, load_settings(embed_download=True))
    assert settings.embed_model == "some/model"
    assert not settings.embed_download


def test_named_model_wins_over_the_recorded_one():
    settings = load_settings(embed_model="e5")
    assert recorded_settings(new_config(settings, MODEL), settings) is settings


def test_recorded_path_is_refused():
    config = replace(new_config(Settings(), MODEL), embed_model="/etc/model")
    with pytest.raises(IndexDamagedError, match="records a path"):
        recorded_settings(config, Settings())


def test_password_of_the_call_is_tried_before_the_one_in_the_settings():
    settings = load_settings(pdf_password="second", read_seconds=10)
    reading = reading_options(settings, "first")
    assert list(reading.passwords) == ["first", "second"]
    assert reading.limits.seconds == 10
    assert reading.limits.seconds_per_mb == 5
