from contextlib import closing

import pypdfium2
import pytest

from pipelines.tables.pdfium_words import placed_words
from tests.support.drawn_pages import INVISIBLE
from tests.support.table_pdfs import HEIGHT, LABEL, WIDTH, pdf_of, words_of


def said(data):
    text, layout = words_of(data)
    return [text[word.start : word.end] for word in layout.words]


def test_words_have_the_places_where_they_are_drawn():
    text, layout = words_of(pdf_of(lambda page: page.line("Net sales", "12")))
    assert said(pdf_of(lambda page: page.line("Net sales", "12"))) == ["Net", "sales", "12"]
    assert layout.words[0].box.left == pytest.approx(LABEL, abs=0.1)
    assert layout.words[0].box.top < 60 < layout.words[0].box.bottom + 1
    assert (layout.width, layout.height) == (WIDTH, HEIGHT)
    assert text.split() == ["Net", "sales", "12"]


def test_a_turned_page_has_places_as_it_is_shown():
    data = pdf_of(lambda page: page.line("Net sales", "12"))
    with closing(pypdfium2.PdfDocument(data)) as pdf, closing(pdf[0]) as page:
        page.set_rotation(90)
        _, layout = placed_words(page)
    assert (layout.width, layout.height) == (HEIGHT, WIDTH)
    assert layout.words[0].box.top == pytest.approx(LABEL, abs=0.1)


def test_hidden_words_are_left_out():
    def drawn(page):
        page.line("Net sales", "12")
        hidden = page._canvas.beginText(LABEL, 100)
        hidden.setTextRenderMode(INVISIBLE)
        hidden.textLine("secret")
        page._canvas.drawText(hidden)

    assert said(pdf_of(drawn)) == ["Net", "sales", "12"]
