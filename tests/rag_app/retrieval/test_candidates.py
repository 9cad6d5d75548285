"""Passages to read: the first k, windows that overlap merged."""

from __future__ import annotations

import pytest
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

from rag_app.retrieval.candidates import collect, fetch, read_candidates, window_of
from rag_app.retrieval.fusion import Fused
from rag_app.retrieval.rankings import View


def node(name, window=None, document="d"):
    metadata = {"window_start": window[0], "window_end": window[1]} if window else {}
    made = TextNode(id_=name, text=name, metadata=metadata)
    made.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document)
    return made


VIEW = View("", None, None)


def collected(k, *nodes):
    ranked = [
        (Fused(one if isinstance(one, str) else one.node_id, 1 / place, ()), one, VIEW)
        for place, one in enumerate(nodes, 1)
    ]
    return collect(((f, None if isinstance(n, str) else n, v) for f, n, v in ranked), k)


def ids(reading):
    return [passage.id for passage in reading.passages]


def test_the_first_k_passages_are_taken():
    assert ids(collected(2, node("a"), node("b"), node("c"))) == ["a", "b"]


def test_overlapping_windows_are_one_passage_at_the_best_place():
    reading = collected(5, node("a", (0, 10)), node("b", (50, 60)), node("c", (5, 20)))
    assert ids(reading) == ["a", "b"]
    assert reading.passages[0].window == (0, 20)
    assert reading.merged == {"c": "a"}
    assert [member.key for member in reading.passages[0].members] == ["a", "c"]


def test_a_window_that_joins_two_passages_makes_room_for_another():
    nodes = [node("a", (0, 10)), node("b", (20, 30)), node("c", (5, 25)), node("d", (90, 99))]
    reading = collected(2, *nodes)
    assert ids(reading) == ["a", "d"]
    assert reading.merged == {"b": "a", "c": "a"}


def test_windows_of_different_documents_do_not_merge():
    assert ids(collected(5, node("a", (0, 9)), node("b", (0, 9), "other"))) == ["a", "b"]


def test_an_id_that_is_in_no_index_is_gone():
    reading = collected(5, "x", node("a"))
    assert (reading.gone, ids(reading)) == (["x"], ["a"])


@pytest.mark.parametrize(
    ("metadata", "window"),
    [({"window_start": 1, "window_end": 5}, (1, 5)), ({"window_start": 1}, None), ({}, None)],
)
def test_only_a_sentence_with_both_ends_has_a_window(metadata, window):
    assert window_of(TextNode(text="x", metadata=metadata)) == window


def test_nodes_are_read_from_the_index_that_holds_them(manual):
    with manual.snapshot() as snapshot:
        view = View("", snapshot, None)
        found = [hit.passage_id for hit in snapshot.search_words("parent", ["steel"], 6)]
        assert list(fetch([*found, found[0], "unknown"], lambda _: view)) == found
        fused = [Fused(key, 1 / place, ()) for place, key in enumerate(found, 1)]
        owners = dict.fromkeys(found, view)
        assert ids(read_candidates(fused, owners, 2)) == found[:2]
