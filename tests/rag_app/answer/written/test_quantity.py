"""What a number of a text measures."""

from __future__ import annotations

from fractions import Fraction

from rag_app.answer.written.quantity import Quantity


def test_a_quantity_in_brackets_is_below_zero_and_its_first_reading_is_its_value():
    readings = (Fraction(5), Fraction(7))
    one = Quantity(0, 3, "(5)", "", readings, Fraction(1), 1, Fraction(5), negative=True)
    assert one.value == 5
    assert one.signed == -5
