from __future__ import annotations

from pathlib import Path

import pytest

from rag_app.cli.filters import filters_of, page_range
from rag_app.cli.session import UsageError


def test_no_option_is_no_filter():
    assert filters_of(None, [], None) is None


def test_files_are_alternatives_by_name_or_path():
    (part,) = filters_of(["a.pdf", "b.pdf"], None, None).filters
    assert part.condition.value == "or"
    assert [(one.key, one.value) for one in part.filters] == [
        ("file_name", ["a.pdf", "b.pdf"]),
        ("file_path", [str(Path("a.pdf").absolute()), str(Path("b.pdf").absolute())]),
    ]


def test_pages_and_ranges_become_one_list():
    (part,) = filters_of(None, ["7", "2-4", "3"], None).filters
    assert (part.key, part.operator.value, part.value) == ("page", "in", [2, 3, 4, 7])


@pytest.mark.parametrize("given", ["", "0", "x", "4-2", "-3", "3-", "1-9999999", "٣"])
def test_a_page_that_is_none_is_a_usage_error(given):
    with pytest.raises(UsageError, match="--page"):
        page_range(given)


@pytest.mark.parametrize(
    ("condition", "key", "operator", "value"),
    [
        ("author=Ada", "author", "==", "Ada"),
        ("author==Ada", "author", "==", "Ada"),
        ("year>=2020", "year", ">=", 2020),
        ("date<2020-01-31", "date", "<", "2020-01-31"),
        ("title~annual report", "title", "text_match_insensitive", "annual report"),
        ("part=A=1", "part", "==", "A=1"),
        ("code~007", "code", "text_match_insensitive", "007"),
        ("note=", "note", "==", ""),
    ],
)
def test_where_reads_key_operator_and_value(condition, key, operator, value):
    (part,) = filters_of(None, None, [condition]).filters
    assert (part.key, part.operator.value, part.value) == (key, operator, value)


@pytest.mark.parametrize(
    ("condition", "operator", "joined"), [("year=2020", "==", "or"), ("year != 2020", "!=", "and")]
)
def test_where_a_number_stands_for_the_number_and_for_the_text(condition, operator, joined):
    (part,) = filters_of(None, None, [condition]).filters
    assert part.condition.value == joined
    assert [(one.operator.value, one.value) for one in part.filters] == [
        (operator, 2020),
        (operator, "2020"),
    ]


@pytest.mark.parametrize("condition", ["", "year", "=3", "two words=3"])
def test_where_without_key_or_operator_is_a_usage_error(condition):
    with pytest.raises(UsageError, match="KEY=VALUE"):
        filters_of(None, None, [condition])
