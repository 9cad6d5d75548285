"""Nodes as rows: new row numbers, the passage that each leads to, and ids that are unique."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.errors import StoreError
from rag_app.store.sqlite.node_rows import insert_nodes, kind_number
from tests.rag_app.store.sqlite.conftest import CATS, FISH, SUMS

PARENTS = [node for node in CATS.nodes if node.metadata["kind"] == "parent"]


def test_a_kind_keeps_its_number(empty):
    numbers = [kind_number(empty, name) for name in ("parent", "child-128", "parent")]
    assert numbers[0] == numbers[2] != numbers[1]


def test_each_child_leads_to_the_row_and_span_of_its_passage(empty):
    rows = insert_nodes(empty, SUMS, 1, CATS, {})
    assert sorted(row.row for row in rows.values()) == list(range(1, len(CATS.nodes) + 1))
    for node in CATS.nodes:
        lead = rows[getattr(node, "index_id", node.node_id)]
        row = rows[node.node_id]
        assert (row.passage, row.start, row.stop) == (lead.row, lead.start, lead.stop)


def test_only_nodes_that_are_not_here_are_written(empty):
    first = insert_nodes(empty, SUMS, 1, replace(CATS, nodes=PARENTS), {})
    second = insert_nodes(empty, SUMS, 1, CATS, first)
    assert not first.keys() & second.keys()
    assert empty.execute("SELECT count(*) FROM nodes").fetchone() == (len(CATS.nodes),)


def test_a_row_number_is_never_given_again(empty):
    insert_nodes(empty, SUMS, 1, CATS, {})
    empty.execute("DELETE FROM nodes")
    rows = insert_nodes(empty, SUMS, 2, FISH, {})
    assert min(row.row for row in rows.values()) == len(CATS.nodes) + 1


def test_a_node_that_leads_nowhere_is_refused(empty):
    children = [node for node in CATS.nodes if node not in PARENTS]
    with pytest.raises(StoreError, match="which this content does not hold"):
        insert_nodes(empty, SUMS, 1, replace(CATS, nodes=children), {})


def test_an_id_that_is_there_twice_is_named(empty):
    twice = [PARENTS[0], PARENTS[0].model_copy(update={"text": "other"})]
    with pytest.raises(StoreError, match=PARENTS[0].node_id):
        insert_nodes(empty, SUMS, 1, replace(CATS, nodes=twice), {})
    empty.execute("DELETE FROM nodes")
    insert_nodes(empty, SUMS, 1, CATS, {})
    with pytest.raises(StoreError, match="two nodes have the id"):
        insert_nodes(empty, SUMS, 2, CATS, {})
