"""A passage as it was sent."""

from __future__ import annotations

from tests.rag_app.answer.written.comparing import sent


def test_what_was_sent_is_its_label_and_its_sentences_with_their_years_and_language():
    passage = sent("The lease ends on Friday.", "report_2023.pdf")
    assert passage.text == "report_2023.pdf\nThe lease ends on Friday."
    assert passage.label_years == {2023}
    assert passage.weekdays == {4}
    assert passage.language[0] == "latin"
    assert len(passage.units) == 1
