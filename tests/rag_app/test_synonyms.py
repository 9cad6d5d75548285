"""Words that people use for one another."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.synonyms import find_synonyms, says_any


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cfo", ["cfo"]),
        ("cfo_x", []),
        ("cfos cfo", ["cfo"]),
        ("net sales, and sales", ["net sales", "sales"]),
        ("5 % of sales", ["%", "sales"]),
        ("夏の賞与は", ["賞与"]),
        ("夏季賞与", []),
        ("ボーナス込み", ["ボーナス"]),
        ("", []),
    ],
)
def test_words_are_whole_ones_of_their_script(text, words):
    assert [text[one.start : one.end] for one in find_synonyms(text)] == words


@given(st.lists(st.sampled_from([*"a %年与の_", "cfo", "sales", "賞与", "ボーナス"]), max_size=8))
def test_matches_are_in_order_do_not_overlap_and_say_themselves(parts):
    text = "".join(parts)
    end = 0
    for match in find_synonyms(text):
        assert end <= match.start < match.end
        assert text[match.start : match.end] in match.others
        end = match.end


def test_further_words_are_joined_to_those_that_are_known():
    (match,) = find_synonyms("capex", {"capex": frozenset(("capex", "purchases of plant"))})
    assert {"purchases of plant", "capital expenditure"} <= match.others


def test_latin_words_are_whole_and_others_stand_anywhere():
    assert says_any(frozenset(("boat",)), "a boat sails", "aboatsails")
    assert not says_any(frozenset(("boat",)), "a boathouse", "aboathouse")
    assert says_any(frozenset(("賞与",)), "夏 の 賞 与 を", "夏の賞与を")


def test_each_group_of_the_file_has_several_words_each_once():
    text = resources.files("rag_app").joinpath("synonyms.toml").read_text(encoding="utf-8")
    for group in tomllib.loads(text)["words"]:
        assert len(group) == len(set(group)) > 1
