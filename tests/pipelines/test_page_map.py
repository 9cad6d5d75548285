"""Which pages a span overlaps."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.page_map import Page, pages_of


def pages(sizes):
    made, start = [], 0
    for number, size in enumerate(sizes, start=1):
        made.append(Page(number, str(number), start, start + size, ""))
        start += size + 1
    return made


@given(st.lists(st.integers(0, 5), max_size=6), st.integers(0, 40), st.integers(1, 40))
def test_pages_of_a_span_are_those_that_share_a_character_with_it(sizes, start, length):
    known = pages(sizes)
    inside = set(range(start, start + length))
    expected = [page for page in known if inside & set(range(page.start, page.end))]
    assert pages_of(known, start, start + length) == expected


def test_a_page_without_text_is_on_no_span():
    assert [page.number for page in pages_of(pages([3, 0, 3]), 0, 9)] == [1, 3]
