"""Citations: numbers by first use, quotes once, and the page of the best quote."""

from __future__ import annotations

import pytest

from rag_app.answer.citations import CitationBook
from rag_app.passages import passages_of
from tests.support.passages import evidence_of, node

ONE, TWO = "The plant opened in 1998.", "It made 4,200 pumps."


@pytest.fixture
def book():
    nodes = [node(f"{ONE} {TWO}", pages=[1, 2]), node("No pages.", document="x", pages=[])]
    return CitationBook(passages_of(nodes), evidence_of(ONE, TWO))


def test_a_source_has_one_number_from_its_first_use(book):
    assert [book.number_of(passage) for passage in (1, 0, 1)] == [1, 2, 1]
    assert book.number_of(0, key="page 2") == 3
    assert [citation.number for citation in book.citations()] == [1, 2, 3]


def test_the_page_of_a_citation_is_that_of_its_first_quote(book):
    number = book.number_of(0)
    start = len(ONE) + 1
    quote = book.quote(0, start, start + len(TWO))
    book.add(number, quote)
    book.add(number, quote)
    (citation,) = book.citations()
    assert (citation.page, citation.page_label, citation.pages) == (2, "2", [2])
    assert [q.text for q in citation.quotes] == [TWO]
    assert quote.verified


def test_without_a_quote_all_pages_of_the_passage_are_named(book):
    book.number_of(0)
    (citation,) = book.citations()
    assert (citation.page, citation.pages) == (1, [1, 2])


def test_a_document_without_pages_is_quoted_from_its_text(book):
    quote = book.quote(1, 0, 9)
    book.add(book.number_of(1), quote)
    (citation,) = book.citations()
    assert (quote.text, quote.verified, quote.pages) == ("No pages.", True, [])
    assert (citation.page, citation.pages) == (None, [])


def test_a_quote_that_is_not_on_its_page_is_not_verified():
    (passage,) = passages_of([node(ONE, pages=[1])])
    book = CitationBook([passage], evidence_of(ONE, raw=["Something else."]))
    assert not book.quote(0, 0, len(ONE)).verified
