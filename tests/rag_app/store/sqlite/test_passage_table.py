"""The table of passages: which passages have a value, by key."""

from __future__ import annotations

import pytest

from rag_app.store.sqlite.passage_table import as_values, load_passages


@pytest.fixture
def table(tables):
    return load_passages(tables, 3)


@pytest.mark.parametrize(
    ("key", "value", "fits"),
    [
        ("page", 1, [True, False, True]),
        ("page", 2, [False, True, False]),
        ("page_label", "p2", [False, True, False]),
        ("script", "none", [False, False, True]),
        ("file_name", "cats.pdf", [True, True, False]),
        ("file_path", "/fish.pdf", [False, False, True]),
        ("year", 2018, [True, True, False]),
        ("title", "A title", [True, True, True]),
        ("unknown", 1, [False, False, False]),
    ],
)
def test_passages_with_a_value_are_found(table, key, value, fits):
    assert table.any(key, lambda found: found == value).tolist() == fits


def test_the_table_has_all_passages_and_names_its_keys(table):
    assert (len(table), table.generation) == (3, 3)
    assert {"page", "script", "year", "file_name", "document_id"} <= table.keys
    assert "kind" not in table.keys
    assert table.texts("file_name") == {"cats.pdf", "fish.pdf"}


def test_a_test_is_asked_once_for_each_value(table):
    asked = []
    table.any("page", lambda value: asked.append(value) or False)
    assert sorted(asked) == [1, 2]


def test_an_index_without_passages_has_an_empty_table(empty):
    table = load_passages(empty, 0)
    assert len(table) == 0
    for key in ("page", "script", "file_name"):
        assert table.any(key, lambda _: True).tolist() == []


@pytest.mark.parametrize(("value", "values"), [([1, 2], [1, 2]), (1, [1]), (None, [])])
def test_a_list_has_several_values_and_nothing_none(value, values):
    assert as_values(value) == values
