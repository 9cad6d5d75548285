"""Whether a model's reply says, in its own words, that the passages do not answer.

A model that is told to write ``NO_ANSWER`` often writes a sentence instead. What counts is
the whole reply: a refusal that goes on to state something with a citation is an answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rag_app.answer.written.marks import MarkedSentence

MAX_SENTENCE_CHARACTERS = 400
# What a refusal speaks of.
_SOURCES = (
    r"(?:(?:the|these|those|this|any|your|provided|given|supplied|available|retrieved|above"
    r"|of|in) )*(?:passages?|documents?|texts?|contexts?|sources?|excerpts?|materials?"
    r"|information|files?|content|data|reports?|manual)"
    r"(?: (?:that )?(?:you )?(?:provided|given|supplied|available|above|gave|shared))*"
)
_ASKED = (
    r"(?:answers?|information|mentions?|details?|data|anything|enough|sufficient|reference"
    r"|figures?|indication)"
)
_NOT = r"(?:do|does|did) ?(?:not|n't)"
_CANNOT = (
    r"(?:can ?not|can't|could ?not|couldn't|am not able to|was not able to"
    r"|am unable to|was unable to|unable to)"
)
_SAY = (
    r"(?:contain|mention|provide|include|specify|state|say|answer|give|address|indicate|discuss"
    r"|have|offer|disclose|cover|list|tell)"
)
# Only at the beginning: further on in a sentence the same words may be what the document says.
_LEAD = (
    r"(?:(?:i(?:'m| am) )?(?:sorry|unfortunately|regrettably|apologies)[,.;:!]? ?(?:but )?"
    r"|based on [^,]{1,60}, ?|according to [^,]{1,60}, ?|(?:answer|response) ?: ?"
    r"|from the [^,]{1,60}, ?|it (?:seems|appears) that |in [^,]{1,60}, ?)*"
)
_ENGLISH = re.compile(
    rf"{_LEAD}(?:"
    rf"i {_CANNOT} (?:find|answer|provide|determine|locate|see|tell|say|identify|give)\b"
    rf"|i (?:{_NOT}|did not) (?:know|find|see|have)\b"
    rf"|{_SOURCES} (?:{_NOT}|never) (?:(?:explicitly|directly|clearly|seem to) )*{_SAY}\b"
    rf"|{_SOURCES} (?:is|are) (?:not (?:sufficient|enough)|insufficient)\b"
    rf"|{_SOURCES} (?:lacks?|contains? no|mentions? no|provides? no|gives? no"
    rf"|has no|have no)\b"
    rf"|there (?:is|was|are)(?: no| not enough| insufficient|n't (?:any|enough)) "
    rf"(?:\w+ ){{0,3}}?{_ASKED}\b"
    rf"|no (?:\w+ ){{0,2}}?{_ASKED} (?:is|was|are|were|can be|could be|about|on)\b"
    rf"|(?:the )?(?:answer|information|question|this|that|it) (?:(?:to|about|on) [^.]{{1,60}}"
    rf" )?(?:is not|isn't|cannot be|can't be|could not be|was not) (?:\w+ )?"
    rf"(?:found|answered|determined|mentioned|provided|given|available|stated|specified|contained"
    rf"|included|present|in {_SOURCES})\b"
    rf"|(?:not (?:found|mentioned|stated|specified|available|provided)|unknown|n/?a|no answer)"
    rf"(?: (?:in|by) {_SOURCES})? ?[.!]?$"
    rf")",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\W*(?:(?:final )?answer|response|回答|答え)\s*[:：]", re.IGNORECASE)
_NO_LETTER = re.compile(r"[\W_]+")
# What states something after all.
_CONCEDES = re.compile(
    r"[,;:]\s*(?:but|however|though|although|yet|while)\s|\bexcept\s", re.IGNORECASE
)
_JA_SOURCES = (
    r"(?:文書|資料|文章|本文|記述|情報|データ|テキスト|パッセージ|抜粋|規則|報告書"
    r"|提供された[^。]{0,12})"
)
_JAPANESE = re.compile(
    rf"(?:申し訳(?:ありません|ございません)|すみません|残念ながら)?[がけれど、。]*"
    rf"(?:[^。]{{0,80}}(?:記載|記述|言及|情報|説明|回答|答え|該当)[^。]{{0,16}}"
    rf"(?:ありません|ございません|見つかりません|見当たりません|ない|なし|されていません|いません"
    rf"|含まれていません|できません|得られません)"
    rf"|[^。]{{0,40}}{_JA_SOURCES}[^。]{{0,40}}(?:からは?)?[^。]{{0,24}}"
    rf"(?:分かりません|わかりません|判断できません|答えられません|回答できません|お答えできません"
    rf"|触れられていません|書かれていません|含まれていません|見つかりません)"
    rf"|(?:分かりません|わかりません|不明です|回答できません|お答えできません))"
    rf"[^。]{{0,6}}。?$"
)


def says_no_answer(reply: str, sentences: Sequence[MarkedSentence], token: str) -> bool:
    """Tell whether a reply means that the passages do not answer.

    Args:
        reply: the whole text, as the model wrote it.
        sentences: of the reply, each with the passages that it cites.
        token: what the model was told to write then (``NO_ANSWER``).

    The first sentence has to refuse, and no later one may state something that it cites.
    "The passages do not give a price, but the manual names the part [1]." is an answer.
    """
    if is_token(reply, token):
        return True
    if not sentences or not refuses(sentences[0].text, token):
        return False
    return all(not one.cited or refuses(one.text, token) for one in sentences[1:])


def is_token(reply: str, token: str) -> bool:
    """Tell whether a reply is the word for "no answer", with a label or marks around it."""
    label = _LABEL.match(reply)
    return _letters(reply[label.end() :] if label else reply) == _letters(token)


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()


def refuses(sentence: str, token: str) -> bool:
    """Tell whether one sentence says that the passages do not answer, and nothing beside it."""
    text = (
        unicodedata.normalize("NFKC", sentence[:MAX_SENTENCE_CHARACTERS])
        .replace("’", "'")
        .strip(" \t\n*_\"'“”「」")
    )
    text = " ".join(text.split())  # the patterns know single spaces alone
    if token.casefold() in text.casefold():
        return True
    if _JAPANESE.match(text):
        return True
    refusal = _ENGLISH.match(text)
    return refusal is not None and not _CONCEDES.search(text, refusal.end())
