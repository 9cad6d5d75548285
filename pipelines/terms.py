"""Search terms of a text: what BM25 counts, in every language by the same rule.

Latin words are stemmed (Snowball English) and English stop words dropped; runs
of kana and han become unigrams and bigrams; words of other scripts stay whole.
Numbers, part numbers, dates and other mixed tokens are kept exactly, beside
their parts, so that "AX-450/B" finds itself first and "450" finds it too.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Any

from pipelines.stopwords import QUESTION_WORDS, STOP_WORDS

TERMS_VERSION = "terms-1"

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
_HYPHENATED = re.compile(r"([^\W\d_]{2,})-[ \t]*\n\s*([^\W\d_]{2,})")
_DASHES = str.maketrans(
    dict.fromkeys("‐‑‒–−﹣－⁃", "-")
    | dict.fromkeys("—―⸺〜～", " ")
    | dict.fromkeys("‘’‚‛′＇", "'")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", "")
)
_EDGE = re.compile(rf"^(?:(?!\.{_WORD})[^\w{_MARKS}])+|[^\w{_MARKS}+#%)\]]+$")
_PLAIN = re.compile(rf"(?:(?!\d|_){_WORD})+(?:'s)?")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_DOTTED_NUMBER = re.compile(r"\d+(?:\.\d+){2,}")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\.?")
_CONTRACTION = re.compile(r"([^\W\d_]+?)(?:n't|'(?:re|ll|ve|d|m|s))")
_PARTS = re.compile(rf"\d+(?:[.,]\d+)*|(?:(?!\d|_){_WORD})+")
# What parts the pieces of a token: everything but letters, digits and a decimal point.
_SEPARATORS = re.compile(rf"(?:(?<!\d)[.,]|[.,](?!\d)|[^\w{_MARKS}+#.,]|_)+")
_LATIN = re.compile(r"[a-z]")
_ORDINAL_ENDS = frozenset(("st", "nd", "rd", "th"))
_LONGEST_JOINED = 24
_LONGEST_EXACT = 64
_CACHED_LENGTH = 40
_CACHE_LIMIT = 50_000


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


_cache: dict[str, tuple[str, ...]] = {}


def search_terms(text: str) -> list[str]:
    """Return the terms of a text in reading order, repeated as often as they occur."""
    terms: list[str] = []
    known = _cache.get
    for token in prepare(text).split():
        found = known(token)
        terms.extend(_remember(token) if found is None else found)
    return terms


def content_words(text: str) -> list[str]:
    """Return the terms that carry content: no question words, no hiragana that only inflects."""
    return [term for term in _without_function_kana(text) if term not in QUESTION_WORDS]


def prepare(text: str) -> str:
    """Return NFKC, case folded text whose wrapped CJK lines and hyphenated words are joined."""
    text = text.translate(_DASHES) if not text.isascii() else text
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_DASHES)
        text = _WRAPPED_CJK.sub("", text)
    if "-" in text:
        # Both readings of a hyphen at a line end: one word, and a compound.
        text = _HYPHENATED.sub(r"\1-\2", text)
    return text.casefold()


def _remember(token: str) -> tuple[str, ...]:
    terms = tuple(_analyse(token))
    if len(token) <= _CACHED_LENGTH:
        if len(_cache) >= _CACHE_LIMIT:
            _cache.clear()
        _cache[token] = terms
    return terms


def _analyse(token: str) -> list[str]:
    """Return the terms of what stands between two white spaces."""
    if not _HAS_CJK.search(token):
        return _token_terms(token)
    terms: list[str] = []
    runs = _CJK_OR_REST.findall(token)
    for index, run in enumerate(runs):
        if _HAS_CJK.match(run):
            terms.extend(run)
            terms.extend(map("".join, pairwise(run)))
            continue
        terms.extend(_token_terms(run))
        if run.isdigit():
            terms.extend(_counted(runs, index))
    return terms


def _counted(runs: list[str], index: int) -> list[str]:
    """Return a number with its counter word: "12条", and "第12条" where it is an ordinal."""
    number = runs[index]
    counter = runs[index + 1][0] if index + 1 < len(runs) else ""
    ordinal = "第" if index and runs[index - 1].endswith("第") else ""
    terms = [number + counter] if counter else []
    return [*terms, ordinal + number + counter] if ordinal else terms


def _token_terms(token: str) -> list[str]:
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
    joined = 1 < len(pieces) <= 3 and len(core) <= _LONGEST_JOINED and _LATIN.search(core)
    whole = "".join(pieces) if joined else core
    terms = _whole(whole) if len(core) <= _LONGEST_EXACT else []
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
    stem: str = _stemmer().stemWord(word)
    return [stem]


def _without_accents(word: str) -> str:
    """Return a Latin word without diacritics: "nestlé" is searched as "nestle"."""
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


_HIRAGANA = re.compile("[\u3041-\u309f]+")
# Japanese that links, inflects or asks; the longest first.
_FUNCTION_WORDS = [
    *(
        "でしょうか",
        "でしょう",
        "ください",
        "について",
        "における",
        "において",
        "によって",
        "により",
    ),
    *(
        "による",
        "に対する",
        "としての",
        "として",
        "されている",
        "されていた",
        "されました",
        "されます",
    ),
    *(
        "された",
        "されて",
        "される",
        "していた",
        "している",
        "しています",
        "しました",
        "します",
        "した",
    ),
    *(
        "して",
        "する",
        "ための",
        "ために",
        "ため",
        "ですか",
        "でした",
        "です",
        "ました",
        "ません",
        "ますか",
    ),
    *("ます", "であった", "である", "だった", "という", "とは", "とき", "こと", "もの", "いました"),
    *(
        "います",
        "いる",
        "いた",
        "あります",
        "あった",
        "ある",
        "なります",
        "なった",
        "なる",
        "なり",
        "ない",
    ),
    *(
        "なかった",
        "どのような",
        "どのように",
        "どんな",
        "どの",
        "どこ",
        "どれ",
        "どちら",
        "どう",
        "なに",
    ),
    *(
        "いつ",
        "だれ",
        "なぜ",
        "いくつ",
        "いくら",
        "この",
        "その",
        "あの",
        "これ",
        "それ",
        "から",
        "まで",
    ),
    *("より", "など", "だけ", "または", "および", "また"),
    *("は", "が", "を", "に", "の", "と", "も", "で", "へ", "や", "か"),
]
_FUNCTION_KANA = re.compile("|".join(sorted(_FUNCTION_WORDS, key=len, reverse=True)))
_QUESTION_HAN = "何誰"


def _without_function_kana(text: str) -> list[str]:
    terms: list[str] = []
    for token in prepare(text).split():
        if not _HAS_CJK.search(token):
            terms.extend(_token_terms(token))
            continue
        runs = _CJK_OR_REST.findall(token)
        for index, run in enumerate(runs):
            if _HAS_CJK.match(run):
                terms.extend(_content_grams(run))
            else:
                terms.extend(_token_terms(run))
                terms.extend(_counted(runs, index) if run.isdigit() else [])
    return terms


def _content_grams(run: str) -> list[str]:
    """Return the bigrams of a CJK run, cut where hiragana only links or inflects."""
    cut = _HIRAGANA.sub(_blank_function_words, run)
    for mark in _QUESTION_HAN:
        cut = cut.replace(mark, " ")
    grams: list[str] = []
    for piece in cut.split():
        grams.extend(map("".join, pairwise(piece)))
        if len(piece) == 1 and not _HIRAGANA.match(piece):
            grams.append(piece)
    return grams


def _blank_function_words(match: re.Match[str]) -> str:
    return _FUNCTION_KANA.sub(" ", match.group())
