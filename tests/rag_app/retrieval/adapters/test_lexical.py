"""The lexical retriever beside the stock BM25 retriever."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from llama_index.retrievers.bm25 import BM25Retriever

from rag_app.retrieval.adapters import (
    LexicalRetriever,
)
from rag_app.retrieval.retriever import StrategyRetriever
from tests.rag_app.retrieval.adapters.lists import (
    QUESTION,
)
from tests.rag_app.retrieval.conftest import TOPICS


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
