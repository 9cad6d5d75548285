"""Checksums: any change of a row, of its place or of its index is noticed."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import IndexDamagedError
from rag_app.store.sqlite.checksums import Checksums, repair_command
from tests.rag_app.store.sqlite.conftest import SUMS

OTHER = Checksums.of("another index", Path("index"))
values = st.lists(st.none() | st.integers() | st.text(), min_size=1, max_size=4)


@given(values, values)
def test_rows_with_other_values_have_other_checksums(one, other):
    if list(map(str, one)) != list(map(str, other)) and "\x1f" not in "".join(
        map(str, one + other)
    ):
        assert SUMS.digest(*one) != SUMS.digest(*other)


def test_a_row_of_another_index_does_not_fit():
    assert SUMS.row("a") != OTHER.row("a")
    assert SUMS.digest("a") != OTHER.digest("a")
    assert SUMS.text(1, 0, 1, "a") != OTHER.text(1, 0, 1, "a")
    assert SUMS.blobs((1,), b"a") != OTHER.blobs((1,), b"a")


def test_a_slice_of_another_place_does_not_fit():
    there = {SUMS.text(*place, "text") for place in [(1, 0, 4), (2, 0, 4), (1, 1, 5)]}
    assert len(there) == 3


def test_blobs_are_told_apart_by_their_ends():
    assert SUMS.blobs((1,), b"ab", b"c") != SUMS.blobs((1,), b"a", b"bc")


def test_a_value_of_another_type_never_fits():
    assert SUMS.text(1, 0, 1, b"a") == SUMS.blobs((1,), "a") == -1  # type: ignore[arg-type]


def test_a_difference_is_an_error_that_names_the_row_and_the_repair():
    SUMS.check(7, 7, "a node")
    with pytest.raises(IndexDamagedError, match="a node does not match") as caught:
        SUMS.check(7, 8, "a node")
    assert "rag repair --index index" in caught.value.hint


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1))
def test_the_command_of_a_repair_is_one_word_for_a_shell(name):
    assert shlex.split(repair_command(Path(name)))[-1] == str(Path(name))
