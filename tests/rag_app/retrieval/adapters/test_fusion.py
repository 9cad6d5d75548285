"""Fusion of retrievers, beside the stock one."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.llms.mock import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from pipelines.errors import FusionError, RetrievalError
from rag_app.retrieval.adapters import (
    ChildParentRetriever,
    LexicalRetriever,
    RankFusionRetriever,
)
from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.retrieval.strategy import STRATEGIES
from tests.rag_app.retrieval.adapters.lists import (
    QUESTION,
    Fixed,
    listed,
    pairs,
)


class TestFusion:
    def test_the_parts_together_are_the_hybrid_strategy(self, manual, model):
        parts = [
            ChildParentRetriever(manual, model, similarity_top_k=50),
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
