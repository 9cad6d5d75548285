"""The form that numbers are read from."""

from __future__ import annotations

import pytest

from rag_app.answer.written.numerals import kanji_value, prepared


@pytest.mark.parametrize(
    ("numeral", "value"), [("二百五", 205), ("二〇二四", 2024), ("十", 10), ("三千四十", 3040)]
)
def test_a_kanji_numeral_has_its_value(numeral, value):
    assert kanji_value(numeral) == value


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("１８\n０日まで", "180日まで"),
        ("試用期間は六か月", "試用期間は6か月"),
        ("第三者に開示する", "第三者に開示する"),
        ("18\n24 months", "18\n24 months"),
    ],
)
def test_a_text_is_unwrapped_and_its_kanji_numerals_are_digits_where_they_count(text, plain):
    assert prepared(text) == plain
