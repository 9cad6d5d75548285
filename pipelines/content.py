"""Content words: search terms without question words, function words and inflection."""

from __future__ import annotations

import re
from itertools import pairwise

from pipelines.stopwords import JAPANESE_FUNCTION_WORDS, QUESTION_WORDS
from pipelines.terms import prepare, token_terms

_HIRAGANA = re.compile("[\u3041-\u309f]+")
_FUNCTION = re.compile("|".join(sorted(JAPANESE_FUNCTION_WORDS, key=len, reverse=True)))
_QUESTION_HAN = str.maketrans("何誰", "  ")


def content_words(text: str) -> list[str]:
    """Return the terms that carry content: those that a question shares with its answer.

    English words except question words; bigrams of kana and han, cut at
    hiragana that only links or inflects.
    """
    return [
        term
        for token in prepare(text).split()
        for term in token_terms(token, _content_grams)
        if term not in QUESTION_WORDS
    ]


def _content_grams(run: str) -> list[str]:
    cut = _HIRAGANA.sub(lambda kana: _FUNCTION.sub(" ", kana.group()), run)
    grams: list[str] = []
    for piece in cut.translate(_QUESTION_HAN).split():
        grams.extend(map("".join, pairwise(piece)))
        if len(piece) == 1 and not _HIRAGANA.match(piece):
            grams.append(piece)
    return grams
