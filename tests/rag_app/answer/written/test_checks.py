"""Sentences of a model against what it was sent: which passage a bare answer rests on."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from pipelines.documents import page_map, read_pdf
from pipelines.page_map import Page
from pipelines.text import content_words
from rag_app.answer.citations import CitationBook
from rag_app.answer.response import AnswerSentence
from rag_app.answer.support import subject_words
from rag_app.answer.written.checks import NEAREST_CITED, NO_CITATION, SentenceChecker
from rag_app.answer.written.comparison import WEAK_SUPPORT
from rag_app.answer.written.marks import MarkedSentence
from rag_app.answer.written.sent_passage import SentPassage
from rag_app.passages import Passage, sentences_of
from tests.support.passages import FixedEvidence

DATA = Path(__file__).parents[4] / "data"
QUESTIONS = {
    row["id"]: row
    for row in map(json.loads, (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines())
}
# Facts, tables, numbers; answers of one word and of several; both languages.
FACTS = ("en-01", "en-02", "en-03", "en-04", "en-05", "ja-01", "ja-02", "ja-03")
SAYINGS = {
    "en": (
        "The answer is {}.",
        "According to the passages provided, the answer to the question is {}.",
        "Based on the document, it is stated that this is {}.",
    ),
    "ja": ("質問の答えは{}です。", "文書によると、{}と記載されています。"),
}


@cache
def pages_of_samples() -> list[Page]:
    return [page for pdf in sorted(DATA.glob("*.pdf")) for page in page_map(read_pdf(pdf))]


@cache
def frequencies() -> tuple[int, dict[str, int]]:
    counts: dict[str, int] = {}
    for page in pages_of_samples():
        for word in set(content_words(page.raw)):
            counts[word] = counts.get(word, 0) + 1
    return len(pages_of_samples()), counts


def weights(text: str) -> dict[str, float]:
    """BM25's weights over the pages of all sample documents."""
    total, counts = frequencies()
    found = ((word, counts.get(word, 0)) for word in content_words(text))
    return {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in found}


def checked(
    text: str, texts: Sequence[str], cited: Sequence[int] = ()
) -> tuple[AnswerSentence, list[int]]:
    """Return a sentence's check, and the places of the passages that it cites then."""
    passages = [
        Passage((str(i),), "", str(i), None, None, one, i + 1) for i, one in enumerate(texts)
    ]
    sentences = sentences_of(passages)
    sent = [
        SentPassage(i, [s for s in sentences if s.passage == i], f"{i}.pdf")
        for i in range(len(texts))
    ]
    book = CitationBook(passages, FixedEvidence())
    checker = SentenceChecker(sent, book, weights(text), "")
    sentence = checker.check(MarkedSentence(text, list(cited)))
    numbers = {book.number_of(i): i for i in range(len(texts))}
    return sentence, [numbers[number] for number in sentence.citations]


def sent_for(question: dict) -> list[str]:
    """Return the page that answers a question, after two that do not."""
    document = read_pdf(DATA / question["evidence"][0]["file"])
    there = {one["page"] for one in question["evidence"]}
    pages = page_map(document)
    others = [page.raw for page in pages if page.number not in there]
    others = [text for text in others if question["answer"] not in text][:2]
    (right,) = [page.raw for page in pages if page.number == question["evidence"][0]["page"]]
    return [*others, right]


@pytest.mark.parametrize("key", FACTS)
def test_a_right_answer_without_a_mark_gets_the_passage_that_holds_it(key):
    question = QUESTIONS[key]
    for saying in SAYINGS[key[:2]]:
        texts = sent_for(question)
        sentence, cited = checked(saying.format(question["answer"]), texts)
        assert cited == [len(texts) - 1], saying
        assert sentence.problems == []
        assert NEAREST_CITED in sentence.notes


@pytest.mark.parametrize("key", FACTS)
def test_a_right_answer_with_its_mark_has_no_problem_for_words_about_the_answer(key):
    question = QUESTIONS[key]
    for saying in SAYINGS[key[:2]]:
        texts = sent_for(question)
        sentence, _ = checked(saying.format(question["answer"]), texts, [len(texts)])
        assert sentence.problems == []


@pytest.mark.parametrize(
    "text",
    [
        "The answer is Ottoline Vance of Tarragona.",
        "According to the document, elephants conducted the ferry orchestra.",
        "The answer is 98,765.",
        "The passages do not contain this information.",
        "文書によると、象が演奏しています。",
    ],
)
def test_what_stands_in_no_passage_is_given_no_citation(text):
    sentence, cited = checked(text, sent_for(QUESTIONS["en-01"]))
    assert cited == []
    assert NO_CITATION in sentence.problems


def test_a_passage_without_the_numbers_of_the_answer_is_not_the_nearest():
    texts = ["The valve weighs 38 kg and opens at 4 bar.", "The valve weighs 12 kg."]
    assert checked("The valve weighs 12 kg and opens.", texts)[1] == [1]


def test_a_made_up_sentence_is_not_excused_for_standing_nowhere():
    """Words of no passage count where the model says that a passage holds them."""
    sentence, _ = checked("The ferry was sold to Norwegian whalers.", ["The ferry sails."], [1])
    assert WEAK_SUPPORT in sentence.problems


def test_words_about_the_answer_count_where_nothing_else_is_said():
    assert subject_words("According to the document, the answer is 38 tonnes.") == ["38", "tonn"]
    assert subject_words("The question and the answer") == content_words("question answer")
