"""Numbers with what they measure, in whatever form they are written."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.answer.written.numerals import kanji_value, prepared
from rag_app.answer.written.quantities import quantities
from rag_app.answer.written.same_quantity import near, same


def one(text):
    (found,) = quantities(prepared(text))
    return found


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("4,200", "", 4200),
        ("$3.5 million", "USD", 3_500_000),
        ("12%", "percent", 12),
        ("5 months", "months", 5),
        ("３割", "percent", 30),
    ],
)
def test_a_quantity_is_a_value_in_a_dimension(text, dimension, value):
    assert (one(text).dimension, one(text).value) == (dimension, value)


def test_quantities_come_in_reading_order_with_their_spans():
    text = prepared("It sold 4,200 pumps for $3.5 million, 12% more.")
    found = quantities(text)
    assert [q.text for q in found] == ["4,200", "$3.5 million", "12%"]
    assert all(text[q.start : q.end] == q.text for q in found)


@pytest.mark.parametrize(
    ("said", "there", "equal"),
    [
        ("£50.9 million", "£50,900,000", True),
        ("£51 million", "£50,900,000", True),
        ("£52 million", "£50,900,000", False),
        ("30%", "３割", True),
        ("30%", "30 kg", False),
    ],
)
def test_a_rounded_number_is_the_same_and_another_is_not(said, there, equal):
    assert same(one(said), one(there)) == equal


def test_a_computed_value_is_near_at_the_precision_it_is_said_with():
    assert near(one("71%"), Fraction(30100, 423))
    assert not near(one("71.0%"), Fraction(30100, 423))


def test_kanji_are_numbers():
    assert (kanji_value("二百五"), kanji_value("二〇二四")) == (205, 2024)


def _forms(number: int) -> list[str]:
    grouped = f"{number:,}"
    wide = grouped.translate(str.maketrans("0123456789,", "０１２３４５６７８９，"))
    man, rest = divmod(number, 10_000)
    japanese = f"{man}万{rest or ''}" if man else str(rest)
    return [str(number), grouped, grouped.replace(",", " "), wide, japanese]


@given(st.integers(0, 99_999_999))
def test_a_number_is_the_same_in_every_form(number):
    for form in _forms(number):
        (found,) = quantities(prepared(f"合計 {form}円"))
        assert (found.value, found.dimension) == (number, "JPY"), form


@given(st.integers(1, 9999), st.sampled_from([("thousand", 3), ("million", 6), ("bn", 9)]))
def test_a_word_of_scale_is_the_same_as_its_zeros(number, scale):
    word, zeros = scale
    one, other = quantities(f"£{number / 10} {word} and £{number * 10 ** (zeros - 1)}")
    assert one.value == other.value
    assert same(one, other)


@given(st.text(alphabet="0123456789.,-()£%百万億年月日 \nあ", max_size=60))
def test_any_text_gives_quantities_in_order_that_do_not_overlap(text):
    found = quantities(prepared(text))
    assert all(one.end <= other.start for one, other in pairwise(found))
