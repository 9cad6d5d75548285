"""Answers without a language model: refusals, the closest passages, and cited sentences."""

from __future__ import annotations

import pytest

from rag_app.answer import compose
from rag_app.answer.extractive import Shown
from rag_app.answer.prompts import load_prompts
from rag_app.answer.response import UnreadPages
from rag_app.passages import passages_of, sentences_of
from tests.support.passages import FixedEvidence, evidence_of, node

ONE, TWO = "The plant opened in 1998.", "It made 4,200 pumps."
MESSAGES = load_prompts().messages


@pytest.fixture
def passages():
    return passages_of([node(f"{ONE} {TWO}", pages=[1, 2], heading="Plants")])


@pytest.fixture
def evidence():
    return evidence_of(ONE, TWO)


def test_a_refusal_names_the_pages_that_were_not_searched(evidence):
    evidence.unread = [UnreadPages("a.pdf", [1, 2, 3, 7])]
    answer = compose.refused("Who?", MESSAGES, evidence)
    assert (answer.outcome, answer.unread_pages) == ("refused", evidence.unread)
    assert "a.pdf, p. 1-3, 7" in answer.response


def test_only_a_few_files_with_unread_pages_are_named(evidence):
    evidence.unread = [UnreadPages(f"{n}.pdf", [1]) for n in range(compose.MAX_UNREAD_FILES + 1)]
    text = compose.refused("Who?", MESSAGES, evidence).response
    assert f"{compose.MAX_UNREAD_FILES - 1}.pdf" in text
    assert f"{compose.MAX_UNREAD_FILES}.pdf" not in text
    assert "…" in text


def shown(passages):
    """The sentences of the passages, as they stand."""
    return [
        Shown(one.passage, one.text, ((one.start, one.end),), section="Plants")
        for one in sentences_of(passages)
    ]


def test_the_closest_passage_has_the_page_of_its_best_line_which_comes_first(passages, evidence):
    first, second = shown(passages)
    answer = compose.closest("Who?", passages, [[second, first]], evidence, MESSAGES)
    (near,) = answer.closest
    assert (answer.outcome, near.page, near.pages, near.heading) == ("closest", 2, [1, 2], "Plants")
    assert near.lines == [quote.text for quote in near.quotes] == [TWO, ONE]
    assert all(quote.verified for quote in near.quotes)
    assert "report.pdf, p. 2: Plants" in answer.response


def test_each_sentence_is_cited_by_its_page_and_quoted(passages, evidence):
    answer = compose.extractive("When?", passages, shown(passages), evidence)
    assert answer.response == f"{ONE} [1]\n{TWO} [2]"
    assert [one.support for one in answer.sentences] == ["quoted", "quoted"]
    assert [citation.page for citation in answer.citations] == [1, 2]
    assert answer.usage.context.tokens > 0


def test_a_sentence_that_is_not_on_its_page_is_marked(passages):
    evidence = evidence_of(ONE, TWO, raw=["Another text.", TWO])
    answer = compose.extractive("When?", passages, shown(passages), evidence)
    assert [one.support for one in answer.sentences] == ["unsupported", "quoted"]


def test_another_language_names_both(passages):
    evidence = FixedEvidence(languages=["English"], scripts={"latin": 1})
    answer = compose.other_language("東京はどこですか", passages, evidence, MESSAGES)
    assert answer.outcome == "other_language"
    assert answer.response
