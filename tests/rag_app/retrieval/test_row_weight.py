from __future__ import annotations

import dataclasses
import json

import pytest
from llama_index.core.schema import MetadataMode

from pipelines.rows import ROW_SHARE
from rag_app.retrieval.retriever import JoinedRetriever, StrategyRetriever
from rag_app.retrieval.row_weight import FULL_SHARE, MAX_GAIN, row_factor
from rag_app.retrieval.strategy import STRATEGIES, strategy_from_dict

PROSE = (
    "The revenue of the ferries rose. Revenue is what the ferries earn. The revenue of the "
    "ferries is noted below, and revenue is explained in the notes on revenue."
)
TABLE = "Revenue 120.5 118.0\nFuel costs 44.1 43.9\nWages of crews 30.2 29.8\nPier dues 9.1 8.8"
OTHER = "A crane lifts seven tonnes of stone."
QUANTITY = "How much revenue did the ferries earn?"
OF_WORDS = "Who wrote the notes of the ferries?"


def texts(name: str = "report") -> dict[str, str]:
    parts = {"prose": PROSE, "table": f"{TABLE}\n{name} 1.5 1.4", "other": OTHER}
    return {f"{name}-{part}.pdf": text for part, text in parts.items()}


@pytest.fixture
def store(build):
    return build(texts(), row_shares=True)


def files(found):
    return [hit.node.metadata["file_name"] for hit in found]


def test_the_factor_grows_with_the_share_up_to_where_a_passage_is_a_table():
    assert row_factor(0.0) == 1.0
    assert row_factor(FULL_SHARE / 2) == pytest.approx(1 + MAX_GAIN / 2)
    assert row_factor(FULL_SHARE) == row_factor(1.0) == 1 + MAX_GAIN


def test_a_table_weighs_more_for_a_quantity_and_nothing_changes_for_other_questions(store, model):
    asked = StrategyRetriever(store, embed_model=model, similarity_top_k=3)
    plain = StrategyRetriever(store, embed_model=model, similarity_top_k=3, prefer_tables=False)
    before = {hit.node.metadata["file_name"]: hit.score for hit in plain.retrieve(QUANTITY)}
    after = {hit.node.metadata["file_name"]: hit.score for hit in asked.retrieve(QUANTITY)}
    assert after["report-table.pdf"] == before["report-table.pdf"] * (1 + MAX_GAIN)
    assert after["report-prose.pdf"] == before["report-prose.pdf"]
    assert [(h.node.node_id, h.score) for h in asked.retrieve(OF_WORDS)] == [
        (h.node.node_id, h.score) for h in plain.retrieve(OF_WORDS)
    ]


def test_scores_fall_along_the_list_also_when_weighed(store, model):
    found = StrategyRetriever(store, embed_model=model, similarity_top_k=3).retrieve(QUANTITY)
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert files(found)[0] == "report-table.pdf"


def test_the_strategy_and_a_preset_switch_it_off(store, model):
    preset = strategy_from_dict("mine", {"base": "hybrid", "prefer_tables": False})
    off = dataclasses.replace(STRATEGIES["hybrid"], prefer_tables=False)
    for strategy in (preset, off):
        shown = StrategyRetriever(store, strategy, embed_model=model).explain(QUANTITY)
        assert {row.row_factor for row in shown.fused} == {1.0}


def test_an_index_that_was_made_before_rows_were_noted_stays_as_it_was(build, model):
    old = build(texts())
    shown = StrategyRetriever(old, embed_model=model).explain(QUANTITY)
    assert {row.row_factor for row in shown.fused} == {1.0}


@pytest.mark.parametrize("strategy", ["naive", "bm25"])
def test_raw_scores_are_not_weighed(store, model, strategy):
    shown = StrategyRetriever(store, strategy, embed_model=model).explain(QUANTITY)
    assert {row.row_factor for row in shown.fused} == {1.0}


def test_explain_shows_the_factor_in_text_and_json(store, model):
    shown = StrategyRetriever(store, embed_model=model).explain(QUANTITY)
    rows = {row["file"]: row for row in json.loads(json.dumps(shown.to_dict()))["fused"]}
    assert rows["report-table.pdf"]["row_factor"] == 1 + MAX_GAIN
    assert rows["report-prose.pdf"]["row_factor"] == 1.0
    shares = sum(share["value"] for share in rows["report-table.pdf"]["shares"])
    assert rows["report-table.pdf"]["score"] == pytest.approx(shares * (1 + MAX_GAIN))
    assert shown.render().count("×1.5000  for its rows of tables") == 1


def test_each_of_several_indexes_weighs_its_own_passages(build, model):
    new, old = build(texts("new"), row_shares=True), build(texts("old"))
    parts = [
        StrategyRetriever(store, embed_model=model, origin=origin)
        for origin, store in {"new": new, "old": old}.items()
    ]
    shown = JoinedRetriever(parts, similarity_top_k=6).explain(QUANTITY)
    factors = {row.file: row.row_factor for row in shown.fused}
    assert factors["new-table.pdf"] == 1 + MAX_GAIN
    assert factors["old-table.pdf"] == 1.0


def test_a_returned_passage_says_how_much_of_it_stands_in_rows(store, model):
    [best, *_] = StrategyRetriever(store, embed_model=model).retrieve(QUANTITY)
    assert best.node.metadata[ROW_SHARE] == 1.0
    assert ROW_SHARE not in best.node.get_content(metadata_mode=MetadataMode.LLM)
