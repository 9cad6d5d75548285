"""Names and identifiers of a text, and whether another text has them."""

from __future__ import annotations

import pytest

from rag_app.answer.written.names import folded, identifiers, names, stands_in, tokens


def test_identifiers_are_found_as_a_whole():
    assert [name.text for name in identifiers("part AX-450/B and 12")] == ["AX-450/B"]


def test_words_are_compared_without_case_accents_and_possessive():
    assert folded("Nestlé's") == folded("nestle") == "nestle"


@pytest.mark.parametrize(
    ("there", "stands"),
    [("It is run by Smith, John.", True), ("It is run by John.", False), ("", False)],
)
def test_a_name_stands_where_all_its_words_do(there, stands):
    (name,) = names("It is run by John Smith.")
    assert name.text == "John Smith"
    assert stands_in(name, tokens(there), there) == stands
