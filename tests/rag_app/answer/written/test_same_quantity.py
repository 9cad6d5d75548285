"""When a number that is said is one that stands there."""

from __future__ import annotations

import pytest

from rag_app.answer.written.quantities import quantities
from rag_app.answer.written.same_quantity import near, same


def one(text):
    (found,) = quantities(text)
    return found


@pytest.mark.parametrize(
    ("said", "there"),
    [("1.29 million", "1,286,400"), ("more than 400", "412"), ("about 187,000", "186,900")],
)
def test_a_rounded_number_or_a_bound_is_the_number_that_stands_there(said, there):
    assert same(one(said), one(there))


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("1.29 million", "1.29 billion"),
        ("more than 400", "4,000"),
        ("412.5", "412"),
        ("at least 5 years", "at most 5 years"),
    ],
)
def test_another_scale_a_distant_bound_or_an_invented_digit_is_another_number(said, there):
    assert not same(one(said), one(there))


def test_a_computed_value_is_near_at_the_precision_that_is_said():
    percent = one("71%")
    assert near(percent, one("71.2%").value)
    assert not near(percent, one("72%").value)
