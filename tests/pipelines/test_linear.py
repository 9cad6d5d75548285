"""No text takes more than linear time, whatever it is made of."""

from pathlib import Path

import pytest

from pipelines.child_parent import ChildParentParser
from pipelines.content import content_words
from pipelines.documents import document_of
from pipelines.margins import split_margins
from pipelines.readers import PageText, RawPdf
from pipelines.reading import ReadPdf
from pipelines.sentence_window import SentenceWindowParser
from pipelines.text import normalise, search_terms, sentence_spans
from tests.support.growth import MAX_GROWTH, growth

UNITS = {
    "letters": "a",
    "dots": ".",
    "dot leaders": ". ",
    "marks": "。",
    "marks apart": "。 ",
    "questions": "?!",
    "closers": ".)",
    "quotes": "「",
    "brackets": "(",
    "brackets apart": "( ",
    "pairs of brackets": "()",
    "kana": "あ",
    "kanji": "漢",
    "digits": "9",
    "dashes": "-",
    "hyphens at line ends": "ab-\n",
    "abbreviations": "e.g. ",
    "initials": "J. ",
    "underscores": "a_",
    "numbers": "1,234 ",
    "rows": "Net sales 1,234 (5.6)\n",
    "blank lines": "\n",
    "blank lines of Japanese": "漢\n\n",
    "spaces": " ",
    "short lines": "A b\n",
    "one word": "word ",
    "commas": "、",
    "two scripts": "a漢",
    "surrogates": "\ud800",
    "accents": "e\u0301",
    "joiners": "a\u200d",
    "marks of Arabic": "؟",
    "emoji": "😀",
}
SIZE = 12_000


def text_of(unit):
    return lambda size: "Start. " + unit * (size // len(unit)) + " end"


def terms_and_sentences(text):
    sentence_spans(text)
    search_terms(text)
    content_words(text)
    normalise(text)
    split_margins([text, text], ["1", "2"])


def nodes(text):
    page = PageText("1", text.replace("\ud800", ""))
    document = document_of(
        ReadPdf(Path("a.pdf"), RawPdf((page,), "", ""), "hash", "pypdf", "pypdf")
    )
    ChildParentParser()([document])
    SentenceWindowParser()([document])


@pytest.mark.parametrize("work", [terms_and_sentences, nodes])
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_any_page_is_cut_and_searched_in_linear_time(work, unit):
    assert growth(work, text_of(unit), SIZE) < MAX_GROWTH


@pytest.mark.parametrize(("power", "is_noticed"), [(1, False), (2, True)])
def test_quadratic_work_is_noticed_and_linear_work_is_not(power, is_noticed):
    now = [0.0]

    def work(text):
        now[0] += len(text) ** power * 1e-5

    found = growth(work, lambda size: "a" * size, 4_000, clock=lambda: now[0])
    assert (found > MAX_GROWTH) == is_noticed
