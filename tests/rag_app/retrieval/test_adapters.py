"""LlamaIndex's own classes over a store: the stock class errs, ours gets it right."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload, LlamaDebugHandler
from llama_index.core.llms.mock import MockLLM
from llama_index.core.postprocessor.metadata_replacement import MetadataReplacementPostProcessor
from llama_index.core.retrievers import QueryFusionRetriever, RecursiveRetriever
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from llama_index.retrievers.bm25 import BM25Retriever

from pipelines.errors import ConfigError, FusionError, RetrievalError
from rag_app.retrieval.adapters import (
    ChildParentRetriever,
    ChildRetriever,
    LexicalRetriever,
    RankFusionRetriever,
    WindowPostprocessor,
)
from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.retrieval.strategy import STRATEGIES, Arm, Strategy
from tests.rag_app.retrieval.conftest import TOPICS

QUESTION = "What is the number of the valve?"


class Fixed(BaseRetriever):
    def __init__(self, nodes):
        super().__init__()
        self.nodes = nodes

    def _retrieve(self, query_bundle):
        if isinstance(self.nodes, Exception):
            raise self.nodes
        return self.nodes


def listed(*names, scores=None):
    scores = scores or [1 / place for place, _ in enumerate(names, 1)]
    return [
        NodeWithScore(node=TextNode(id_=name, text=f"text of {name}"), score=score)
        for name, score in zip(names, scores, strict=True)
    ]


def ids(nodes):
    return [found.node.node_id for found in nodes]


def pairs(nodes):
    return [(found.node.node_id, found.score) for found in nodes]


def alone(manual, arm, model, **options):
    strategy = Strategy("one", (arm,), fusion="max")
    return StrategyRetriever(manual, strategy, embed_model=model, **options)


class TestLexical:
    def test_it_gives_the_results_of_the_strategy(self, manual):
        retriever = LexicalRetriever(manual, similarity_top_k=3)
        expected = StrategyRetriever(manual, "bm25", similarity_top_k=3).retrieve(QUESTION)
        assert retriever.retrieve(QUESTION) == expected
        assert asyncio.run(retriever.aretrieve(QUESTION)) == expected

    def test_only_passages_with_a_word_come(self, manual):
        """Stock: padded to k with score 0."""
        nodes = [TextNode(text=f"the {topic} is old") for topic in TOPICS]
        stock = BM25Retriever(nodes=nodes, similarity_top_k=3).retrieve("valve")
        assert [found.score for found in stock][1:] == [0, 0]
        ours = LexicalRetriever(manual, similarity_top_k=10).retrieve("valve")
        assert ours
        assert all(found.score > 0 for found in ours)
        assert all("valve" in found.node.get_content() for found in ours)

    def test_filtered_out_passages_do_not_come(self, build):
        """Stock: they come with score 0."""
        nodes = [TextNode(text="the valve", metadata={"f": name}) for name in "ab"]
        only = MetadataFilters(filters=[MetadataFilter(key="f", value="a")])
        stock = BM25Retriever(nodes=nodes, similarity_top_k=2, filters=only).retrieve("valve")
        assert {found.node.metadata["f"] for found in stock} == {"a", "b"}
        store = build({"a.pdf": ["The valve leaks."], "b.pdf": ["The valve drips."]})
        only = MetadataFilters(filters=[MetadataFilter(key="file_name", value="a.pdf")])
        ours = LexicalRetriever(store, filters=only).retrieve("valve")
        assert [found.node.metadata["file_name"] for found in ours] == ["a.pdf"]

    def test_japanese_is_found(self, build):
        """Stock: a sentence is one token, every score 0."""
        texts = ["京都は古い都です。", "東京は日本の首都です。", "大阪は商業の町です。"]
        stock = BM25Retriever(nodes=[TextNode(text=t) for t in texts], similarity_top_k=3)
        assert {found.score for found in stock.retrieve("日本の首都")} == {0.0}
        store = build({f"{n}.pdf": [text] for n, text in enumerate(texts)}, scripts=("latin",))
        ours = LexicalRetriever(store).retrieve("日本の首都")
        assert ours[0].node.get_content() == texts[1]
        assert ours[0].score > 0

    def test_an_index_that_is_empty_or_all_stop_words_is_no_error(self, build):
        """Stock: "max() arg is an empty sequence", or a division by zero."""
        with pytest.raises((ValueError, RuntimeWarning)):
            BM25Retriever(nodes=[TextNode(text="the of and")], similarity_top_k=1)
        assert LexicalRetriever(build({})).retrieve("valve") == []
        assert LexicalRetriever(build({"a.pdf": ["the of and"]})).retrieve("the") == []


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
        assert {child.metadata["kind"] for child in children} == {"child-128"}
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


class TestFusion:
    def test_the_parts_together_are_the_hybrid_strategy(self, manual, model):
        parts = [
            ChildParentRetriever(manual, model, "child-128", similarity_top_k=50),
            ChildParentRetriever(manual, model, "child-256", similarity_top_k=50),
            LexicalRetriever(manual, similarity_top_k=50),
        ]
        fused = RankFusionRetriever(parts, similarity_top_k=5)
        assert isinstance(fused, QueryFusionRetriever)
        hybrid = StrategyRetriever(manual, STRATEGIES["hybrid"], embed_model=model)
        found = fused.retrieve(QUESTION)
        assert pairs(found) == pairs(hybrid.retrieve(QUESTION))
        assert {m["arm"] for m in found[0].node.metadata["matched"]} == {
            arm.name for arm in STRATEGIES["hybrid"].arms
        }
        assert pairs(asyncio.run(fused.aretrieve(QUESTION))) == pairs(found)

    def test_weights_count(self):
        """CASES 1; stock: ignored in RRF, and a sum of 0 divides by zero."""
        one, two = Fixed(listed("a", "b")), Fixed(listed("c", "d"))
        stock = [
            QueryFusionRetriever(
                [one, two],
                llm=MockLLM(),
                mode="reciprocal_rerank",
                num_queries=1,
                use_async=False,
                retriever_weights=weights,
                similarity_top_k=4,
            )
            for weights in ([1, 0], [0.5, 0.5])
        ]
        assert pairs(stock[0].retrieve("x")) == pairs(stock[1].retrieve("x"))
        one, two = Fixed(listed("a", "b")), Fixed(listed("c", "d"))
        first = RankFusionRetriever([one, two], weights=[1, 0]).retrieve("x")
        both = RankFusionRetriever([one, two], weights=[0.5, 0.5]).retrieve("x")
        assert pairs(first) == [("a", 1 / 11), ("b", 1 / 12)]
        assert [name for name, _ in pairs(both)] == ["a", "c", "b", "d"]
        with pytest.raises(FusionError):
            RankFusionRetriever([one, two], weights=[0, 0])

    def test_equal_texts_of_two_files_stay_two_passages(self):
        """Stock: one, by the hash of the text."""
        same = [NodeWithScore(node=TextNode(id_=i, text="same"), score=1.0) for i in "ab"]
        assert len(RankFusionRetriever([Fixed(same)]).retrieve("x")) == 2

    def test_repetitions_count_once_and_scores_of_the_inputs_stay(self):
        """CASES 10; stock: a node twice in a list counts twice, and inputs are overwritten."""
        given = listed("a", "b", "b", "b", scores=[0.9, 0.8, 0.7, 0.6])
        fused = RankFusionRetriever([Fixed(given)]).retrieve("x")
        assert pairs(fused) == [("a", 1 / 11), ("b", 1 / 12)]
        assert [found.score for found in given] == [0.9, 0.8, 0.7, 0.6]

    def test_one_failing_retriever_does_not_end_the_query(self):
        """Stock: it does."""
        broken = Fixed(RuntimeError("down"))
        parts = [Fixed(listed("a")), broken]
        assert pairs(RankFusionRetriever(parts).retrieve("x")) == [("a", 1 / 11)]
        with pytest.raises(RuntimeError, match="down"):
            RankFusionRetriever(parts, strict=True).retrieve("x")
        with pytest.raises(RetrievalError):
            RankFusionRetriever([broken, broken]).retrieve("x")
        assert RankFusionRetriever([broken, parts[0]], weights=[0, 1]).retrieve("x")

    def test_further_queries_are_those_of_the_generator(self):
        asked = []

        class Asked(Fixed):
            def _retrieve(self, query_bundle):
                asked.append(query_bundle.query_str)
                return listed("a")

        generator = {"x": ["y", "X", "", "z"]}.__getitem__
        RankFusionRetriever([Asked([])], query_generator=generator).retrieve("x")
        assert asked == ["x", "y", "z"]

    def test_no_language_model_is_asked_for(self, monkeypatch):
        """Stock: an OpenAI key is wanted at construction."""
        from llama_index.core import Settings as Globals

        def fail(self):
            raise AssertionError("the global llm was asked")

        monkeypatch.setattr(type(Globals), "llm", property(fail))
        with pytest.raises(AssertionError):
            QueryFusionRetriever([Fixed([])], num_queries=1)
        assert RankFusionRetriever([Fixed(listed("a"))]).retrieve("x")


class TestWindows:
    TEXT = "One here. The valve leaks. The valve drips. Four here. Five here."

    def sentences(self, store):
        with store.snapshot() as snapshot:
            source = snapshot.sources()[0]
            rows = snapshot.search_words("parent", ["valv"], 1)
            assert rows
            result = StrategyRetriever(
                store,
                Strategy("s", (Arm("vectors", "sentence"),), fusion="max"),
                embed_model=_model(),
            ).retrieve_detailed("The valve leaks.")
            ids = [item.key for item in result.fused]
            assert source.nodes["sentence"] == len(ids)
            nodes = snapshot.nodes(ids)
        return [NodeWithScore(node=nodes[i], score=1 / n) for n, i in enumerate(ids, 1)]

    def test_stock_overwrites_the_node_it_was_given(self):
        node = TextNode(text="sentence", metadata={"window": "a sentence and more"})
        MetadataReplacementPostProcessor(target_metadata_key="window").postprocess_nodes(
            [NodeWithScore(node=node, score=1.0)]
        )
        assert node.text == "a sentence and more"

    def test_windows_are_read_on_copies_and_merged(self, build):
        """CASES 19."""
        store = build({"a.pdf": [self.TEXT]})
        given = self.sentences(store)[:2]
        before = [found.node.get_content() for found in given]
        processor = WindowPostprocessor(store)
        assert isinstance(processor, MetadataReplacementPostProcessor)
        (found,) = processor.postprocess_nodes(given)
        node = found.node
        assert node.get_content() == self.TEXT[node.start_char_idx : node.end_char_idx]
        assert "The valve leaks. The valve drips." in node.get_content()
        assert node.metadata["pages"] == [1]
        assert [item.node.get_content() for item in given] == before

    def test_nodes_without_a_window_stay(self, build):
        given = listed("a", "b")
        assert WindowPostprocessor(build({})).postprocess_nodes(given) == given
        assert WindowPostprocessor.class_name() == "WindowPostprocessor"


def _model():
    from tests.support.embedding import HashEmbedding

    return HashEmbedding()
