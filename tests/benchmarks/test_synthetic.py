"""The synthetic index answers through the real store and retriever."""

from benchmarks.synthetic import KINDS, RandomEmbedding, build
from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.retrieval.strategy import get_strategy
from rag_app.store.sqlite.store import open_store


def test_built_index_has_the_vectors_asked_for_and_answers(tmp_path):
    build(tmp_path / "index", 80)
    store = open_store(tmp_path / "index")
    try:
        with store.snapshot() as snapshot:
            (source,) = snapshot.sources()
            assert [source.nodes[kind] for kind in KINDS] == [80, 80]
        retriever = StrategyRetriever(
            store, get_strategy("hybrid"), embed_model=RandomEmbedding(), similarity_top_k=5
        )
        assert len(retriever.retrieve("wc wm wfg")) == 5
    finally:
        store.close()
