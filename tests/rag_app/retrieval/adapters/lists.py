"""Lists of nodes, made by hand, and a retriever that returns one."""

from __future__ import annotations

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.retrieval.strategy import Strategy

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


def _model():
    from tests.support.embedding import HashEmbedding

    return HashEmbedding()
