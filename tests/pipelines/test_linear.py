"""No text takes more than linear time, whatever it is made of."""

import time

import pytest
from llama_index.core.schema import Document

from pipelines.child_parent import ChildParentParser
from pipelines.margins import split_margins
from pipelines.text import content_words, normalise, search_terms, sentence_spans

SIZE = 60_000
UNITS = {
    "letters": "a",
    "dots": ".",
    "dot leaders": ". ",
    "marks": "。",
    "marks apart": "。 ",
    "questions": "?!",
    "closers": ".)",
    "quotes": "「",
    "kana": "あ",
    "digits": "9",
    "dashes": "-",
    "hyphens at line ends": "ab-\n",
    "abbreviations": "e.g. ",
    "initials": "J. ",
    "underscores": "a_",
    "numbers": "1,234 ",
    "blank lines": "\n",
    "spaces": " ",
    "short lines": "A b\n",
    "commas": "、",
    "surrogates": "\ud800",
    "accents": "e\u0301",
}


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_any_text_is_cut_and_searched_in_linear_time(unit):
    text = "Start. " + unit * (SIZE // len(unit)) + " end"
    started = time.process_time()
    sentence_spans(text)
    search_terms(text)
    content_words(text)
    normalise(text)
    split_margins([text, text], ["1", "2"])
    assert time.process_time() - started < 4
    ChildParentParser()([Document(text=text)])
    assert time.process_time() - started < 12
