"""Sentences with their windows, beside the stock postprocessor."""

from __future__ import annotations

from llama_index.core.postprocessor.metadata_replacement import MetadataReplacementPostProcessor
from llama_index.core.schema import NodeWithScore, TextNode

from rag_app.retrieval.adapters import (
    WindowPostprocessor,
)
from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.retrieval.strategy import Arm, Strategy
from tests.rag_app.retrieval.adapters.lists import (
    _model,
    listed,
)


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
