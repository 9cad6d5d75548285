"""No text takes more than linear time, whatever it is made of."""

import time
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
NOTHING_SECONDS = 0.3
MAX_GROWTH = 9.0  # of time when the size grows fourfold: linear is 4, quadratic 16


def text_of(unit, size):
    return "Start. " + unit * (size // len(unit)) + " end"


def growth(work, unit):
    """Return how the processor's time of some work grows from a size to four times as much."""
    size = SIZE
    while (first := least(work, unit, size)) < NOTHING_SECONDS / 20 and size < 4 * SIZE:
        size *= 2
    second, last = (least(work, unit, n * size) for n in (2, 4))
    return max(last / first, 2 * second / first) if last > NOTHING_SECONDS else 0.0


def least(work, unit, size):
    text, taken = text_of(unit, size), []
    for _ in range(2):
        started = time.process_time()
        work(text)
        taken.append(time.process_time() - started)
    return max(min(taken), 1e-6)


def terms_and_sentences(text):
    sentence_spans(text)
    search_terms(text)
    content_words(text)
    normalise(text)
    split_margins([text, text], ["1", "2"])


def nodes(text):
    page = PageText("1", text.replace("\ud800", ""))
    document = document_of(ReadPdf(Path("a.pdf"), RawPdf((page,), "", ""), "hash", "pypdf", "pypdf"))
    ChildParentParser()([document])
    SentenceWindowParser()([document])


@pytest.mark.parametrize("work", [terms_and_sentences, nodes])
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_any_page_is_cut_and_searched_in_linear_time(work, unit):
    assert growth(work, unit) < MAX_GROWTH


def test_quadratic_work_is_noticed():
    def quadratic(text):
        return sum(text.startswith("z", at) + text.count("z") for at in range(0, len(text), 16))

    assert growth(quadratic, "a") > MAX_GROWTH
