"""Words that people use for one another."""

from __future__ import annotations

import tomllib
from importlib import resources

from rag_app.answer.synonyms import find_synonyms, says_any


def test_a_word_is_found_with_its_synonyms_and_its_place():
    (match,) = find_synonyms("the cfo of the firm")
    assert (match.start, match.end) == (4, 7)
    assert "finance director" in match.others


def test_the_longest_of_words_that_overlap_counts():
    (match,) = find_synonyms("the chief executive officer")
    assert match.end - match.start == len("chief executive officer")


def test_a_word_inside_a_longer_one_is_none():
    assert find_synonyms("embossed") == []
    assert find_synonyms("退職金") == []


def test_further_words_are_joined_to_those_that_are_known():
    (match,) = find_synonyms("capex", {"capex": frozenset(("capex", "purchases of plant"))})
    assert {"purchases of plant", "capital expenditure"} <= match.others


def test_latin_words_are_whole_and_others_stand_anywhere():
    assert says_any(frozenset(("boat",)), "a boat sails", "aboatsails")
    assert not says_any(frozenset(("boat",)), "a boathouse", "aboathouse")
    assert says_any(frozenset(("賞与",)), "夏 の 賞 与 を", "夏の賞与を")


def test_each_group_of_the_file_has_several_words_each_once():
    text = resources.files("rag_app.answer").joinpath("synonyms.toml").read_text(encoding="utf-8")
    for group in tomllib.loads(text)["words"]:
        assert len(group) == len(set(group)) > 1
