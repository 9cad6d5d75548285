"""Names of a text: of people, places, firms and parts, as far as their form shows them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pipelines.stopwords import STOP_WORDS

# A part number, an article of a rule: letters with digits. Units and periods are none.
IDENTIFIER = re.compile(
    r"(?<![\w-])(?!(?:FY|Q|H|CY|US|No)\d)[A-Za-z]{1,12}(?:[-/.][A-Za-z]{1,12}){0,3}[-/.]?\d[\w./-]{0,40}(?<![./-])"
    r"|(?<![\w.,-])\d{2,8}(?:-[A-Z0-9]{1,8}){1,3}(?![\w%])"
)
_WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’&.-](?=[^\W\d_]))*")
_STARTS = re.compile(r"(?:^|[.!?:;。！？\n“\"「(*|•-]\s{0,3}|\d\.\s)$")
_LINKS = frozenset(
    ["of", "de", "da", "del", "van", "der", "den", "von", "la", "le", "du", "&", "y", "and"]
)
_TITLES_TEXT = (
    "mr mrs ms miss dr prof professor sir lady lord captain capt councillor cllr president "
    "mayor chair director minister herr frau"
)
_TITLES = frozenset(_TITLES_TEXT.split())
_NO_NAMES_TEXT = (
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday yes no also however because "
    "since although whereas according based note table figure section page passage report "
    "document overall together total i a the in on at by for to from as it its this that "
    "these those they we he she there here when where while what who which if and or but not "
    "so than then both each every all some any one two three four five six seven eight nine "
    "ten about after before during under over between q1 q2 q3 q4 fy pdf usd gbp eur jpy us$ "
    "am pm celsius fahrenheit revenue net"
)
_NO_NAMES = frozenset(_NO_NAMES_TEXT.split())
_JA_NAME = re.compile(
    r"(?P<person>[\u4e00-\u9fff々]{2,5}?|[ァ-ヶー・]{2,16})"
    r"(?:さん|氏|様|代表取締役|社長|副社長|会長|知事|議員|部長|課長|専務|常務|弁護士|館長|所長|教授|市長|町長)"
    r"|株式会社(?P<firm>[\u4e00-\u9fffァ-ヶー]{2,10})|(?P<before>[\u4e00-\u9fffァ-ヶー]{2,10})株式会社"
)
_JA_ROLES = ("取締役", "代表", "予報官", "担当者", "知事", "社長", "会長", "部長", "課長", "館長")


@dataclass(frozen=True, slots=True)
class Name:
    """One name.

    Attributes:
        start, end: span in the text.
        text: as it is written.
        tokens: its words in comparable form.
    """

    start: int
    end: int
    text: str
    tokens: tuple[str, ...]

    @property
    def is_acronym(self) -> bool:
        """Whether it is written in capitals alone: CFO."""
        return len(self.tokens) == 1 and self.text.isupper() and 1 < len(self.text) < 7


def folded(word: str) -> str:
    """Return a word without case, accents and possessive."""
    plain = unicodedata.normalize("NFKD", word.casefold().replace("’", "'"))
    plain = "".join(mark for mark in plain if not unicodedata.combining(mark))
    return plain.removesuffix("'s").strip("'.-")


def tokens(text: str) -> set[str]:
    """Return the words and identifiers of a text in comparable form."""
    found = {folded(match[0]) for match in _WORD.finditer(text)}
    found |= {part for word in found for part in word.split("-")}
    return found | {match[0].casefold() for match in IDENTIFIER.finditer(text)}


def identifiers(text: str) -> Iterator[Name]:
    """Yield part numbers and the like."""
    for match in IDENTIFIER.finditer(text):
        yield Name(match.start(), match.end(), match[0], (match[0].casefold(),))


def names(text: str) -> list[Name]:
    """Return the names of a prepared text in reading order.

    A capital at the start of a sentence alone makes no name.
    """
    found = list(_capitalised(text))
    for match in _JA_NAME.finditer(text):
        name = next(filter(None, match.groups()))
        name = _without_role(name)
        if len(name) > 1:
            start = text.index(name, match.start())
            found.append(Name(start, start + len(name), name, (name,)))
    return sorted(found, key=lambda name: name.start)


def stands_in(name: Name, there: Collection[str], text: str) -> bool:
    """Tell whether all words of a name are among those of a text, or the text spells it out."""
    if all(token in there or _part(token, there) for token in name.tokens):
        return True
    if name.is_acronym:
        return name.text.casefold() in there or _spelled_out(name.text.casefold(), text)
    return len(name.tokens) == 1 and not name.text.isascii() and name.text in text


def _part(token: str, there: Collection[str]) -> bool:
    parts = token.split("-")
    return len(parts) > 1 and all(part in there for part in parts)


def _without_role(name: str) -> str:
    for role in _JA_ROLES:
        name = name.removeprefix(role)
    return name


def _capitalised(text: str) -> Iterator[Name]:
    run: list[re.Match[str]] = []
    for match in _WORD.finditer(text):
        word = match[0]
        adjacent = bool(run) and text[run[-1].end() : match.start()] in (
            " ",
            " & ",
            ". ",
            "\n",
            "–",
        )
        if (word[0].isupper() and (adjacent or not run)) or (run and adjacent and word in _LINKS):
            run.append(match)
        else:
            yield from _named(text, run)
            run = [match] if word[0].isupper() else []
    yield from _named(text, run)


def _named(text: str, run: list[re.Match[str]]) -> Iterator[Name]:
    while run and not run[-1][0][0].isupper():
        run = run[:-1]
    if not run:
        return
    first = run[0]
    opens = _STARTS.search(text[max(0, first.start() - 4) : first.start()]) is not None
    if opens and (len(run) == 1 or _is_plain(first[0])) and not _is_marked(first[0]):
        run = run[1:]
    while run and (folded(run[0][0]) in _TITLES or _is_plain(run[0][0])):
        run = run[1:]
    words = tuple(
        folded(match[0]) for match in run if match[0][0].isupper() and not _is_plain(match[0])
    )
    if words:
        start, end = run[0].start(), run[-1].end()
        yield Name(start, end, text[start:end].strip("."), words)


def _is_plain(word: str) -> bool:
    plain = folded(word)
    return plain in _NO_NAMES or plain in STOP_WORDS


def _is_marked(word: str) -> bool:
    """Tell whether a word is a name by its form: a further capital, as in MacLeod or CFO."""
    return any(letter.isupper() for letter in word[1:])


def _spelled_out(acronym: str, text: str) -> bool:
    """Tell whether words in a row begin with the letters of an acronym."""
    letters = "".join(
        match[0][0].casefold() for match in _WORD.finditer(text) if match[0] not in _LINKS
    )
    return acronym in letters
