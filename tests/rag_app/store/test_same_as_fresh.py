"""However an index came to be, it answers as one that was built anew: same order, same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from rag_app.store.protocol import Store
from rag_app.store.sqlite.store import create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared, vector

WORDS = ["cat", "dog", "red", "blue", "runs", "sits", "eats", "12", "猫", "eats"]
sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
page = st.lists(sentence, min_size=1, max_size=4).map(lambda parts: ". ".join(parts) + ".")
pages = st.lists(page, min_size=1, max_size=3)
name = st.sampled_from(["/a.pdf", "/b.pdf", "/c.pdf", "/d/e.pdf"])
put = st.tuples(st.just("put"), name, pages)
change = st.one_of(put, put, st.tuples(st.just("remove"), name, st.just([])))
runs = st.lists(st.lists(change, min_size=1, max_size=4), min_size=1, max_size=4)
QUERIES = ["cat runs", "blue", "dog dog eats 12", "猫", "red sits cat"]


def answers(store: Store) -> list[object]:
    """Return all that either arm finds, by names that do not depend on the index's history."""
    only = MetadataFilters(filters=[MetadataFilter(key="page", value=1)])
    found: list[object] = []
    with store.snapshot() as snapshot:
        selected = snapshot.select(only)
        for query in QUERIES:
            terms = query.split()
            for within in (None, selected):
                found.append(snapshot.search_words("parent", terms, 5, within))
                found.append(snapshot.search_vectors("child-128", vector(query), 3, within))
            found.append(snapshot.document_frequencies("parent", terms))
    return found


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(runs=runs)
def test_results_equal_those_of_a_fresh_index(
    runs: list[list[tuple[str, str, list[str]]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("same")
    lived = create_store(folder / "lived", CONFIG)
    held: dict[str, list[str]] = {}
    with lived, create_store(folder / "fresh", CONFIG) as fresh:
        for run in runs:
            with lived.writer() as writer:
                for what, name, text in run:
                    if what == "put":
                        writer.put(prepared(name, text))
                        held[name] = text
                    else:
                        writer.remove([name])
                        held.pop(name, None)
                    answers(lived)  # the reader's arrays follow each generation
        with fresh.writer() as writer:
            for name, text in held.items():
                writer.put(prepared(name, text))
        wanted = answers(fresh)
        assert answers(lived) == wanted
        assert lived.verify() == []
        with open_store(folder / "lived") as reopened:
            assert answers(reopened) == wanted


def test_japanese_gives_the_same_in_a_new_process_as_before(tmp_path: Path) -> None:
    """Case 4, at the level of the store: terms and counts come back as they were."""
    with create_store(tmp_path / "index", CONFIG) as store:
        with store.writer() as writer:
            for name, text in [("/a.pdf", "東 京 日本 首都"), ("/b.pdf", "大阪 都市")]:
                writer.put(prepared(name, [text]))
        before = answers(store)
        with store.snapshot() as snapshot:
            found = snapshot.search_words("parent", ["首都", "日本"], 5)
    assert len(found) == 1
    with open_store(tmp_path / "index") as store:
        assert answers(store) == before
        with store.snapshot() as snapshot:
            assert snapshot.search_words("parent", ["首都", "日本"], 5) == found


def test_scores_do_not_depend_on_where_a_row_stands(tmp_path: Path) -> None:
    """BLAS rounds by position: thousands of rows, in two orders, give the same bits."""
    rng = np.random.default_rng(7)
    texts = [" ".join(rng.choice(WORDS, 5)) + f" n{n}." for n in range(200)]
    stores = []
    for index, order in enumerate((range(200), reversed(range(200)))):
        store = create_store(tmp_path / str(index), CONFIG)
        with store.writer() as writer:
            for n in order:
                writer.put(prepared(f"/{n}.pdf", [texts[n]]))
        stores.append(store)
    first, second = (answers(store) for store in stores)
    assert first == second
    for store in stores:
        store.close()
