"""The question as it is searched, and further questions that a model wrote."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

from pipelines.errors import ConfigError
from pipelines.sudachi import LIST, sudachi_terms
from pipelines.text import content_words, normalise, sanitise, scripts_in, search_terms

QueryGenerator = Callable[[str], list[str]]
# Where kana and han begin: characters that are written without spaces.
_CJK = "\u2e80"


def clean_question(question: str) -> str:
    """Return the question in the form that is searched: NFKC, white space folded.

    Full-width letters, half-width kana and ligatures are the same question.

    Raises:
        ConfigError: the question is empty.
    """
    folded = " ".join(unicodedata.normalize("NFKC", sanitise(question)).split())
    if not folded:
        raise ConfigError("the question is empty", hint="ask something")
    return folded


def query_terms(question: str, kind: str = "parent") -> list[str]:
    """Return the terms that BM25 looks for in the words of a kind.

    In a question in Japanese or Chinese, what carries content counts twice: single
    characters and grams with inflection help to tell passages apart, and matter less.
    Measured against the terms as they stand: nDCG@10 +.009 [.002, .016] on JaQuAD,
    +.003 [.000, .007] on JSQuAD. In English the same gives nothing.
    """
    if kind == LIST:
        return sudachi_terms(question) if scripts_in(question).get("cjk") else []
    terms = search_terms(question)
    if any(term[0] >= _CJK for term in terms):
        terms += content_words(question)
    return terms


def all_queries(question: str, generated: Iterable[str]) -> list[str]:
    """Return the question and the generated ones that differ from it and from each other."""
    queries = {normalise(question): question}
    for text in generated:
        folded = " ".join(unicodedata.normalize("NFKC", sanitise(text)).split())
        if folded:
            queries.setdefault(normalise(folded), folded)
    return list(queries.values())
