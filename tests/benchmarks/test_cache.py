"""Kept vectors are those of the text that was asked for, whatever the order."""

import numpy as np

from benchmarks.peers.cache import VectorCache


def _encode(texts):
    return [[float(len(text)), float(ord(text[0]))] for text in texts]


def test_fill_keeps_the_order_of_the_texts(tmp_path):
    cache = VectorCache(tmp_path / "kept.sqlite")
    vectors = cache.fill(["ccc", "a", "bb", "a"], _encode)
    assert vectors[:, 0].tolist() == [3, 1, 2, 1]
    assert vectors.dtype == np.float32


def test_fill_asks_for_each_new_text_once(tmp_path):
    cache = VectorCache(tmp_path / "kept.sqlite")
    asked: list[str] = []

    def encode(texts):
        asked.extend(texts)
        return _encode(texts)

    cache.fill(["a", "a", "bb"], encode)
    VectorCache(tmp_path / "kept.sqlite").fill(["bb", "c"], encode)
    assert sorted(asked) == ["a", "bb", "c"]


def test_fill_of_nothing_is_empty(tmp_path):
    assert VectorCache(tmp_path / "kept.sqlite").fill([], _encode).shape == (0, 0)
