"""Texts without what does not count when words are compared."""

from __future__ import annotations

import pytest

from rag_app.answer.written.squashing import squashed


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Net  sales\ngrew", "net sales grew"),
        ("measured by Vance [2, 3]", "measured by Vance"),
        ("**Net** sales", "Net sales"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_space_case_emphasis_and_reference_marks_do_not_count(text, same):
    assert squashed(text) == squashed(same)


def test_words_and_brackets_of_the_text_count():
    assert squashed("Net sales") != squashed("Net sale")
    assert squashed("in [kg]") != squashed("in")
