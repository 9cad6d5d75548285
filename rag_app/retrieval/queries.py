"""The question as it is searched, and further questions that a model wrote."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

from pipelines.cleaning import without_sequences
from pipelines.errors import ConfigError
from pipelines.text import normalise, sanitise

QueryGenerator = Callable[[str], list[str]]


def clean_question(question: str) -> str:
    """Return the question in the form that is searched: NFKC, white space folded.

    Full-width letters, half-width kana and ligatures are the same question; what steers a
    terminal (a colour that was pasted along) is none of its words.

    Raises:
        ConfigError: the question is empty.
    """
    folded = _folded(question)
    if not folded:
        raise ConfigError("the question is empty", hint="ask something")
    return folded


def all_queries(question: str, generated: Iterable[str]) -> list[str]:
    """Return the question and the generated ones that differ from it and from each other."""
    queries = {normalise(question): question}
    for text in generated:
        folded = _folded(text)
        if folded:
            queries.setdefault(normalise(folded), folded)
    return list(queries.values())


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", sanitise(without_sequences(text))).split())
