"""What is known before an answer is written: passages, word weights, and the decision."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from rag_app.answer.decision import Thresholds
from rag_app.answer.plan import Retrieved, judge, make_plan, retrieved_of
from rag_app.models.usage import Meter
from tests.support.passages import evidence_of, node

TEXT = "The plant in Kobe was opened in 1998. It made 4,200 pumps in 2019."
MATCH = {"arm": "vectors:child-128", "score": 0.7, "start": 0, "end": 20}


def planned(question, *nodes):
    return make_plan(question, Retrieved(list(nodes)), evidence_of(TEXT))


def score(question, *nodes):
    evidence = evidence_of(TEXT)
    return judge(planned(question, *nodes), evidence, Thresholds()).decision.score


def test_overlapping_passages_are_merged_and_cut_into_sentences():
    plan = planned("When was the plant opened?", node(TEXT), node(TEXT[10:], start=10))
    assert len(plan.passages) == 1
    assert len(plan.sentences) == 2
    assert plan.weights.keys() == {"plant", "open"}


@pytest.mark.parametrize(("matched", "voted"), [((), False), ((MATCH,), True)])
def test_meaning_votes_where_a_vector_arm_found_a_passage(matched, voted):
    assert planned("When was it?", node(TEXT, matched=matched)).vectors_used == voted


def test_without_passages_the_score_is_0():
    assert score("When?") == 0
    assert score("When was the plant opened?", node(TEXT)) > 0


def test_an_answerable_question_scores_higher_than_another_one():
    answerable = score("How many pumps were made in 2019?", node(TEXT))
    assert answerable > 2 * score("Who conducted the orchestra?", node(TEXT))


def test_what_documents_print_for_a_term_of_a_glossary_says_it():
    question, text = "What was the capex?", "Purchases of property and plant were 12 million."
    term = SimpleNamespace(term="capex", sort="terms", prints=("purchases of property and plant",))
    scores = []
    for glossary in ([], [term]):
        found = Retrieved([node(text)], glossary=glossary)
        evidence = evidence_of(text)
        judged = judge(make_plan(question, found, evidence), evidence, Thresholds())
        scores.append(judged.decision.score)
    assert scores[1] > 2 * scores[0]


def test_results_of_any_retriever_are_taken():
    nodes = [node(TEXT)]
    assert retrieved_of(nodes, "q") == Retrieved(nodes)
    result = SimpleNamespace(
        nodes=nodes, queries=["q", "r", "Q"], question="Q", degraded=["x"], glossary=None
    )
    cost = Meter(calls=1)
    assert retrieved_of(result, "q", cost) == Retrieved(nodes, ["x"], ["r"], [], cost)
