from __future__ import annotations

import pytest

from rag_app.answer.refusal import Signals, Thresholds, is_answerable, signals, verdict
from rag_app.passages import passages_of, sentences_of
from tests.support.passages import FixedEvidence, node

THRESHOLDS = Thresholds()


def measured(weights, text, *, question="", **more):
    passages = passages_of([node(text, **more)])
    return signals(question, weights, passages, sentences_of(passages))


PLANT = "呉工場の従業員は何人ですか"
PAIRS = {"工場": 2.0, "呉工": 6.0, "従業": 1.0, "業員": 1.0}


def test_shares_are_weighted_by_rarity():
    weights = {"pump": 1.0, "kobe": 3.0}
    assert measured(weights, "A pump.").sentence == 0.25
    assert measured(weights, "Kobe.").sentence == 0.75


def test_a_stretch_is_a_few_sentences_and_not_the_whole_passage():
    """The longer a passage, the more of any question it holds somewhere."""
    weights = {"pump": 1.0, "kobe": 1.0}
    near = "A pump. It is old. It stands in Kobe."
    far = "A pump. " + "Nothing here. " * 10 + "Kobe."
    assert measured(weights, near).stretch == 1.0
    assert measured(weights, far).stretch == 0.5


def test_title_and_heading_count():
    assert measured({"pump": 1.0}, "It is old.", title="Pump manual").stretch == 1.0


def test_japanese_is_measured_in_characters():
    assert measured({"首都": 1.0, "日本": 1.0}, "東京").in_characters
    assert not measured({"pump": 1.0}, "x").in_characters


def test_compounds_of_japanese_are_held_as_a_whole_or_not():
    """Pairs of characters are met by chance: 工場 in 神戸工場 is no 呉工場."""
    other = measured(PAIRS, "神戸工場の従業員は二百人である。", question=PLANT)
    assert (other.stretch, other.compounds) == (0.4, pytest.approx(1 / 7))
    assert measured(PAIRS, "呉工場で働く\n従業員は五十人。", question=PLANT).compounds == 1.0
    near = measured(PAIRS, "呉工場である。従業員は五十人。", question=PLANT)
    assert near.compounds == 1.0


@pytest.mark.parametrize(
    ("question", "weights"),
    [("みやこはどこ", {"みや": 1.0}), ("首都在哪里", {"首都": 1.0}), ("the pump", {"pump": 1.0})],
    ids=["no compound", "Chinese", "English"],
)
def test_without_compounds_the_stretch_stands_for_them(question, weights):
    found = measured(weights, "首都 pump", question=question)
    assert found.compounds == found.stretch


def test_a_passage_that_shares_only_pairs_of_characters_is_refused():
    pairs = Signals(0.5, 0.6, None, has_words=True, in_characters=True, compounds=0.1)
    whole = Signals(0.5, 0.6, None, has_words=True, in_characters=True, compounds=0.6)
    assert not is_answerable(pairs, THRESHOLDS)
    assert is_answerable(whole, THRESHOLDS)


def test_the_word_that_asks_is_no_subject():
    """No statement holds "how many people", and its weight would be the highest."""
    asking = {**PAIRS, "何人": 8.0, "は何": 8.0}
    assert measured(asking, "呉工場の従業員は五十人。", question=PLANT).stretch == 1.0
    assert measured(asking, "呉工場の従業員は五十人。", question=PLANT).compounds == 1.0


def test_cosines_are_raw_scores_of_vector_arms_only():
    matched = [{"arm": "words:parent", "score": 17.0}, {"arm": "vectors:child-128", "score": 0.4}]
    assert measured({}, "x", matched=matched).cosine == 0.4
    assert measured({}, "x", matched=matched[:1]).cosine is None
    glossary = {"arm": "vectors:child-128", "score": 0.9, "of_glossary": True}
    assert measured({}, "x", matched=[*matched, glossary]).cosine == 0.4


@pytest.mark.parametrize(
    ("found", "answerable"),
    [
        (Signals(0.9, 0.9, None, has_words=True), True),
        (Signals(0.1, 0.2, None, has_words=True), False),
        (Signals(0.1, 0.2, 0.8, has_words=True), True),
        (Signals(0.2, 0.3, 0.2, has_words=True), False),
        (Signals(0.0, 0.0, None, has_words=False), False),
        (Signals(0.42, 0.42, None, has_words=True), True),
        (Signals(0.42, 0.42, None, has_words=True, in_characters=True), False),
    ],
)
def test_words_or_meaning_decide(found, answerable):
    assert is_answerable(found, THRESHOLDS) == answerable


LOW = Signals(0.0, 0.0, None, has_words=True)
LOW_COSINE = Signals(0.0, 0.0, 0.1, has_words=True)
ENGLISH = "This is the manual of the pump that was made in Kobe."
GERMAN = "Wie schwer ist die Pumpe und wer hat sie gemacht?"


@pytest.mark.parametrize(
    ("question", "found", "evidence", "expected"),
    [
        ("日本の首都は？", LOW, FixedEvidence(scripts={"latin": 3}), "other_language"),
        ("日本の首都は？", LOW, FixedEvidence(scripts={"latin": 3, "cjk": 1}), "refused"),
        ("日本の首都は？", LOW_COSINE, FixedEvidence(scripts={"latin": 3}), "refused"),
        ("日本の首都は？", LOW, FixedEvidence(), "other_language"),
        (GERMAN, LOW_COSINE, FixedEvidence(scripts={"latin": 3}), "other_language"),
        (GERMAN, LOW_COSINE, FixedEvidence(scripts={"latin": 3}, multilingual=True), "refused"),
        ("Who made it and what is it?", LOW, FixedEvidence(scripts={"latin": 3}), "refused"),
        ("42?", LOW, FixedEvidence(scripts={"cjk": 3}), "refused"),
    ],
)
def test_another_language_is_not_a_refusal(question, found, evidence, expected):
    passages = passages_of([node(ENGLISH)])
    assert verdict(question, found, passages, evidence, THRESHOLDS) == expected
