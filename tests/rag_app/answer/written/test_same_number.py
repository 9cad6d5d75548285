"""When a number is one of the evidence, unit and sign regarded."""

from __future__ import annotations

import pytest

from rag_app.answer.written.quantities import quantities
from rag_app.answer.written.same_number import stands


@pytest.mark.parametrize(
    ("said", "there", "found"),
    [
        ("£50", "50", True),
        ("50", "50 tonnes", True),
        ("50 tonnes", "50 hours", False),
        ("(50)", "50", True),
        ("5:30 pm", "5.30", False),
    ],
)
def test_a_number_may_lack_the_unit_of_the_other_but_not_have_another(said, there, found):
    (one,), (other,) = quantities(said), quantities(there)
    assert stands(one, other, None) is found
