"""Which scripts a text is written in, and a name for its language in messages."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt

SCRIPTS = (
    "latin", "cjk", "hangul", "cyrillic", "greek", "arabic", "hebrew", "devanagari", "thai",
    "other",
)  # fmt: skip

_RANGES: dict[str, tuple[tuple[int, int], ...]] = {
    "latin": ((0x41, 0x24F), (0x250, 0x2AF), (0x1E00, 0x1EFF), (0x2C60, 0x2C7F), (0xA720, 0xA7FF),
              (0xFB00, 0xFB06), (0xFF21, 0xFF5A)),
    "greek": ((0x370, 0x3FF), (0x1F00, 0x1FFF)),
    "cyrillic": ((0x400, 0x52F), (0x1C80, 0x1C8F), (0x2DE0, 0x2DFF), (0xA640, 0xA69F)),
    "hebrew": ((0x590, 0x5FF), (0xFB1D, 0xFB4F)),
    "arabic": ((0x600, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFF)),
    "devanagari": ((0x900, 0x97F), (0xA8E0, 0xA8FF)),
    "thai": ((0xE00, 0xE7F),),
    "hangul": ((0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FF),
               (0xFFA0, 0xFFDC)),
    "cjk": ((0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3040, 0x30FF),
            (0x3100, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
            (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F)),
}  # fmt: skip
_NO_LETTER = len(SCRIPTS)

# Function words that are frequent in one language and rare in the others.
_FUNCTION_WORDS = {
    "English": "the of and to in is was for that with which what how are were this from by on"
    " does did about can i my you your we it if do be have has when where who why should would will"
    " much many get there",
    "German": "der die das und ist nicht mit von für den dem ein eine wie was sich auf wird im",
    "French": "le la les des et est une du que qui dans pour quel quelle sur pas avec au sont",
    "Spanish": "el los las del y es una que por con para como qué cuál se su fue más",
    "Italian": "il lo gli della di che è per una con come quale non sono dei nel alla più",
    "Portuguese": "o os das do da que em um uma para com não como qual são foi ao mais",
    "Dutch": "het een van en dat niet met voor zijn op wat welke hoe wordt aan ook bij",
}
_LANGUAGES: dict[str, list[str]] = {}  # of each function word
for _name, _words in _FUNCTION_WORDS.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_name)
_BY_SCRIPT = {
    "hangul": "Korean", "greek": "Greek", "hebrew": "Hebrew", "devanagari": "Hindi", "thai": "Thai",
}  # fmt: skip
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30fa\uff66-\uff9d]")
# Characters that Chinese sentences have and Japanese words seldom.
_CHINESE = frozenset(
    "的了吗呢们这那吧什么怎您她为说个会对没从还让给啊嗎們這個沒從還讓給說是在哪我你里"
)
_MAX_TERM_CHARS = 16
_UKRAINIAN = re.compile(r"[ґєії]", re.IGNORECASE)
_PERSIAN = re.compile(r"[پچژگ]")
_LATIN_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=1)
def _table() -> npt.NDArray[np.uint8]:
    """Return the script's number of each code point of the first plane."""
    is_letter = np.fromiter((chr(point).isalpha() for point in range(0x10000)), dtype=np.bool_)
    table = np.full(0x10000, _NO_LETTER, dtype=np.uint8)
    table[0x80:0xD800][is_letter[0x80:0xD800]] = SCRIPTS.index("other")
    for name, ranges in _RANGES.items():
        for first, last in ranges:
            table[first : last + 1][is_letter[first : last + 1]] = SCRIPTS.index(name)
    return table


def scripts_in(text: str) -> dict[str, int]:
    """Return how many letters of each script a text has; only scripts that occur."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    # Planes 2 and 3 hold further han; what else lies beyond the first plane is rare.
    han = int(np.count_nonzero((points >= 0x20000) & (points < 0x40000)))
    counts = np.bincount(_table()[points[points < 0x10000]], minlength=_NO_LETTER + 1)
    counts[SCRIPTS.index("cjk")] += han
    return {name: int(counts[i]) for i, name in enumerate(SCRIPTS) if counts[i]}


def script_of(text: str) -> str:
    """Return the script that most letters of a text belong to; ``"none"`` without letters."""
    counts = scripts_in(text)
    return max(counts, key=lambda name: counts[name]) if counts else "none"


def language_name(text: str) -> str:
    """Return a name of the language for messages ("Japanese"), a guess by script and words."""
    script = script_of(text)
    if script == "cjk":
        return "Japanese" if _KANA.search(text) or _is_japanese_term(text) else "Chinese"
    if script == "cyrillic":
        return "Ukrainian" if _UKRAINIAN.search(text) else "Russian"
    if script == "arabic":
        return "Persian" if _PERSIAN.search(text) else "Arabic"
    if script == "latin":
        return _latin_language(text)
    return _BY_SCRIPT.get(script, "an unknown language")


def _is_japanese_term(text: str) -> bool:
    """Tell whether a few kanji without kana are a term ("退職金制度"), and no Chinese sentence."""
    return len(text.strip()) <= _MAX_TERM_CHARS and not _CHINESE.intersection(text)


def is_sentence(text: str) -> bool:
    """Tell whether words in Latin letters are a sentence, and not only names and terms.

    A sentence has function words; a name may have one ("Society for Testing Materials").
    """
    return max(_function_words(text).values()) > 1


def _latin_language(text: str) -> str:
    counts = _function_words(text)
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else "a language in Latin script"


def _function_words(text: str) -> dict[str, int]:
    counts = dict.fromkeys(_FUNCTION_WORDS, 0)
    for word in _LATIN_WORD.findall(text[:20_000].casefold()):
        for name in _LANGUAGES.get(word, ()):
            counts[name] += 1
    return counts
