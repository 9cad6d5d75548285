"""Which lines of a model's answer state something: lead-in and closing lines do not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.text import content_words
from rag_app.answer.support import subject_words
from rag_app.answer.written.marks import MarkedSentence
from rag_app.answer.written.numerals import prepared
from rag_app.answer.written.segments import segments_of

MAX_HEADING_WORDS = 8
MAX_NEW_WORDS_SHARE = 0.34

_BULLET = re.compile(r"\A[ \t]{0,12}(?:[-*•▪]|\d{1,2}[.)]|#{1,6}|>)\s{1,8}")
_CLOSING = re.compile(
    r"(?:please\s)?(?:let me know|feel free|don['’]t hesitate|do not hesitate|i hope (?:this"
    r"|that)|hope (?:this|that)"
    r"|is there anything else|would you like|if you (?:need|have|want"
    r"|would like)\b[^.]{0,60}\b(?:question|detail|help|more|ask|know)"
    r"|happy to help|you(?:['’]re| are) welcome|thank you|thanks for)"
    r"|(?:ご不明|他にご|ほかにご|何かご|お役に立て|お気軽に|ご質問|以上です|ご参考)",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:sure|certainly|of course|absolutely|great question|good question|yes|no|here (?:is"
    r"|are)\b[^.]{0,80}"
    r"|はい|いいえ|承知しました|かしこまりました|以下の(?:通り|とおり)です|次の(?:通り|とおり)です|お答えします)\s*[.!:。、：,]*",
    re.IGNORECASE,
)
_ENDS_OPEN = re.compile(r"[:：]\s*[*_]{0,3}$")
_ENDS = re.compile(r"[.!?。！？)\]”」]\s*[*_]{0,3}$")
# What lead-in lines are made of beside the words of the question.
_LEADING_WORDS = frozenset(
    content_words(
        "here following below answer question list summary details information data figures "
        "key points amounts "
        "passages documents report gives shows states says found overview results as follows "
        "based provided "
        "以下 次 通り とおり 回答 要点 まとめ 内容 情報"
    )
)


def plain(text: str) -> str:
    """Return a statement without the sign of a list or a heading before it, and emphasis."""
    return _BULLET.sub("", text, count=1).replace("**", "").strip()


def statements_of(marked: Sequence[MarkedSentence], question: str) -> list[MarkedSentence]:
    """Return the sentences that state something; all where that would leave none.

    Left out are, where they cite nothing: openings and closings ("Let me know …"), lines
    that lead to a list and say no more than the question, and headings.
    """
    asked = frozenset(content_words(question))
    kept = [
        one
        for place, one in enumerate(marked)
        if one.cited or one.invented or not _says_nothing(one.text, asked, place + 1 == len(marked))
    ]
    return kept or list(marked)


def _says_nothing(text: str, asked: frozenset[str], last: bool) -> bool:
    said = plain(text)
    if not any(letter.isalnum() for letter in said) or _OPENING.fullmatch(said):
        return True
    facts = [s for s in segments_of(prepared(said)) if s.quantities or s.dates]
    if facts:
        return False
    if _CLOSING.match(said):
        return True
    if _ENDS_OPEN.search(said):
        words = subject_words(said)
        new = [word for word in words if word not in asked and word not in _LEADING_WORDS]
        return len(new) <= MAX_NEW_WORDS_SHARE * max(len(words), 1)
    return (
        not last
        and not _ENDS.search(said)
        and len(said.split()) <= MAX_HEADING_WORDS
        and _is_heading(text)
    )


def _is_heading(text: str) -> bool:
    return text.lstrip().startswith(("#", "**"))
