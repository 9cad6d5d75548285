from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.page_map import Page
from rag_app.answer.quotes import label_of, quote_of, stands_on
from rag_app.passages import passages_of
from tests.support.passages import node

FIRST, SECOND = "In that year revenue grew to", "$4.2 million in all regions."
DERIVED = f"{FIRST} {SECOND}"
PAGES = [
    Page(3, "iii", 0, len(FIRST), f"ANNUAL REPORT\n{FIRST}\n3"),
    Page(4, "iv", len(FIRST) + 1, len(DERIVED), f"ANNUAL REPORT\n{SECOND}\n4"),
]


def test_a_sentence_over_a_page_break_names_both_pages():
    """Case 12: one sentence, words apart, citation names both pages."""
    (passage,) = passages_of([node(DERIVED, start=0, pages=[3, 4])])
    quote = quote_of(passage, 0, len(DERIVED), PAGES)
    assert quote.text == DERIVED
    assert quote.pages == [3, 4]
    assert quote.verified


def test_printed_labels_stand_beside_physical_pages():
    """Case 13: physical page and printed label both right."""
    (passage,) = passages_of([node(DERIVED, start=0, pages=[3, 4])])
    assert label_of(4, PAGES, passage) == "iv"


def test_a_label_is_that_of_its_own_page_where_the_pages_are_not_known():
    (passage,) = passages_of([node(DERIVED, start=0, pages=[3, 4], page=4, page_label="iv")])
    assert label_of(4, [], passage) == "iv"
    assert label_of(3, [], passage) is None


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("ﬁnal oﬃce", "final office"),
        ("東京は日本の首都", "東京は\n日本の首都"),
        ("ＡＢＣ１２３", "abc 123"),
        ("カタカナ", "ｶﾀｶﾅ"),
        ("well-known “word”", 'well‑known "word"'),
    ],
)
def test_other_forms_of_the_same_words_are_found(text, raw):
    assert stands_on(text, 0, [Page(1, "1", 0, len(text), raw)])


@pytest.mark.parametrize("raw", ["", "something else", "grew to $4.3 million"])
def test_words_that_are_not_there_are_not_found(raw):
    text = "grew to $4.2 million"
    assert not stands_on(text, 0, [Page(1, "1", 0, len(text), raw)])


def test_words_on_no_page_are_not_verified():
    assert not stands_on(DERIVED, 0, PAGES[:1])
    assert not stands_on(DERIVED, 0, [])
    assert not stands_on("  ", 0, [Page(1, "1", 0, 2, "  ")])


@given(st.data())
def test_any_stretch_of_the_document_stands_on_its_pages(data):
    start = data.draw(st.integers(0, len(DERIVED) - 1))
    end = data.draw(st.integers(start + 1, len(DERIVED)))
    text = DERIVED[start:end]
    on = [page for page in PAGES if page.start < end and start < page.end]
    assert stands_on(text, start, on) == bool(text.strip())
