"""Children that lead to parents, beside the stock recursive retriever."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload, LlamaDebugHandler
from llama_index.core.retrievers import RecursiveRetriever
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from pipelines.errors import ConfigError
from rag_app.retrieval.adapters import (
    ChildParentRetriever,
    ChildRetriever,
)
from rag_app.retrieval.strategy import Arm
from tests.rag_app.retrieval.adapters.lists import (
    QUESTION,
    Fixed,
    alone,
    ids,
    pairs,
)


class TestChildParent:
    def test_it_is_a_recursive_retriever_with_our_results(self, manual, model):
        retriever = ChildParentRetriever(manual, model, "child-128", similarity_top_k=3)
        assert isinstance(retriever, RecursiveRetriever)
        arm = Arm("vectors", "child-128")
        expected = alone(manual, arm, model, similarity_top_k=3).retrieve(QUESTION)
        assert retriever.retrieve(QUESTION) == expected
        assert asyncio.run(retriever.aretrieve(QUESTION)) == expected
        assert retriever.retrieve_all(QueryBundle(QUESTION)) == (expected, [])

    def test_the_stock_class_keeps_the_first_child_turns_zero_to_one_and_gives_out_its_own(self):
        parents = {name: TextNode(id_=name, text=name) for name in "pq"}
        children = [
            NodeWithScore(node=IndexNode(id_="c1", index_id="p", text="c1"), score=0.0),
            NodeWithScore(node=IndexNode(id_="c2", index_id="p", text="c2"), score=0.9),
        ]
        stock = RecursiveRetriever("v", {"v": Fixed(children)}, node_dict=parents)
        found = stock.retrieve("x")
        assert pairs(found) == [("p", 1.0)]
        assert found[0].node is parents["p"]

    def test_each_parent_comes_once_with_its_best_child(self, manual, model):
        found = ChildParentRetriever(manual, model, similarity_top_k=10).retrieve(QUESTION)
        assert len({n.node.node_id for n in found}) == 10
        for item in found:
            (match,) = item.node.metadata["matched"]
            assert match["score"] == item.score

    def test_the_root_returns_children_and_the_recursion_follows_them(self, manual, model):
        root = ChildRetriever(manual, model, similarity_top_k=4)
        children = [found.node for found in root.retrieve(QUESTION)]
        assert all(isinstance(child, IndexNode) for child in children)
        assert {child.metadata["kind"] for child in children} == {"child-256"}
        assert asyncio.run(root.aretrieve(QUESTION)) == root.retrieve(QUESTION)
        debug = LlamaDebugHandler(print_trace_on_end=False)
        retriever = ChildParentRetriever(
            manual, model, similarity_top_k=4, callback_manager=CallbackManager([debug])
        )
        assert isinstance(retriever._retriever_dict[retriever._root_id], ChildRetriever)
        found = retriever.retrieve(QUESTION)
        assert ids(found) == [child.index_id for child in children]
        inner = debug.get_event_pairs(CBEventType.RETRIEVE)[1][1].payload[EventPayload.NODES]
        assert [one.node for one in inner] == children

    def test_a_stock_recursive_retriever_over_our_children_finds_our_parents(self, manual, model):
        root = ChildRetriever(manual, model, similarity_top_k=4)
        stored = ChildParentRetriever(manual, model)._node_dict
        stock = RecursiveRetriever("children", {"children": root}, node_dict=stored)
        ours = ChildParentRetriever(manual, model, similarity_top_k=4)
        assert pairs(stock.retrieve(QUESTION)) == pairs(ours.retrieve(QUESTION))

    def test_a_score_of_zero_stays_and_a_parent_that_is_gone_is_left_out(self, manual, model):
        retriever = ChildParentRetriever(manual, model)
        parent = retriever.retrieve(QUESTION)[0].node
        query = QueryBundle(QUESTION)
        [found], _ = retriever._retrieve_rec(query, parent.node_id, 0.0)
        assert (found.node.node_id, found.score) == (parent.node_id, 0.0)
        assert retriever._retrieve_rec(query, "gone", 0.5) == ([], [])

    @pytest.mark.parametrize("kind", [ChildParentRetriever, ChildRetriever])
    def test_a_query_reads_one_snapshot(self, manual, model, monkeypatch, kind):
        retriever, opened, snapshot = kind(manual, model), [], type(manual).snapshot

        def counted(store):
            opened.append(store)
            return snapshot(store)

        monkeypatch.setattr(type(manual), "snapshot", counted)
        assert retriever.retrieve(QUESTION)
        assert opened == [manual]

    @pytest.mark.parametrize("kind", ["parent", "passage", "sentence"])
    def test_a_kind_that_points_at_no_parent_is_refused(self, manual, model, kind):
        with pytest.raises(ConfigError, match=f"'{kind}' point at no parent"):
            ChildParentRetriever(manual, model, kind)

    def test_filters_keep_parents_of_other_files_out(self, build, model):
        store = build({"a.pdf": ["The valve leaks."], "b.pdf": ["The valve drips."]})
        only = MetadataFilters(filters=[MetadataFilter(key="file_name", value="a.pdf")])
        [found] = ChildParentRetriever(store, model, filters=only).retrieve("valve")
        assert found.node.metadata["file_name"] == "a.pdf"

    def test_nodes_that_are_given_out_are_copies(self, manual, model):
        retriever = ChildParentRetriever(manual, model)
        first = retriever.retrieve(QUESTION)[0].node
        first.set_content("overwritten")
        assert retriever.retrieve(QUESTION)[0].node.get_content() != "overwritten"
        assert retriever._node_dict.get(first.node_id).get_content() != "overwritten"
        assert retriever._node_dict.get("nothing") is None
