"""What a question asks: without courtesy, noise and instructions, and for which kind of thing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pipelines.text import normalise, sentence_spans

AnswerKind = Literal[
    "person", "time", "place", "amount", "count", "duration", "measure", "yes_no", "any"
]

_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
# Three or more single characters with blanks between them: 始 業 時 刻.
_SPACED = re.compile(rf"(?<![{_CJK}])[{_CJK}](?:[ \u3000]+[{_CJK}]){{3,}}(?![{_CJK}])")
_BLANKS = re.compile(r"[ \u3000]+")

# Sentences that ask for nothing: greetings, thanks, and how the answer is to look.
_NO_QUESTION = re.compile(
    r"(?:hello|hi|hey|dear|good (?:morning|day|afternoon|evening)|thanks?|thank you|many thanks"
    r"|cheers|kind regards|best regards|(?:please )?(?:answer (?:in|the|this|as|with|by)|respond"
    r"|reply|state|note|keep|use|utili[sz]e|give (?:a|an|your|the|us|me)"
    r"|provide (?:a|an|your|the|us|me))|round (?:your|the)|express"
    r"|base your|assume|if (?:the |this |such a )?[\w ]{1,60}? is (?:not|no) |calculate what"
    r"|you are an?|we (?:need|want) to calculate|here's the question|use only|using only)\b"
    r"|(?:よろしく|宜しく|お願い|ありがとう|すみません|こんにちは|お世話に)",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(r"\bquestion[^:.?]{0,20}:", re.IGNORECASE)
_COURTESY = re.compile(
    r"\b(?:please|kindly|pls|plz|(?:many )?thanks?(?: you)?(?: (?:so|very) much)?"
    r"(?: in advance)?|hello|hi|hey|sorry|dear sirs?"
    r"|(?:can|could|would) (?:you|u|anybody|someone) (?:(?:please|kindly) ){0,2}(?:tell|show"
    r"|give|explain|say)(?: to)?(?: me| us)?|(?:i|we) (?:would|'d) (?:like|love|want) to know"
    r"|i want to know"
    r"|i wonder(?: if)?|do you know|tell me|any idea|maybe|actually|by the way|just|basically"
    r"|in (?:us\$?|usd|gbp|eur|jpy)(?: (?:millions?|billions?|thousands?))?"
    r"|(?:as of|at the end of|by the end of|according to|based on)"
    r"(?= (?:the )?(?:fy|fiscal|year|data|information|documents?|report)))\b"
    r"|(?:どうか|ちなみに|えっと|あの、|教えて(?:ください|下さい|もらえますか|くれますか)?|知りたいです?"
    r"|お聞きしたい(?:です|のですが)?|よろしくお願い(?:します|いたします)?"
    r"|お願い(?:します|いたします)|ください|でしょうか|だっけ|ってどう|って)",
    re.IGNORECASE,
)
_UNIT_OF_TIME = r"(?:minutes?|hours?|days?|weeks?|months?|years?|seconds?)"
_JA_UNIT_OF_TIME = r"(?:秒|分|時間|日|週|か月|ヶ月|カ月|ヵ月|年)"
_JA_COUNTER = (
    r"(?:人|名|件|回|個|本|枚|台|冊|日|歳|才|番|号|社|つ|部屋|条|棟|割|点|週|月|年|時|分|秒|度|円|歩|階"
    r"|メートル|キロ|グラム|リットル)"
)
# What asks, by the kind that it asks for; it is no part of the subject.
_ASKS_FOR: Mapping[AnswerKind, tuple[str, ...]] = {
    "duration": (
        r"\bhow long\b", rf"\bhow many {_UNIT_OF_TIME}\b", r"\bwhat is the duration\b",
        r"どれ(?:くらい|ぐらい)の?(?:期間|時間)", r"何(?:日間|時間|分|週間|か月|ヶ月|カ月|年間)",
    ),
    "amount": (
        r"\bhow much\b", r"\bwhat(?:'s| is| was| are)? the (?:price|cost)\b", r"\bhow expensive\b",
        r"いくら", r"何円", r"何パーセント", r"何%", r"何割",
    ),
    "time": (
        r"\b(?:since |until |by )?when\b", r"\b(?:what|which) (?:time|date|day|year|month)\b",
        r"いつ(?:から|まで|頃)?", r"何(?:時|曜日|月|年)", r"何日(?:から|まで|に|です)",
    ),
    "count": (
        r"\bhow many(?: (?:ppl|people|times))?\b", r"\b(?:(?:what|which) )?number of\b",
        rf"何{_JA_COUNTER}", r"いくつ",
    ),
    "measure": (
        r"\bhow (?:big|large|far|old|often|hot|cold)\b",
        # What is measured is a part of the subject: "how heavy" asks for the weight.
        r"\bhow(?= (?:tall|high|deep|heavy|wide|fast)\b)",
        r"ど(?:れ|の)(?:くらい|ぐらい|ほど|だけ)",
    ),
    "person": (
        r"\bwho(?:'s|s|m|se)?\b", r"\bname of\b", r"'s name\b", r"名前", r"誰", r"だれ", r"どなた",
    ),
    "place": (r"\bwhere(?:'s|abouts)?\b", r"どこ", r"どちら"),
    "yes_no": (
        r"^\W*(?:is|are|was|were|do|does|did|can|could|may|must|will|has|have|had|should)\b",
        r"(?:ありますか|できますか|もらえますか|いいですか|よいですか|ですか|ますか|ok|オーケー)\W*$",
    ),
}  # fmt: skip
_KINDS = {kind: re.compile("|".join(patterns)) for kind, patterns in _ASKS_FOR.items()}
_ALSO_ASKS = re.compile(
    r"(?<=\w)'s\b|\b(?:what(?:'s|s)?|which|whats|how|why|is there an?|are there(?: any)?|there"
    r"|get|got|do i|can i|do you)\b|(?:何|なに|なん|どれ|どの|どんな|なぜ)"
)

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    r"|hundred|thousand|million|billion|once|twice|none|no|half|quarter|third|dozen)"
)
_CURRENCY = r"(?:per ?cent|pence|cents?|euros?|dollars?|pounds?|yen)"
# Runs are bounded: a text of nothing but digits is looked at once.
_KANJI_NUMBER = r"[一二三四五六七八九十百千万億〇]{1,8}"
_JA_NUMBER = r"[\d一二三四五六七八九十百千万億〇、,.]{1,12}\s?"
_ANY_NUMBER = rf"(?:\d|\b{_NUMBER_WORD}\b|{_KANJI_NUMBER}{_JA_COUNTER})"
_THINGS: Mapping[AnswerKind, str] = {
    "duration": (
        rf"(?:\d|\b{_NUMBER_WORD}\b)[\w ,.-]{{0,24}}?(?:{_UNIT_OF_TIME}|nights?|kilomet|metres?"
        rf"|meters?|miles?|km|ages?)|{_JA_NUMBER}{_JA_UNIT_OF_TIME}|\buntil\b|まで"
    ),
    "amount": (
        rf"[$€£¥]\s?\d|\d\s?(?:%|{_CURRENCY}|円|million|billion|thousand|万|億|割|パーセント)"
        rf"|{_KANJI_NUMBER}(?:円|割|パーセント)|\d[\d,.]{{2}}|\b{_NUMBER_WORD} {_CURRENCY}"
        r"|\bfree\b|無料"
    ),
    "count": _ANY_NUMBER,
    "measure": _ANY_NUMBER,
    "time": (
        rf"\b{_MONTH}\b|\b(?:1[89]|20)\d\d\b|\d{{1,2}}[:.]\d\d\b|\d\s?(?:a\.?m|p\.?m)\b|o'clock"
        r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\bnoon\b|\bmidnight\b|\bnever\b"
        rf"|\bat (?:half past )?{_NUMBER_WORD}\b|\b(?:spring|summer|autumn|fall|winter)\b"
        rf"|(?:\b{_NUMBER_WORD}|\d) (?:days?|weeks?|months?|years?)\b"
        rf"|{_JA_NUMBER}(?:時|日|月|年|曜|分|週|か月)|\d歳|[月火水木金土日]曜|毎[日週月年]|正午|翌"
        r"|前日|当日"
    ),
    "person": (
        r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sir|Dame|Lord|Captain|Capt)\b"
        r"|\b[A-Z][\w’'-]{1,30}(?: (?:van|von|de|der|&|and|of)){0,2} [A-Z][\w’'-]"
        r"|さん|氏|先生|弁護士|会社|組合|(?:長|係|担当|者)[\s\u3000:はがの]"
    ),
    "place": (
        r"\b(?:in|at|on|to|from|near|beside|behind|under|outside|inside|opposite|via)\b"
        r"|[にへでら]|階|室|所|場|市|町|県"
    ),
}
_HOLDS = {kind: re.compile(pattern) for kind, pattern in _THINGS.items()}


@dataclass(frozen=True, slots=True)
class Wording:
    """A question as its words are compared with the documents.

    Attributes:
        subject: what it is about: without courtesy, instructions and what only asks.
        asked: the question without courtesy and instructions.
        kind: what kind of thing answers it.
    """

    subject: str
    asked: str
    kind: AnswerKind


def wording_of(question: str) -> Wording:
    """Return what a question asks.

    >>> wording_of("Hello! How long is the guarantee, please? Answer in months.").kind
    'duration'
    """
    plain = unicodedata.normalize("NFKC", question)
    plain = _SPACED.sub(lambda match: _BLANKS.sub("", match.group()), plain)
    polite = _COURTESY.sub(" ", _PREAMBLE.split(plain)[-1] or plain)
    asked = " ".join(normalise(_questions_in(polite)).split()).strip(" ,.!-–")
    asked = asked if any(map(str.isalnum, asked)) else normalise(plain)
    kind, subject = _kind_of(asked)
    subject = _ALSO_ASKS.sub(" ", subject)
    return Wording(subject=subject if subject.strip(" ?？!.") else asked, asked=asked, kind=kind)


def holds(kind: AnswerKind, text: str) -> bool:
    """Tell whether a text has a thing of the kind that is asked for; True where any will do."""
    pattern = _HOLDS.get(kind)
    if pattern is None:
        return True
    # Names are told by their capitals.
    return pattern.search(text if kind == "person" else normalise(text)) is not None


def _questions_in(text: str) -> str:
    """Return the sentences of a question that ask; all where none does."""
    parts = [text[start:end].strip() for start, end in sentence_spans(text, max_tokens=None)]
    asking = [part for part in parts if not _NO_QUESTION.match(part)]
    marked = [part for part in asking if part.endswith(("?", "？"))]
    return " ".join(marked or asking or parts)


def _kind_of(asked: str) -> tuple[AnswerKind, str]:
    """Return what is asked for, by the word that asks first, and the rest."""
    found = [
        (match.start(), order, kind, match)
        for order, (kind, pattern) in enumerate(_KINDS.items())
        if (match := pattern.search(asked))
    ]
    if not found:
        return "any", asked
    # A question that begins with a verb may still ask for something: "Do you know when …?"
    found = [one for one in found if one[2] != "yes_no"] or found
    _, _, kind, match = min(found, key=lambda one: one[:2])
    if kind == "yes_no":
        return kind, asked
    return kind, f"{asked[: match.start()]} {asked[match.end() :]}"
