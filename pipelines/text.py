"""Text as such: clean, normalise, script, search terms, sentences, tokens.

One place to import from; the modules behind it know neither PDFs nor nodes.
"""

from __future__ import annotations

import re
import unicodedata

from pipelines.cleaning import sanitise
from pipelines.content import content_words
from pipelines.scripts import is_sentence, language_name, script_of, scripts_in
from pipelines.sentences import sentence_spans
from pipelines.terms import TERMS_VERSION, search_terms, sentence_terms
from pipelines.tokens import TOKENIZER_NAME, count_tokens

__all__ = [
    "TERMS_VERSION",
    "TOKENIZER_NAME",
    "content_words",
    "count_tokens",
    "is_sentence",
    "language_name",
    "normalise",
    "sanitise",
    "script_of",
    "scripts_in",
    "search_terms",
    "sentence_spans",
    "sentence_terms",
]

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_FOLDED = (
    dict.fromkeys("‐‑‒–—―−﹣－", "-") | dict.fromkeys("‘’‚‛′", "'") | dict.fromkeys("“”„‟″", '"')
)
_FOLDABLE = re.compile(f"[{''.join(_FOLDED)}]")


def normalise(text: str) -> str:
    """Return a form for comparison: NFKC, case folded, white space, dashes and quotes folded."""
    if not text.isascii():
        text = _fold(unicodedata.normalize("NFKC", _fold(_INVISIBLE.sub("", text))))
    return " ".join(text.casefold().split())


def _fold(text: str) -> str:
    return _FOLDABLE.sub(lambda match: _FOLDED[match[0]], text)
