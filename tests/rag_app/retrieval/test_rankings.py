"""What one arm finds for one query, in one index and in several."""

from __future__ import annotations

import pytest

from pipelines.errors import ConfigError, EmbeddingError, IndexMismatchError
from rag_app.retrieval.rankings import QueryVectors, Ranking, View, rank, term_weights
from rag_app.retrieval.strategy import Arm
from tests.support.embedding import DIMENSION, hash_vector

WORDS, VECTORS = Arm("words", "parent"), Arm("vectors", "child-128")


@pytest.fixture
def view(manual):
    with manual.snapshot() as snapshot:
        yield View("", snapshot, hash_vector)


def ranked(arm, query, *views, vectors=None):
    return rank(Ranking(arm, query, views), 3, vectors or QueryVectors())


@pytest.mark.parametrize("arm", [WORDS, VECTORS])
def test_an_arm_returns_the_best_passages_first(view, arm):
    done = ranked(arm, "number of the valve", view)
    assert (done.status, len(done.found)) == ("voted", 3)
    nodes = view.snapshot.nodes([done.found[0].passage_id])
    assert "valve" in nodes[done.found[0].passage_id].get_content()
    assert [hit.score for hit in done.found] == sorted((h.score for h in done.found), reverse=True)


def test_an_arm_without_a_match_says_so(view):
    done = ranked(WORDS, "elephants", view)
    assert (done.status, done.found, done.reason) == ("nothing", (), "nothing matches")


def test_a_model_that_does_not_know_the_language_does_not_vote(build):
    with build({"a": "The valve leaks."}, scripts=("latin",)).snapshot() as snapshot:
        done = ranked(VECTORS, "東京は日本の首都ですか", View("", snapshot, hash_vector))
    assert done.status == "silent"
    assert "Japanese" in done.reason


def test_a_model_that_fails_fails_its_arm_alone(view):
    def broken(_):
        raise RuntimeError("out of memory")

    done = ranked(VECTORS, "valve", View("", view.snapshot, broken))
    assert (done.status, done.found) == ("failed", ())
    assert "out of memory" in done.reason
    assert isinstance(done.error, EmbeddingError)


@pytest.mark.parametrize(
    ("embed", "error"),
    [(None, ConfigError), (lambda _: [1.0, 0.0], IndexMismatchError)],
)
def test_a_wrong_configuration_is_raised(view, embed, error):
    with pytest.raises(error):
        ranked(VECTORS, "valve", View("", view.snapshot, embed))


def test_hits_of_several_indexes_are_ranked_together(build):
    stores = [build({"a": "The red valve leaks."}), build({"b": "The valve. " + "Steel. " * 9})]
    with stores[0].snapshot() as one, stores[1].snapshot() as other:
        views = [View("x", one, hash_vector), View("y", other, hash_vector)]
        done = ranked(WORDS, "red valve", *reversed(views))
        assert [hit.view.origin for hit in done.found] == ["x", "y"]
        assert len({hit.passage_id for hit in done.found}) == 2


def test_the_vector_of_a_query_is_computed_once_also_when_it_fails(view):
    asked = []

    def embed(text):
        asked.append(text)
        return [0.0] * DIMENSION if text == "zero" else hash_vector(text)

    vectors, own = QueryVectors(), View("", view.snapshot, embed)
    for _ in range(2):
        vectors.get(own, "valve")
        with pytest.raises(EmbeddingError):
            vectors.get(own, "zero")
    assert asked == ["valve", "zero"]


def test_vectors_that_are_given_are_not_computed(view):
    vectors = QueryVectors({"valve": hash_vector("pump")})
    done = ranked(VECTORS, "valve", view, vectors=vectors)
    nodes = view.snapshot.nodes([done.found[0].passage_id])
    assert "pump" in nodes[done.found[0].passage_id].get_content()


def test_rare_terms_weigh_more(view):
    weights = term_weights(view, "parent", ["valv", "steel", "unknown"])
    assert weights["unknown"] > weights["valv"] > weights["steel"] > 0
