"""Analysers: terms of questions, fingerprints that must agree, and what follows from a new one."""

import pytest

from pipelines import analysers
from pipelines.analysers import DEFAULT, FURTHER, analyser_of, fingerprints, query_terms
from pipelines.errors import IndexMismatchError


def test_japanese_terms_with_content_count_twice():
    terms = query_terms("型番AX-450の首都はどこですか")
    assert terms.count("首都") == 2
    assert terms.count("ax450") == 2
    assert terms.count("の首") == 1
    assert terms.count("首") == 1


def test_english_terms_count_as_often_as_they_stand_there():
    terms = query_terms("Is the pump AX-450 a pump?")
    assert terms.count("pump") == 2
    assert terms.count("ax450") == 1
    assert query_terms("?") == []


class Vowels:
    """An analyser of a test: each vowel is a term."""

    name = "vowels"
    scripts = frozenset(("latin",))
    weight = 0.25

    def fingerprint(self):
        return "vowels-1"

    def terms(self, text):
        return [letter for letter in text if letter in "aeiou"]

    def query_terms(self, question):
        return sorted(set(self.terms(question)))

    def serves_document(self, text):
        return "a" in text

    def serves_passage(self, text):
        return "b" in text


@pytest.fixture
def vowels(monkeypatch):
    monkeypatch.setattr(analysers, "FURTHER", {**FURTHER, "vowels": Vowels()})


def test_a_kind_of_nodes_is_analysed_by_the_default_and_a_list_by_its_own(vowels):
    assert analyser_of("parent") is analyser_of("child-128") is DEFAULT
    assert analyser_of("vowels").terms("abide") == ["a", "i", "e"]


def test_a_question_in_a_script_that_is_not_served_has_no_terms(vowels):
    assert query_terms("Where is it?", "vowels") == ["e", "i"]
    assert query_terms("どこですか", "vowels") == []
    assert query_terms("123", "vowels") == []


def test_fingerprints_are_those_of_the_further_lists_alone(vowels):
    assert fingerprints(["parent", "vowels"]) == (("vowels", "vowels-1"),)
    assert fingerprints(["vowels"], {"vowels": "vowels-1", "other": "x"}) == (
        ("vowels", "vowels-1"),
    )


def test_another_fingerprint_than_recorded_names_both_and_what_to_do(vowels):
    with pytest.raises(
        IndexMismatchError, match=r"'vowels-0 p==1'; this machine has 'vowels-1'"
    ) as caught:
        fingerprints(["vowels"], {"vowels": "vowels-0 p==1"})
    assert caught.value.hint == "pip install p==1, or ingest into a new index"
    with pytest.raises(IndexMismatchError) as caught:
        fingerprints(["vowels"], {"vowels": "vowels-0"})
    assert caught.value.hint == "ingest into a new index"
