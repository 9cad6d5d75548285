"""Which reader read a page, as it is stored with a file."""

import pytest

from pipelines.page_reader_names import by_reader, stored_readers


def test_pages_of_other_readers_are_numbered_from_1():
    assert by_reader(["", "pypdf", "", "pypdf"]) == {"pypdf": [2, 4]}


@pytest.mark.parametrize(
    "value", [None, [1], {"pypdf": 1}, {"pypdf": ["1", True, 0, 4]}, {"x": [1]}]
)
def test_what_is_no_page_of_a_reader_is_left_out(value):
    assert stored_readers(value, 3) == {}
    assert stored_readers({"pypdf": [3, 1]}, 3) == {"pypdf": (1, 3)}
