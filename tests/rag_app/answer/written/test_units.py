"""Units by their names, and which dimensions can be compared."""

from __future__ import annotations

import re

import pytest

from rag_app.answer.written.units import alternatives, comparable, unit_named


@pytest.mark.parametrize(
    ("name", "dimension", "factor"), [("kg", "grams", 1000), ("months", "months", 1)]
)
def test_a_unit_has_a_dimension_and_a_factor(name, dimension, factor):
    unit = unit_named(name)
    assert (unit.dimension, unit.factor) == (dimension, factor)


def test_a_word_that_is_no_unit_has_none():
    assert unit_named("valve") is None


def test_the_longest_word_is_matched_and_a_latin_one_ends_there():
    pattern = re.compile(alternatives(["m", "m per s"]))
    assert pattern.match("m per s")[0] == "m per s"
    assert pattern.match("mm") is None


def test_the_same_dimension_can_be_compared_and_mass_with_time_cannot():
    assert comparable("grams", "grams")
    assert not comparable("grams", "months")
