"""Texts of found nodes with their places, mostly taken from passages that were read."""

from __future__ import annotations

import pytest

from rag_app.retrieval.excerpts import Excerpt, excerpt_of, read_excerpts
from rag_app.retrieval.rankings import IndexHit, View
from tests.support.embedding import hash_vector


@pytest.fixture
def view(manual):
    with manual.snapshot() as snapshot:
        yield View("", snapshot, hash_vector)


def hits(view, kind="child-128"):
    found = view.snapshot.search_vectors(kind, hash_vector("number of the valve"), 3)
    return [IndexHit(*hit, view) for hit in found]


@pytest.mark.parametrize("with_passages", [True, False])
def test_excerpts_are_the_nodes_however_they_are_read(view, with_passages):
    found = hits(view)
    nodes = view.snapshot.nodes([one.node_id for one in found])
    passages = view.snapshot.nodes([one.passage_id for one in found])
    known = {(view, key): node for key, node in passages.items()} if with_passages else {}
    excerpts = read_excerpts(found, known)
    assert excerpts.keys() == nodes.keys()
    for key, node in nodes.items():
        assert excerpts[key].text == node.get_content()
        assert list(excerpts[key].pages) == node.metadata["pages"]
        assert excerpts[key].span == (node.start_char_idx, node.end_char_idx)


def test_a_passage_that_was_read_is_not_read_again(view, monkeypatch):
    found = hits(view, "parent")
    nodes = view.snapshot.nodes([one.node_id for one in found])
    known = {(view, key): node for key, node in nodes.items()}
    unread = View("", None, None)
    again = [one._replace(view=unread) for one in found]
    passages = {(unread, key): node for (_, key), node in known.items()}
    assert read_excerpts(again, passages).keys() == nodes.keys()


def test_what_no_index_holds_any_more_is_left_out(view):
    assert read_excerpts([IndexHit("p", "gone", 1.0, view)], {}) == {}


def test_a_text_that_is_not_that_of_its_place_has_no_span(view):
    (key, node), *_ = view.snapshot.nodes([hits(view)[0].node_id]).items()
    excerpt = excerpt_of(node)
    assert excerpt.span is not None
    assert Excerpt(key, excerpt.text + "x", (), "d", excerpt.start, excerpt.end).span is None
    assert excerpt._replace(document_id=None).span is None
