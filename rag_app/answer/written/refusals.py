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
    r"|of|in)\s+)*(?:passages?|documents?|texts?|contexts?|sources?|excerpts?|materials?"
    r"|information|files?|content|data|reports?|manual)"
    r"(?:\s+(?:that\s+)?(?:you\s+)?(?:provided|given|supplied|available|above|gave|shared))*"
)
_ASKED = (
    r"(?:answers?|information|mentions?|details?|data|anything|enough|sufficient|reference"
    r"|figures?|indication)"
)
_NOT = r"(?:do|does|did)\s*(?:not|n't)"
_CANNOT = (
    r"(?:can\s*not|can't|could\s*not|couldn't|am\s+not\s+able\s+to|was\s+not\s+able\s+to"
    r"|am\s+unable\s+to|was\s+unable\s+to|unable\s+to)"
)
_SAY = (
    r"(?:contain|mention|provide|include|specify|state|say|answer|give|address|indicate|discuss"
    r"|have|offer|disclose|cover|list|tell)"
)
# Only at the beginning: further on in a sentence the same words may be what the document says.
_LEAD = (
    r"(?:(?:i(?:'m|\s+am)\s+)?(?:sorry|unfortunately|regrettably|apologies)[,.;:!]?\s*(?:but\s+)?"
    r"|based\s+on\s+[^,]{1,60},\s*|according\s+to\s+[^,]{1,60},\s*|(?:answer|response)\s*:\s*"
    r"|from\s+the\s+[^,]{1,60},\s*|it\s+(?:seems|appears)\s+that\s+|in\s+[^,]{1,60},\s*)*"
)
_ENGLISH = re.compile(
    rf"{_LEAD}(?:"
    rf"i\s+{_CANNOT}\s+(?:find|answer|provide|determine|locate|see|tell|say|identify|give)\b"
    rf"|i\s+(?:{_NOT}|did\s+not)\s+(?:know|find|see|have)\b"
    rf"|{_SOURCES}\s+(?:{_NOT}|never)\s+(?:(?:explicitly|directly|clearly|seem\s+to)\s+)*{_SAY}\b"
    rf"|{_SOURCES}\s+(?:is|are)\s+(?:not\s+(?:sufficient|enough)|insufficient)\b"
    rf"|{_SOURCES}\s+(?:lacks?|contains?\s+no|mentions?\s+no|provides?\s+no|gives?\s+no"
    rf"|has\s+no|have\s+no)\b"
    rf"|there\s+(?:is|was|are)\s+(?:no|not\s+enough|insufficient|n't\s+(?:any|enough))\s+"
    rf"(?:\w+\s+){{0,3}}?{_ASKED}\b"
    rf"|no\s+(?:\w+\s+){{0,2}}?{_ASKED}\s+(?:is|was|are|were|can\s+be|could\s+be|about|on)\b"
    rf"|(?:the\s+)?(?:answer|information|question|this|that|it)\s+(?:(?:to|about|on)\s+[^.]{{1,60}}"
    rf"\s+)?(?:is\s+not|isn't|cannot\s+be|can't\s+be|could\s+not\s+be|was\s+not)\s+(?:\w+\s+)?"
    rf"(?:found|answered|determined|mentioned|provided|given|available|stated|specified|contained"
    rf"|included|present|in\s+{_SOURCES})\b"
    rf"|(?:not\s+(?:found|mentioned|stated|specified|available|provided)|unknown|n/?a|no\s+answer)"
    rf"(?:\s+(?:in|by)\s+{_SOURCES})?\s*[.!]?$"
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
    return _letters(_LABEL.sub("", reply, count=1) if _LABEL.match(reply) else reply) == _letters(
        token
    )


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()


def refuses(sentence: str, token: str) -> bool:
    """Tell whether one sentence says that the passages do not answer, and nothing beside it."""
    text = (
        unicodedata.normalize("NFKC", sentence[:MAX_SENTENCE_CHARACTERS])
        .replace("’", "'")
        .strip(" \t\n*_\"'“”「」")
    )
    if token.casefold() in text.casefold():
        return True
    if _JAPANESE.match(text):
        return True
    refusal = _ENGLISH.match(text)
    return refusal is not None and not _CONCEDES.search(text, refusal.end())
