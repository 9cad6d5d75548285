"""What is known before an answer is written: passages, word weights, and the decision."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from rag_app.answer.plan import Retrieved, make_plan, retrieved_of
from rag_app.answer.refusal import Thresholds
from rag_app.models.usage import Meter
from tests.support.passages import evidence_of, node

TEXT = "The plant in Kobe was opened in 1998. It made 4,200 pumps in 2019."
MATCH = {"arm": "vectors:child-128", "score": 0.7, "start": 0, "end": 20}


def planned(question, *nodes):
    return make_plan(question, Retrieved(list(nodes)), evidence_of(TEXT), Thresholds())


def test_overlapping_passages_are_merged_and_cut_into_sentences():
    plan = planned("When was the plant opened?", node(TEXT), node(TEXT[10:], start=10))
    assert len(plan.passages) == 1
    assert len(plan.sentences) == 2
    assert plan.weights.keys() == {"plant", "open"}


@pytest.mark.parametrize(("matched", "voted"), [((), False), ((MATCH,), True)])
def test_meaning_votes_where_a_vector_arm_found_a_passage(matched, voted):
    assert planned("When was it?", node(TEXT, matched=matched)).meaning_voted == voted


def test_without_passages_there_is_no_decision():
    assert planned("When?").decision is None
    decision = planned("When was the plant opened?", node(TEXT)).decision
    assert decision.score > 0


def test_an_answerable_question_scores_higher_than_another_one():
    scores = [
        planned(question, node(TEXT)).decision.score
        for question in ("How many pumps were made in 2019?", "Who conducted the orchestra?")
    ]
    assert scores[0] > scores[1]


def test_results_of_any_retriever_are_taken():
    nodes = [node(TEXT)]
    assert retrieved_of(nodes, "q") == Retrieved(nodes)
    result = SimpleNamespace(
        nodes=nodes, queries=["q", "r", "Q"], question="Q", degraded=["x"], glossary=None
    )
    cost = Meter(calls=1)
    assert retrieved_of(result, "q", cost) == Retrieved(nodes, ["x"], ["r"], [], cost)
