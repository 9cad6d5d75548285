"""Japanese words by the morphological analyser Sudachi: an optional further list for BM25.

Unigrams and bigrams (:mod:`pipelines.terms`) find text that is spelt alike. Sudachi
finds words: inflected forms and spelling variants ("サーバ", "サーバー") are one term, and
function words are left out. Needs the extra ``sudachi``.

Measured on JaQuAD and JSQuAD: the split modes A, B and C, surface and normalised
forms, and the dictionaries ``small`` and ``core`` all lie within .002 nDCG@10 of each
other. So: the small dictionary, the shortest units, and the normalised form.
"""

from __future__ import annotations

import re
import threading
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pipelines.errors import ConfigError
from pipelines.scripts import scripts_in
from pipelines.terms import prepare
from pipelines.text import sanitise

PACKAGES = ("sudachipy", "sudachidict_small")
_RULE = "sudachi-2"
_DICTIONARY = "small"
_UNITS = "A"  # the shortest
_CONTENT = ("名詞", "動詞", "形容詞", "形状詞", "副詞", "接頭辞", "接尾辞")
# Sudachi takes 49,149 bytes at once; a character has four at most.
_MAX_CHUNK_CHARS = 4000
_MAX_TERM_CHARS = 64  # characters of a term; what is longer is no word
# A line; of one that is too long, as much as ends with a sentence, a clause, or fits.
_PORTIONS = re.compile(
    rf"[^\n]{{1,{_MAX_CHUNK_CHARS}}}(?=\n|\Z)|[^\n]{{0,{_MAX_CHUNK_CHARS - 1}}}[。!?]"
    rf"|[^\n]{{0,{_MAX_CHUNK_CHARS - 1}}}[、,.;: ]|[^\n]{{1,{_MAX_CHUNK_CHARS}}}"
)
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")

# A tokenizer of Sudachi may serve one thread at a time; the dictionary serves all.
_local = threading.local()


def sudachi_terms(text: str) -> list[str]:
    """Return the content words of a text in reading order, repeated as often as they occur.

    Raises:
        ConfigError: the extra is not installed; the error names the command.
    """
    tokenize, is_content = _tokenizer()
    terms = (
        str(word.normalized_form()).casefold()
        for portion in _PORTIONS.finditer(prepare(sanitise(text)))
        for word in tokenize(portion.group())
        if is_content(word)
    )
    return [term for term in terms if len(term) <= _MAX_TERM_CHARS]


class SudachiAnalyser:
    """Japanese words as a further list over Japanese passages (see ``pipelines.analysers``)."""

    name = "sudachi"
    scripts = frozenset(("cjk",))
    # Best on JaQuAD and JSQuAD together; at full weight the latter loses.
    weight = 0.5

    def fingerprint(self) -> str:
        """Return this rule, the analyser and the dictionary, with versions.

        Raises:
            ConfigError: the extra is not installed.
        """
        return _fingerprint()

    def terms(self, text: str) -> list[str]:
        """Return the content words of a text."""
        return sudachi_terms(text)

    def query_terms(self, question: str) -> list[str]:
        """Return the content words of a question."""
        return sudachi_terms(question)

    def serves_document(self, text: str) -> bool:
        """Tell Japanese from Chinese: whether any kana occurs."""
        return _KANA.search(text) is not None

    def serves_passage(self, text: str) -> bool:
        """Tell whether at least half of a text is written in kana and han.

        One of these characters counts as three letters of an alphabet.
        """
        letters = scripts_in(text)
        dense = 3 * letters.pop("cjk", 0)
        return dense > 0 and dense >= sum(letters.values())


@cache
def _fingerprint() -> str:
    try:
        return " ".join((_RULE, *(f"{name}=={version(name)}" for name in PACKAGES)))
    except PackageNotFoundError as error:
        raise ConfigError(
            f"Japanese words by Sudachi need {error.name}, which is not installed",
            hint=f"pip install {' '.join(PACKAGES)}",
        ) from None


def _tokenizer() -> tuple[Any, Any]:
    """Return this thread's function from text to words, and what tells a content word."""
    made = getattr(_local, "made", None)
    if made is None:
        dictionary, is_content = _dictionary()
        tokenizer = dictionary.tokenizer(_UNITS, fields={"normalized_form", "pos"})
        made = _local.made = (tokenizer.tokenize, is_content)
    return made


@cache
def _dictionary() -> tuple[Any, Any]:
    _fingerprint()
    from sudachipy import Dictionary

    dictionary = Dictionary(dict=_DICTIONARY)
    return dictionary, dictionary.pos_matcher([(part,) for part in _CONTENT])
