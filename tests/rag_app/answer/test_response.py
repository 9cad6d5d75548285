"""What is known of an answer: statements, cost, JSON, and how it is printed."""

from __future__ import annotations

import json

import pytest

from rag_app.answer.response import Answer, AnswerSentence, ContextReport, Decision, Usage
from tests.support.passages import node

QUOTED = AnswerSentence("It opened in 1931.", [1], "quoted")
UNSUPPORTED = AnswerSentence("It cost $9.", [1], "unsupported", ["9 is not in what is cited"])


def test_only_an_unsupported_statement_is_not_verified():
    supported = AnswerSentence("x", [1], "supported")
    assert [one.verified for one in (QUOTED, supported, UNSUPPORTED)] == [True, True, False]
    assert UNSUPPORTED.to_dict()["problems"] == UNSUPPORTED.problems


def test_statements_that_are_not_supported_are_printed_and_not_in_the_text():
    answer = Answer(response="It opened. [1]", sentences=[QUOTED, UNSUPPORTED])
    assert str(answer).splitlines()[2:] == [
        "[not supported] It cost $9. (9 is not in what is cited)"
    ]
    assert str(Answer(response="It opened. [1]", sentences=[QUOTED])) == "It opened. [1]"
    assert "1 of 2 sentences verified" in repr(answer)
    assert "\n" not in repr(Answer(response="word\n" * 500))


def test_costs_are_added():
    usage = Usage(1, 10, 2).plus(2, 5, 1, estimated=True)
    assert usage == Usage(3, 15, 3, estimated=True)
    assert usage.total_tokens == 18
    assert usage.to_dict()["context"] is None
    report = ContextReport(100, 0, [], [])
    assert Usage(context=report).to_dict()["context"]["budget"] == 100


def test_the_document_of_an_answer_is_json():
    answer = Answer(response="x", question="q", decision=Decision(0.5, 0.4, 0.2, {"a": 1.0}))
    document = json.loads(json.dumps(answer.to_dict()))
    assert (document["question"], document["answer"]) == ("q", "x")
    assert document["decision"]["score"] == 0.5
    assert "queries" not in document


@pytest.mark.parametrize("key", ["queries", "glossary"])
def test_further_queries_and_glossary_are_in_the_document_only_where_there_are_any(key):
    assert key not in Answer(response="x").to_dict()


def test_metadata_of_sources_is_where_llama_index_users_look():
    source = node("The plant.")
    answer = Answer(response="x", source_nodes=[source])
    assert answer.metadata == {source.node.node_id: source.node.metadata}
