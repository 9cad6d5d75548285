"""Help pages: groups of options, examples, and advice about unquoted questions."""

from __future__ import annotations

import pytest

from rag_app.cli.help import examples


def test_options_stand_in_groups_arguments_first_and_output_last(rag):
    page = rag("ask", "--help").out + rag("ask", "--help").err
    heads = [
        line.rstrip(":") for line in page.splitlines() if line.endswith(":") and line[0] != " "
    ]
    assert heads[0] == "Arguments"
    assert heads.index("Output") == max(map(heads.index, set(heads) - {"Examples"}))
    assert page.index("--index") < page.index("--json")


def test_help_is_at_most_80_columns_wide_and_names_no_types_of_python(rag):
    done = rag("ingest", "--help")
    page = done.out + done.err
    assert max(map(len, page.splitlines())) <= 80
    assert "list[" not in page
    assert "{PATH}" not in page


def test_examples_are_lines_of_their_own():
    assert examples("rag a", "rag b").splitlines()[1:] == ["Examples:", "  rag a", "  rag b"]


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("search", "lead", "time", "-k", "3"), 'rag search "lead time"'),
        (("search", "-What is it?"), "rag search -- '-What is it?'"),
    ],
)
def test_a_question_that_was_not_quoted_is_shown_quoted(rag, words, advice):
    done = rag(*words)
    assert done.code == 2
    assert advice in done.err


def test_a_group_alone_shows_its_help(rag):
    done = rag("cache")
    assert (done.code, done.out) == (2, "")
    assert "clear" in done.err
