"""Blobs: vectors and counted words are read as they were written, or an error is raised."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest

from pipelines.errors import EmbeddingError, IndexDamagedError
from rag_app.store.sqlite import blobs
from tests.rag_app.store.sqlite.conftest import SUMS

KIND = (1, "child-128")
ROWS = [(5, 2), (4, 1), (6, 1)]


@pytest.fixture(autouse=True)
def kinds(empty):
    empty.execute("INSERT INTO kinds VALUES (1, 'child-128'), (2, 'parent')")


def unit(count: int, dimension: int = 4) -> np.ndarray:
    rows = np.random.default_rng(count).normal(size=(count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_vectors_are_read_ordered_by_passage(empty):
    matrix = unit(3)
    blobs.write_vectors(empty, SUMS, 1, KIND, ROWS, matrix, 4)
    segment = blobs.read_vectors(empty, SUMS, 1)
    assert segment.blobs.tolist() == [1]
    assert segment.nodes.tolist() == [4, 6, 5]
    assert segment.passages.tolist() == [1, 1, 2]
    assert np.array_equal(segment.matrix, matrix[[1, 2, 0]])
    assert np.array_equal(blobs.read_matrix(empty, SUMS, 1), segment.matrix)
    assert blobs.live_blobs(empty, "vectors", 1) == {1: 3}


def test_vectors_of_a_node_are_written_once(empty):
    blobs.write_vectors(empty, SUMS, 1, KIND, ROWS[:2], unit(2), 4)
    blobs.write_vectors(empty, SUMS, 1, KIND, ROWS, unit(3), 4)
    assert blobs.read_rows(empty, 2).nodes.tolist() == [6]


def test_many_rows_are_cut_into_blobs_but_no_passage_is(empty, monkeypatch):
    monkeypatch.setattr(blobs, "MAX_BLOB_ROWS", 2)
    rows = [(node, passage) for node, passage in enumerate([1, 1, 1, 2, 3, 3])]
    blobs.write_vectors(empty, SUMS, 1, KIND, rows, unit(6), 4)
    found = [
        blobs.read_rows(empty, blob).passages.tolist()
        for blob in blobs.live_blobs(empty, "vectors", 1)
    ]
    assert len(found) > 1
    assert list(chain.from_iterable(found)) == [1, 1, 1, 2, 3, 3]
    assert all(one[-1] != other[0] for one, other in pairwise(found))


@pytest.mark.parametrize(
    "matrix",
    [unit(2), unit(3, 5), unit(3) * 2, np.full((3, 4), np.nan, np.float32)],
    ids=["too few", "another dimension", "not unit length", "not finite"],
)
def test_vectors_that_do_not_fit_are_refused(empty, matrix):
    with pytest.raises(EmbeddingError):
        blobs.write_vectors(empty, SUMS, 1, KIND, ROWS, matrix, 4)


def test_words_are_read_as_postings_with_their_terms(empty):
    counts = [{"cat": 2, "dog": 1}, {"cat": 1}]
    blobs.write_words(empty, SUMS, 1, (2, "parent"), [(1, 1), (2, 2)], counts)
    segment = blobs.read_words(empty, SUMS, 1)
    ids = blobs.find_terms(empty, ["cat", "dog", "cow"])
    assert ids.keys() == {"cat", "dog"}
    rows, times = segment.postings(ids["cat"])
    assert (rows.tolist(), times.tolist()) == ([0, 1], [2, 1])
    assert segment.lengths.tolist() == [3, 1]
    assert segment.postings(99) is None
    assert blobs.read_vocabulary(empty, SUMS, 1) == {number: term for term, number in ids.items()}


def test_a_term_is_forgotten_with_the_last_blob_that_uses_it(empty):
    for content, terms in ((1, {"cat": 1, "dog": 1}), (2, {"cat": 1})):
        blobs.write_words(empty, SUMS, content, (2, "parent"), [(content, content)], [terms])
    blobs.delete_words(empty, 1)
    blobs.forget_unused_terms(empty)
    assert blobs.find_terms(empty, ["cat", "dog"]).keys() == {"cat"}
    blobs.release_terms(empty, 2)
    assert blobs.find_terms(empty, ["cat"]) == {}


def test_the_number_of_a_blob_is_never_given_again(empty):
    words = [(1, 1)], [{"cat": 1}]
    blobs.write_words(empty, SUMS, 1, (2, "parent"), *words)
    blobs.delete_words(empty, 1)
    blobs.write_words(empty, SUMS, 1, (2, "parent"), *words)
    assert blobs.live_blobs(empty, "words", 2) == {2: 1}


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ("UPDATE vectors SET matrix = zeroblob(length(matrix))", blobs.read_vectors),
        ("UPDATE vectors SET content = 9", blobs.read_matrix),
        ("UPDATE words SET counts = zeroblob(length(counts))", blobs.read_words),
        ("UPDATE terms SET term = 'other' WHERE term_id = 1", blobs.read_vocabulary),
    ],
)
def test_a_changed_blob_is_noticed(empty, change, read):
    blobs.write_vectors(empty, SUMS, 1, KIND, ROWS, unit(3), 4)
    blobs.write_words(empty, SUMS, 1, (2, "parent"), [(1, 1)], [{"cat": 1}])
    read(empty, SUMS, 1)
    empty.execute(change)
    with pytest.raises(IndexDamagedError, match="checksum"):
        read(empty, SUMS, 1)
