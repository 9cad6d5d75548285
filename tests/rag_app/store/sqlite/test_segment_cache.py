"""Segments are kept between queries, and each generation sees exactly its own rows."""

from __future__ import annotations

import os

import numpy as np
import pytest

from rag_app.store.engine.segments import Segment
from rag_app.store.sqlite import segment_cache
from rag_app.store.sqlite.contents import delete
from rag_app.store.sqlite.segment_cache import CachedSegments, SegmentCache, with_live_rows
from tests.rag_app.store.make import vector
from tests.rag_app.store.sqlite.conftest import CATS, FISH

KIND = "SELECT kind FROM kinds WHERE name = 'child-128'"


@pytest.fixture
def cache(tmp_path):
    return SegmentCache(tmp_path)


def kind(sql):
    return sql.execute(KIND).fetchone()[0]


def found(index):
    return len(index.search(vector("cats")).best(99, None))


def test_a_generation_that_is_asked_again_comes_from_the_cache(tables, cache, monkeypatch):
    first = cache.vectors(tables, kind(tables), (1, 0))
    monkeypatch.setattr(segment_cache, "gathered", None)
    assert cache.vectors(tables, kind(tables), (1, 0)) is first
    cache.clear()
    with pytest.raises(TypeError):
        cache.vectors(tables, kind(tables), (1, 0))


def test_a_later_generation_does_not_see_removed_rows(tables, cache):
    passages = sum(node.metadata["kind"] == "parent" for node in (*CATS.nodes, *FISH.nodes))
    before = cache.vectors(tables, kind(tables), (1, 0))
    assert found(before) == passages
    delete(tables, 1)
    assert found(cache.vectors(tables, kind(tables), (2, 0))) == 1
    assert found(before) == passages


def test_an_older_generation_does_not_replace_the_newest(tables, cache):
    newest = cache.words(tables, kind(tables), (5, 0))
    assert cache.words(tables, kind(tables), (4, 0)) is not newest
    assert cache.words(tables, kind(tables), (5, 0)) is newest


def test_values_are_made_once_for_the_newest_generation(cache):
    made = []

    def make():
        made.append(1)
        return len(made)

    assert [cache.of_generation("x", n, make) for n in (1, 1, 2, 1, 2)] == [1, 1, 2, 3, 2]


def test_another_index_at_the_same_path_starts_empty(cache):
    rows = cache.rows_of("one")
    cache.of_generation("x", 1, lambda: "old")
    assert cache.rows_of("one") is rows
    assert cache.rows_of("other") is not rows
    assert cache.of_generation("x", 1, lambda: "new") == "new"


def test_a_lock_that_a_forked_thread_held_does_not_stop_the_child(cache, monkeypatch):
    cache._guard.acquire()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert cache.of_generation("x", 1, lambda: 7) == 7


def segment(*blobs):
    numbers = np.arange(len(blobs))
    return Segment(np.array(blobs), np.arange(1, len(blobs) + 1), numbers, numbers)


def test_a_blob_in_two_segments_counts_once():
    held = CachedSegments((1, 0), {"a": segment(1, 2)}, [segment(2, 3)])
    (_, first), (_, second) = with_live_rows(held, {1, 2, 3})
    assert first is None
    assert second is not None
    assert second.tolist() == [False, True]
