"""Cleaning text: characters that are removed, and line ends that become one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cleaning import sanitise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h", "a\nb\nc\nd\ne\nf\ng\nh"),
        ("a\x00b\x07c\x1fd\x7fe\x9ff", "abcdef"),
        ("a\ud800b\udfffc", "abc"),
        ("a\ufffeb\uffffc\ufdd0d", "abcd"),
        ("tab\tand\nline", "tab\tand\nline"),
    ],
)
def test_only_unwanted_characters_are_removed(text, expected):
    assert sanitise(text) == expected


@given(st.text(st.characters()))
def test_the_result_can_be_encoded_and_is_clean_already(text):
    clean = sanitise(text)
    clean.encode("utf-8")
    assert sanitise(clean) == clean
