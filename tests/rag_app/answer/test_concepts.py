"""What a question is about, and how much of it a text says."""

from __future__ import annotations

import pytest

from rag_app.answer.concepts import HeldText, concepts_of, held, with_plain_years
from tests.support.passages import FixedEvidence


class Counted(FixedEvidence):
    """Evidence that counts these terms, in an index of 100 passages."""

    def __init__(self, **counts):
        super().__init__()
        self._counts = counts

    def frequencies(self, terms):
        return 100, {term: self._counts.get(term, 0) for term in terms}


def said(question, text, evidence=None):
    concepts = concepts_of(question, evidence or FixedEvidence())
    return [held(concept, HeldText.of(text)) for concept in concepts]


def test_a_rare_concept_weighs_more_than_a_common_one():
    rare, common = concepts_of("torque screw", Counted(torqu=1, screw=80))
    assert rare.weight > 2 * common.weight > 0


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        ("pasword", "password"),
        ("passwrod", "password"),
        ("passsword", "password"),
        ("pessword", "password"),
    ],
)
def test_a_word_that_no_passage_holds_is_also_that_one_error_away(typed, known):
    (concept,) = concepts_of(typed, Counted(**{known: 3}))
    assert known in concept.terms


def test_a_word_that_a_passage_holds_is_no_error():
    (concept,) = concepts_of("layer", Counted(layer=2, lawyer=9))
    assert concept.terms == {"layer"}


def test_letters_typed_at_random_are_left_out():
    names = [concept.name for concept in concepts_of("qwrtpsdf torque", Counted(torqu=1))]
    assert names == ["torqu"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("cfo", "Ann Li, Finance Director"),
        ("biggest boat", "the largest vessel"),
        ("ボーナス", "賞与は年に２回支給する。"),
        ("残業代", "割増賃金を支払う。"),
        ("FY2022", "in the year 2022"),
        ("2022年度", "FY2022 results"),
        ("令和4年", "2022年の報告"),
    ],
)
def test_synonyms_and_years_in_other_forms_say_the_same(question, text):
    assert said(question, text) == [1.0] * len(said(question, text))


def test_a_synonym_is_a_whole_word():
    assert said("boss", "The embossing machine stopped.") == [0.0]
    assert said("退職金", "退職する者") != [1.0]


def test_a_compound_in_pieces_says_a_part():
    (part,) = said("労働組合", "労働時間")
    assert 0 < part < 0.5


def test_a_code_is_held_as_a_whole_or_not():
    assert said("E-45", "E-31 and 45 valves") == [0.0]
    assert said("E-45", "code E-45") == [1.0]


@pytest.mark.parametrize(
    ("text", "year"),
    [("FY22", "2022"), ("fy 2022", "2022"), ("2022年度", "2022"), ("令和元年", "2019")],
)
def test_a_year_has_one_form(text, year):
    assert year in with_plain_years(text)
