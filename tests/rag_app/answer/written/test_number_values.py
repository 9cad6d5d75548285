"""Digits, words of scale and units."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rag_app.answer.written.number_values import (
    read_compound,
    read_digits,
    read_scale,
    read_unit,
    readings_of,
    significant,
)


@pytest.mark.parametrize(
    ("digits", "readings"),
    [
        ("1,286,400", ["1286400"]),
        ("1.234", ["1.234", "1234"]),
        ("1 286 400", ["1286400"]),
        ("0,5", ["0.5"]),
        ("1.234,5", ["1234.5"]),
    ],
)
def test_separators_of_thousands_and_decimals_are_read_in_every_usual_form(digits, readings):
    assert readings_of(digits) == readings


def test_digits_give_their_values_the_step_of_the_last_one_and_how_many_count():
    assert read_digits("50.90") == ((Fraction("50.90"),), Fraction(1, 100), 3)
    assert significant("4,000") == 1


def test_a_japanese_number_of_several_parts_is_one_value():
    value, _, step, end = read_compound("385億4200万円", 0)
    assert (value, step, end) == (38_542_000_000, 10_000, len("385億4200万"))
    assert read_compound("385", 0) is None


def test_a_short_scale_is_read_behind_money_alone():
    assert read_scale("50m", 2, money=True) == (1_000_000, 3)
    assert read_scale("50m", 2, money=False) == (1, 2)


def test_a_unit_behind_a_number_is_read_with_where_it_ends():
    unit, end = read_unit("38 tonnes of it", 2)
    assert unit.dimension
    assert end == len("38 tonnes")
    assert read_unit("38 of it", 2)[1] == 2
