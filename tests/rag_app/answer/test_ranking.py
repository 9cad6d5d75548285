"""How likely sentences and rows answer."""

from __future__ import annotations

import pytest

from rag_app.answer import ranking
from rag_app.answer.concepts import concepts_of
from rag_app.answer.ranking import (
    ANSWER_FEATURES,
    RANK_FEATURES,
    coefficients,
    rank_units,
)
from rag_app.answer.units import units_of
from rag_app.answer.wording import wording_of
from rag_app.passages import passages_of, sentences_of
from tests.support.passages import FixedEvidence, node

HIT = {"arm": "vectors:child-128", "score": 0.9, "start": 0, "end": 400}


def ranked(question, *nodes, similarity=None):
    wording, evidence = wording_of(question), FixedEvidence()
    passages = passages_of(nodes)
    units = units_of(passages, sentences_of(passages), evidence)
    concepts = concepts_of(wording.subject, evidence)
    return rank_units(wording, concepts, passages, units, similarity)


def texts(question, *nodes, similarity=None):
    return [one.unit.sentence.text for one in ranked(question, *nodes, similarity=similarity).units]


def test_the_sentence_with_the_questions_words_comes_first():
    text = "Pumps are painted blue. The pump in Kobe weighs 12 kg. All is well here."
    assert texts("weight of the pump in Kobe", node(text))[0] == "The pump in Kobe weighs 12 kg."


@pytest.mark.parametrize(
    ("question", "text", "first"),
    [
        (
            "When did the council meet?",
            "The council met in the hall. The council met on 4 March.",
            "4 March",
        ),
        (
            "who chairs the council",
            "The council chairs all. Mrs. Ann Li chairs the council.",
            "Ann",
        ),
        ("料金はいくら", "料金は窓口で払う。料金は八百円である。", "八百円"),
    ],
)
def test_a_sentence_without_the_kind_of_thing_asked_for_ranks_behind(question, text, first):
    assert first in texts(question, node(text))[0]


def test_the_documents_own_name_does_not_score():
    text = "Boeing Company and Boeing subsidiaries here. Revenue of the year was 62 billion."
    assert texts("Boeing revenue", node(text, title="Boeing 2022"))[0].startswith("Revenue")


def test_meaning_finds_what_words_do_not():
    nodes = node("It weighs 12 kg in all. The mass is not known to us.", matched=[HIT])
    found = texts("heaviness", nodes, similarity=lambda _, all: [0.9 * ("kg" in t) for t in all])
    assert found[0] == "It weighs 12 kg in all."


def test_only_likely_sentences_are_embedded(monkeypatch):
    monkeypatch.setattr(ranking, "MEANING_CANDIDATES", 4)
    asked = []

    def similarity(_, sentences):
        asked.extend(sentences)
        return [0.5] * len(sentences)

    text = " ".join(f"Number {n} is here." for n in range(30))
    ranked("pump", node(text, matched=[HIT]), similarity=similarity)
    assert len(asked) == 4


def test_without_a_vote_of_meaning_no_model_is_asked():
    def similarity(*_):
        raise AssertionError("asked")

    assert ranked("pump", node("A pump is here."), similarity=similarity).by == "words"
    assert ranked("ポンプ", node("ポンプがある。")).by == "characters"


def test_a_text_that_stands_twice_is_ranked_once():
    nodes = [node("The pump is old.", document=name) for name in "ab"]
    assert texts("pump", *nodes) == ["The pump is old."]


def test_each_set_has_a_coefficient_of_each_feature():
    for model, names in (("rank", RANK_FEATURES), ("answer", ANSWER_FEATURES)):
        for by in ("meaning", "words", "characters"):
            assert set(coefficients()[model][by]) == {"constant", *names}
