"""Numbers that follow from others."""

from __future__ import annotations

import pytest

from rag_app.answer.written.arithmetic import computed, period
from rag_app.answer.written.dates import dates
from rag_app.answer.written.quantities import quantities


def found(said, *operands):
    (quantity,) = quantities(said)
    return computed(quantity, [q for text in operands for q in quantities(text)])


@pytest.mark.parametrize(
    ("said", "operands", "words"),
    [
        ("71%", ("301", "423"), "71% is 301 of 423"),
        ("5 kg", ("12 kg", "7 kg"), "5 kg is 12 kg less 7 kg"),
        ("19 kg", ("12 kg", "7 kg"), "19 kg is 12 kg plus 7 kg"),
        ("50%", ("100", "150"), None),
    ],
)
def test_a_number_is_shown_with_what_it_follows_from(said, operands, words):
    if words is None:
        assert found(said, *operands).startswith(f"{said} is ")
    else:
        assert found(said, *operands) == words


def test_a_number_that_follows_from_none_is_none():
    assert found("99 kg", "12 kg", "7 kg") is None
    assert found("5 kg", "12 kg") is None


def test_a_duration_lies_between_two_dates():
    between = [*dates("March 2020"), *dates("May 2021")]
    assert period(quantities("14 months")[0], between) == "14 months is from March 2020 to May 2021"
    assert period(quantities("10 months")[0], between) is None
    assert period(quantities("14 kg")[0], between) is None
