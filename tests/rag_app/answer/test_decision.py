"""When a question is answered, and when its language is that of no passage."""

from __future__ import annotations

import pytest

from pipelines.errors import ConfigError
from pipelines.text import search_terms
from rag_app.answer.decision import Thresholds, decide, verdict
from rag_app.answer.plan import judge, make_plan, retrieved_of
from rag_app.answer.ranking import Features, RankedUnit, UnitRanking
from rag_app.answer.response import Decision
from rag_app.passages import passages_of
from tests.support.passages import FixedEvidence, node

THRESHOLDS = Thresholds()
GOOD = Features(1.0, 1.0, 0.0, 0.8, 1.0, 1.0, 0.0, 0.0, 0.0)
BAD = Features(0.1, 0.1, 0.9, 0.1, 1.0, 0.0, 0.0, 0.0, 0.0)
ENGLISH = "This is the manual of the pump that was made in Kobe."
GERMAN = "Wie schwer ist die Pumpe und wer hat sie gemacht?"


def ranking(features, by="meaning"):
    return UnitRanking([RankedUnit(None, 0.5, features)], by)


@pytest.mark.parametrize("by", ["meaning", "words", "characters"])
def test_the_score_is_that_of_the_best_sentence_with_what_it_rests_on(by):
    good, bad = (decide(ranking(one, by), THRESHOLDS) for one in (GOOD, BAD))
    assert bad.score < THRESHOLDS.answer_from < good.score
    assert good.signals["own"] == 1.0
    assert (good.answer_from, good.closest_from) == (0.5, THRESHOLDS.closest_from)


def test_without_a_sentence_the_score_is_0():
    assert decide(UnitRanking([], "words"), THRESHOLDS).score == 0


@pytest.mark.parametrize("wrong", [(0.2, 0.4), (1.2, 0.1), (0.5, -0.1)])
def test_thresholds_that_fit_no_score_are_our_error(wrong):
    with pytest.raises(ConfigError, match="answer_from"):
        Thresholds(*wrong)


def decision(score, **signals):
    return Decision(score, 0.5, 0.1, {"own": 0.5, **signals})


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (decision(0.5), "answered"),
        (decision(0.49), "closest"),
        (decision(0.05), "refused"),
        (decision(0.3, own=0.0), "refused"),
    ],
)
def test_a_score_is_an_answer_the_closest_passages_or_a_refusal(found, expected):
    passages = passages_of([node(ENGLISH)])
    given = verdict("What is it?", found, passages, FixedEvidence(), vectors_used=True)
    assert given == expected


def test_no_passage_is_no_answer_whatever_the_score():
    assert verdict("What?", decision(1.0), [], FixedEvidence(), vectors_used=True) == "refused"


@pytest.mark.parametrize(
    ("question", "voted", "evidence", "expected"),
    [
        ("日本の首都は？", False, FixedEvidence(scripts={"latin": 3}), "other_language"),
        ("日本の首都は？", False, FixedEvidence(scripts={"latin": 3, "cjk": 1}), "refused"),
        ("日本の首都は？", True, FixedEvidence(scripts={"latin": 3}), "refused"),
        ("日本の首都は？", False, FixedEvidence(), "other_language"),
        (GERMAN, True, FixedEvidence(scripts={"latin": 3}), "other_language"),
        (GERMAN, True, FixedEvidence(scripts={"latin": 3}, multilingual=True), "refused"),
        ("Who made it and what is it?", False, FixedEvidence(scripts={"latin": 3}), "refused"),
        ("42?", False, FixedEvidence(scripts={"cjk": 3}), "refused"),
    ],
)
def test_another_language_is_not_a_refusal(question, voted, evidence, expected):
    passages = passages_of([node(ENGLISH)])
    found = Decision(0.0, 0.5, 0.1, {})
    assert verdict(question, found, passages, evidence, vectors_used=voted) == expected


@pytest.mark.parametrize("term", ["退職金制度", "官報"])
def test_kanji_without_kana_are_no_other_language_than_japanese(term):
    passages = passages_of([node("退職する者には退職金を支払う。これは規則である。")])
    evidence = FixedEvidence(scripts={"cjk": 3})
    given = verdict(term, Decision(0.0, 0.5, 0.1, {}), passages, evidence, vectors_used=False)
    assert given == "refused"


MINUTES = "The council met on 4 March. Eleven members were present. Rents rise to £25 in May."


class Library(FixedEvidence):
    """Evidence of an index of so many passages, of which one holds each term of a text."""

    def __init__(self, text, size):
        super().__init__()
        self._known, self._size = set(search_terms(text)), size

    def frequencies(self, terms):
        return self._size, {term: int(term in self._known) for term in terms}


def judged(question, text, size=1):
    evidence = Library(text, size)
    plan = make_plan(question, retrieved_of([node(text)], question), evidence)
    return judge(plan, evidence, THRESHOLDS)


@pytest.mark.parametrize(
    "question",
    [
        "When did the council meet?",
        "Hello, could you please kindly tell me when the council met? Many thanks in advance!",
        "asdfghjk when did the council meet",
        "When did the councli meet?",
        "When did the council meet? Answer in one word. Round your answer to two places.",
    ],
)
def test_courtesy_noise_instructions_and_one_typing_error_decide_nothing(question):
    assert judged(question, MINUTES).verdict == "answered"


def test_the_score_hardly_depends_on_how_many_passages_there_are():
    for question in ("When did the council meet?", "When did the council buy elephants?"):
        one, many = (judged(question, MINUTES, size).decision.score for size in (1, 5000))
        assert one == pytest.approx(many, abs=0.05)


def test_what_the_page_does_not_say_is_not_called_an_answer():
    assert judged("How many elephants did the council buy?", MINUTES).verdict != "answered"
