"""A user's metadata as values that JSON and UTF-8 can hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import ConfigError
from pipelines.user_metadata import storable_metadata

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text() | st.integers(), values, max_size=4))
def test_any_metadata_becomes_json_in_utf8_and_then_stays_the_same(metadata):
    stored = storable_metadata(metadata)
    again = json.loads(json.dumps(stored, allow_nan=False, ensure_ascii=False).encode("utf-8"))
    assert storable_metadata(again) == again == stored


def test_plain_values_are_unchanged():
    plain = {"year": 2018, "tags": ["a", None, True, 0.5], "by": {"name": "Ann"}}
    assert storable_metadata(plain) == plain


def test_numbers_that_json_does_not_know_become_text():
    assert storable_metadata({"a": float("inf"), "b": float("nan")}) == {"a": "inf", "b": "nan"}


def test_metadata_that_refers_to_itself_is_refused():
    loop = {}
    loop["me"] = loop
    with pytest.raises(ConfigError, match="refers to itself"):
        storable_metadata(loop)
