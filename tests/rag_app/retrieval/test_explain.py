from __future__ import annotations

import json

from rag_app.retrieval.retriever import JoinedRetriever, StrategyRetriever
from tests.rag_app.retrieval.test_documents import report
from tests.support.embedding import HashEmbedding


def test_explain_shows_each_list_each_contribution_and_the_child(manual, model):
    retriever = StrategyRetriever(manual, embed_model=model, similarity_top_k=2)
    shown = retriever.explain("number of the valve", top=4)
    result = retriever.retrieve_detailed("number of the valve")
    assert [(a.arm, a.status) for a in shown.arms] == [
        ("vectors:child-256", "voted"),
        ("words:parent", "voted"),
    ]
    assert [row.passage_id for row in shown.fused] == [item.key for item in result.fused[:4]]
    assert [row.outcome for row in shown.fused] == ["returned"] * 2 + ["below"] * 2
    first = shown.fused[0]
    assert sum(share.value for share in first.shares) == first.score
    assert "valve" in first.shares[0].text
    row = shown.arms[0].rows[0]
    assert (row.rank, row.file) == (1, "manual.pdf")
    assert row.node_id != row.passage_id
    assert row.text in {c.get_content() for c in children(manual, row.passage_id)}


def test_explain_counts_what_is_returned_and_not_what_was_asked_for(build, manual, model):
    small = build({"a.pdf": ["The pump is red."]})
    text = StrategyRetriever(small, "bm25", similarity_top_k=5).explain("pump").render()
    assert "1 of 1 shown are returned" in text
    retriever = StrategyRetriever(manual, embed_model=model, similarity_top_k=2)
    assert "2 of 4 shown are returned" in retriever.explain("valve", top=4).render()


def children(store, passage):
    with store.snapshot() as snapshot:
        return snapshot.children(passage)


def test_explain_is_json_and_plain_text(manual, model):
    shown = StrategyRetriever(manual, embed_model=model).explain("number of the valve", top=3)
    as_json = json.loads(json.dumps(shown.to_dict()))
    assert as_json["fused"][0]["shares"][0]["arm"] == "vectors:child-256"
    text = shown.render()
    assert "strategy hybrid, fusion rrf" in text
    assert "manual.pdf p." in text
    assert "words:parent rank 1" in text


def test_explain_says_who_did_not_vote_and_why(build, model):
    class Broken(HashEmbedding):
        def _get_query_embedding(self, query):
            raise RuntimeError("no GPU")

    store = build({"a.pdf": ["東京は日本の首都です。The pump runs."]}, scripts=("latin",))
    silent = StrategyRetriever(store, embed_model=model).explain("日本の首都")
    assert silent.arms[0].status == "silent"
    assert "does not know Japanese" in silent.render()
    failed = StrategyRetriever(store, embed_model=Broken()).explain("pump")
    assert "failed: hash could not embed it: RuntimeError: no GPU" in failed.render()
    nothing = StrategyRetriever(store, "bm25").explain("zebra").render()
    assert "nothing matches" in nothing


def test_explain_says_into_which_window_a_sentence_was_merged(build, model):
    store = build({"a.pdf": ["One. The valve leaks. The valve drips. Four. Five. Six."]})
    shown = StrategyRetriever(store, "sentence_window", embed_model=model).explain(
        "The valve leaks"
    )
    merged = [row for row in shown.fused if row.outcome == "merged"]
    assert merged
    assert {row.into for row in merged} <= {row.passage_id for row in shown.fused}


def test_explain_names_generated_queries_documents_and_origins(build, model):
    parts = [
        StrategyRetriever(
            build({f"{c}.pdf": report(c, 2020) for c in companies}),
            embed_model=model,
            origin=origin,
            query_generator=lambda question: ["cash of Nike"],
        )
        for origin, companies in {"A": ("Adobe", "Boeing"), "B": ("Nike", "Foot Locker")}.items()
    ]
    text = JoinedRetriever(parts).explain("How did Nike's revenue grow?").render()
    assert "further query: cash of Nike" in text
    assert "Documents that the question names" in text
    assert "in the named documents" in text
    assert "B/Nike.pdf p." in text
