"""Search terms of a text: what BM25 counts, in every language by the same rule.

Latin words are stemmed (Snowball English) and English stop words dropped; runs
of kana and han become unigrams and bigrams; words of other scripts stay whole.
Numbers, part numbers, dates and other mixed tokens are kept exactly, beside
their parts, so that "AX-450/B" finds itself first and "450" finds it too.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import chain, pairwise

from pipelines.kanji import with_new_kanji
from pipelines.stopwords import STOP_WORDS

TERMS_VERSION = "terms-2"

_CJK = "\u3005-\u3007\u3021-\u3029\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3100-\u312f\u31a0-\u31bf"
_CJK += "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Python's \w knows letters and digits but not the vowel signs that words of many scripts carry.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963"
    "\u0971-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u0f18-\u109f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
)
_WORD = rf"[\w{_MARKS}]"

_HAS_CJK = re.compile(f"[{_CJK}]")
_CJK_OR_REST = re.compile(f"[{_CJK}]+|[^{_CJK}]+")
_WRAPPED_CJK = re.compile(rf"(?<=[{_CJK}、。，．])[ \t]*\n\s*(?=[{_CJK}])")
_HYPHENATED = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,})-[ \t]*\n\s*([^\W\d_]{2,})")
# Conditions for these two, quick to check: each begins with a fixed character.
_LINE_BEFORE_CJK = re.compile(rf"(?<!\s)[^\S\n]*+\n\s*+[{_CJK}]")
_HYPHEN_AT_END = re.compile(r"-[ \t]*\n")
_FOLDED = (
    dict.fromkeys("‐‑‒–−﹣－⁃", "-")
    | dict.fromkeys("—―⸺〜～", " ")
    | dict.fromkeys("‘’‚‛′＇", "'")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", "")
)
_EDGE = re.compile(rf"^(?:(?!\.{_WORD})[^\w{_MARKS}])+|[^\w{_MARKS}+#%)\]]+$")
_WORDS = re.compile(rf"{_WORD}+")
_PLAIN = re.compile(rf"(?:(?!\d|_){_WORD})+(?:'s)?")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_DOTTED_NUMBER = re.compile(r"\d+(?:\.\d+){2,}")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\.?")
_CONTRACTION = re.compile(r"([^\W\d_]+?)(?:n't|'(?:re|ll|ve|d|m|s))")
_PARTS = re.compile(rf"\d+(?:[.,]\d+)*|(?:(?!\d|_){_WORD})+")
# What separates the pieces of a token: everything but letters, digits and a decimal point.
_SEPARATORS = re.compile(rf"(?:(?<!\d)[.,]|[.,](?!\d)|[^\w{_MARKS}+#.,]|_)+")
_LATIN = re.compile(r"[a-z]")
_ORDINAL_ENDS = frozenset(("st", "nd", "rd", "th"))
_MAX_JOINED_CHARS = 24
_MAX_EXACT_CHARS = 64
# Longer runs are not words: leaders of dots, encoded data, words that lost their spaces.
_MAX_TOKEN_CHARS = 256
_MAX_CACHED_TOKEN_CHARS = 40
_MAX_CACHED_TOKENS = 50_000
_MAX_CACHED_SENTENCES = 1024  # some 10 MB in Japanese, whose sentences have many terms


# A stemmer may serve one thread only.
_local = threading.local()


class _TermCache(dict[str, tuple[str, ...]]):
    """A cache: the terms of each short token that was seen."""

    def __missing__(self, token: str) -> tuple[str, ...]:
        terms = tuple(token_terms(token, _grams))
        if len(token) <= _MAX_CACHED_TOKEN_CHARS:
            if len(self) >= _MAX_CACHED_TOKENS:
                self.clear()
            self[token] = terms
        return terms


_known = _TermCache()


def search_terms(text: str) -> list[str]:
    """Return the terms of a text in reading order, repeated as often as they occur."""
    return list(chain.from_iterable(map(_known.__getitem__, prepare(text).split())))


@lru_cache(maxsize=_MAX_CACHED_SENTENCES)
def sentence_terms(text: str) -> tuple[str, ...]:
    """Return the same as :func:`search_terms`, from a cache of recent sentences.

    Questions about one passage need the terms of the same sentences.
    """
    return tuple(search_terms(text))


def prepare(text: str) -> str:
    """Return NFKC, case folded text: wrapped CJK lines and hyphenated words joined, kanji new."""
    text = _fold(text) if not text.isascii() else text
    if not text.isascii():
        if not unicodedata.is_normalized("NFKC", text):
            text = _fold(unicodedata.normalize("NFKC", text))
        text = with_new_kanji(text)
        if _LINE_BEFORE_CJK.search(text):
            text = _WRAPPED_CJK.sub("", text)
    if _HYPHEN_AT_END.search(text):
        # Both readings of a hyphen at a line end: one word, and a compound.
        text = _HYPHENATED.sub(r"\1-\2", text)
    return text.casefold()


def _fold(text: str) -> str:
    """Return the text with one sort of dashes and apostrophes, without invisible characters."""
    # Several times as fast as one expression or `str.translate`, which look up each character.
    for char, folded in _FOLDED.items():
        if char in text:
            text = text.replace(char, folded)
    return text


def token_terms(token: str, grams: Callable[[str], list[str]]) -> list[str]:
    """Return the terms of a token, which is text between white space.

    Args:
        token: prepared text without white space.
        grams: makes the terms of a run of kana and han.
    """
    if not _HAS_CJK.search(token):
        return _other_terms(token)
    terms: list[str] = []
    runs = _CJK_OR_REST.findall(token)
    for index, run in enumerate(runs):
        if _HAS_CJK.match(run):
            terms.extend(grams(run))
            continue
        terms.extend(_other_terms(run))
        if run.isdigit():
            terms.extend(_counted(runs, index))
    return terms


def _grams(run: str) -> list[str]:
    return [*run, *map("".join, pairwise(run))]


def _counted(runs: list[str], index: int) -> list[str]:
    """Return a number with its counter word: "12条", and "第12条" where it is an ordinal."""
    number = runs[index]
    counter = runs[index + 1][0] if index + 1 < len(runs) else ""
    ordinal = "第" if index and runs[index - 1].endswith("第") else ""
    terms = [number + counter] if counter else []
    return [*terms, ordinal + number + counter] if ordinal else terms


def _other_terms(token: str) -> list[str]:
    if len(token) > _MAX_TOKEN_CHARS:
        return [term for word in _WORDS.findall(token) for term in _piece(word[:_MAX_TOKEN_CHARS])]
    core = _EDGE.sub("", token)
    if core.endswith((")", "]")) and core.count("(") + core.count("[") == 0:
        core = core.rstrip(")].,;:")
    if not core:
        return []
    if _PLAIN.fullmatch(core):
        return _word(core)
    percent = core.endswith("%")
    number = core.rstrip("%") if percent else core
    if _NUMBER.fullmatch(number):
        value = number.replace(",", "")
        return [value, value + "%"] if percent else [value]
    return _mixed(core)


def _mixed(core: str) -> list[str]:
    """Return a mixed token as a whole, and in its parts."""
    if _INITIALS.fullmatch(core):
        return [core.rstrip("."), core.replace(".", "")]
    contraction = _CONTRACTION.fullmatch(core)
    if contraction:
        return _word(contraction[1])
    pieces = [piece for piece in _SEPARATORS.split(core) if piece]
    # Written together it is found however its separators are written: "AX-450/B", "AX450B".
    joined = 1 < len(pieces) <= 3 and len(core) <= _MAX_JOINED_CHARS and _LATIN.search(core)
    whole = "".join(pieces) if joined else core
    terms = _whole(whole) if len(core) <= _MAX_EXACT_CHARS else []
    for piece in pieces:
        terms.extend(_piece(piece))
    return list(dict.fromkeys(terms))


def _whole(token: str) -> list[str]:
    return _word(token) if _PLAIN.fullmatch(token) else [token]


def _piece(piece: str) -> list[str]:
    """Return a part of a mixed token, and its own parts where letters meet digits."""
    if _NUMBER.fullmatch(piece):
        return [piece.replace(",", "")]
    if _PLAIN.fullmatch(piece):
        return _word(piece)
    if _DOTTED_NUMBER.fullmatch(piece):
        return [piece, *(part for part in piece.split(".") if len(part) > 1)]
    terms = [piece]
    for part in _PARTS.findall(piece):
        if len(part) > 1 and part not in _ORDINAL_ENDS:
            terms.extend([part.replace(",", "")] if part[0].isdigit() else _word(part))
    return terms


def _word(word: str) -> list[str]:
    if not _LATIN.search(word):
        return [word]
    if not word.isascii():
        word = _without_accents(word)
    if word in STOP_WORDS:
        return []
    return [_stem(word)]


def _stem(word: str) -> str:
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        import Stemmer

        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    stem: str = stemmer.stemWord(word)
    return stem


def _without_accents(word: str) -> str:
    """Return a Latin word without diacritics: "nestlé" is searched as "nestle"."""
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
