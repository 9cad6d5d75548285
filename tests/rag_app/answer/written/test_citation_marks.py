"""Marks of citations in a model's text."""

from __future__ import annotations

import pytest

from rag_app.answer.written.citation_marks import MarkReader, numbers_of, without_sources


@pytest.mark.parametrize(("mark", "numbers"), [("[1]", [1]), ("[1, 3-5]", [1, 3, 4, 5])])
def test_a_mark_names_numbers_and_ranges(mark, numbers):
    assert numbers_of(mark) == numbers


def test_last_lines_that_only_list_sources_are_left_out():
    text, numbers = without_sources("It leaks [1].\n\nSources: [1], [2]", MarkReader(2))
    assert text.strip() == "It leaks [1]."
    assert set(numbers) == {1, 2}
