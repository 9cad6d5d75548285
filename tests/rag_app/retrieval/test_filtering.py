"""Filters that keep nothing are an error, and filters in words."""

from __future__ import annotations

import pytest
from llama_index.core.vector_stores.types import FilterCondition, MetadataFilter, MetadataFilters

from pipelines.errors import FilterError
from rag_app.retrieval.filtering import in_words, refuse_filters_that_fit_nothing
from rag_app.retrieval.rankings import View


def only(key, value):
    return MetadataFilters(filters=[MetadataFilter(key=key, value=value)])


def viewed(snapshot, filters):
    return View("", snapshot, None, within=snapshot.select(filters) if filters else None)


def test_filters_that_keep_a_passage_of_any_index_pass(manual):
    with manual.snapshot() as snapshot:
        none, some = only("page", 99), only("page", 3)
        refuse_filters_that_fit_nothing([viewed(snapshot, some)], [some])
        refuse_filters_that_fit_nothing([viewed(snapshot, none), viewed(snapshot, some)], [none])
        refuse_filters_that_fit_nothing([viewed(snapshot, None)], [None])


def test_filters_that_keep_nothing_are_named(manual):
    with manual.snapshot() as snapshot:
        none = only("page", 99)
        with pytest.raises(FilterError, match="no passage fits the filters: page == 99"):
            refuse_filters_that_fit_nothing([viewed(snapshot, none)] * 2, [none, None, none])


def test_an_empty_index_is_not_the_fault_of_its_filters(build):
    with build({}).snapshot() as snapshot:
        none = only("page", 1)
        refuse_filters_that_fit_nothing([viewed(snapshot, none)], [none])


def test_filters_are_shown_as_they_are_joined():
    inner = MetadataFilters(
        filters=[
            MetadataFilter(key="page", operator=">", value=3),
            MetadataFilter(key="page", value=1),
        ],
        condition=FilterCondition.OR,
    )
    name = MetadataFilter(key="file_name", value="a.pdf")
    both = MetadataFilters(filters=[name, inner])
    assert in_words(both) == "file_name == 'a.pdf' and (page > 3 or page == 1)"
    neither = MetadataFilters(filters=inner.filters, condition=FilterCondition.NOT)
    assert in_words(neither) == "not (page > 3 or page == 1)"
