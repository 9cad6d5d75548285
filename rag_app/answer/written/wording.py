"""What the words of a text say beyond its numbers: rise or fall, gain or loss, yes or no.

Word lists of English and Japanese, and the negations of a few languages more. What is on
no list says nothing: it is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_QUANTIFIED = (
    r"(?:[\d£$€¥(]|about|some|a\b|an\b|one|two|three|four|five|six|seven|eight|nine|ten|half)"
)
# "More than 400", "no later than", "up to", "at least": bounds of a number, no rise and no denial.
_BOUNDS = re.compile(
    rf"\b(?:(?:no|not)\s(?:more|less|fewer|later|earlier|longer|greater|higher|lower)\sthan\b"
    rf"|not\sonly\b|(?:no\slonger\sthan)\b"
    rf"|(?<![\d%]\s)(?<!cent\s)(?:more|less|fewer|greater|higher|lower|longer|later)\sthan(?=\s{_QUANTIFIED})"
    rf"|up\sto(?=\s{_QUANTIFIED})|more\sor\sless|further\sdown|based\sup|made\sup|set\sup|up\sto\sdate"
    rf"|taken?\sup|used\sup|give\sup|look\sup)",
    re.IGNORECASE,
)
_UP = (
    r"rose|ris(?:e|es|en|ing)|increas\w*|gr[eo]w(?:s|n|ing|th)?|climb\w*|jump(?:ed|s)?|soar\w*|surged\b"
    r"|(?:went|go|goes|going|gone|was|is|were|are|,)\sup|up\s(?:by|from|\d)|higher|more|improv\w*|expand\w*"
    r"|extend\w*|rais(?:e|es|ed|ing)|widen\w*|gained|advanced|exceed\w*|bigger|larger|greater"
    r"|heightened|strengthen\w*|steigt|stieg\w*|gestiegen|höher|hausse|augment\w*|aument\w*|subi[óo]"
    r"|増加|増え|増収|増益|増額|増配|増の|増と|増で|増(?=[。、)\s]|$)|上昇|上回|伸び|伸長|拡大|引き?上げ|上がり|上がった|上がる|高ま"
)
_DOWN = (
    r"fell|fall(?:s|en|ing)?|decreas\w*|declin\w*|drop(?:s|ped|ping)?|reduc\w*|shr[aiu]nk\w*|slip(?:ped|s)?"
    r"|slump\w*|plung\w*|dipped|(?:went|go|goes|going|gone|was|is|were|are|,)\sdown|down\s(?:by|from|to|\d)"
    r"|lower(?:ed)?|less|fewer|cut|smaller|shorten\w*|weaken\w*|narrowed|worsen\w*|cheaper"
    r"|sinkt|sank\w*|gesunken|niedriger|baisse\w*|diminu\w*|disminu\w*|bajó"
    r"|減少|減収|減益|減額|減配|減ら|減り|減った|減る|減の|減と|減で|減(?=[。、)\s]|$)|低下|下回|縮小|縮ま|下落|引き?下げ|下がり|下がった|下がる|落ち込"
)
_SAME = (
    r"unchanged|unaltered|flat|stable|constant|the same|did not change|not changed|no change"
    r"|held at|stay(?:s|ed)? at"
    r"|remain(?:s|ed)? at|unverändert|inchangée?s?|横ばい|変わらな|変わりま|変わって(?:いな"
    r"|いま|おりま)|変更(?:はあり|あり|な|し)|据え?置|同額|同水準"
)
_DIRECTIONS = re.compile(
    rf"(?<![a-z])(?:(?P<up>{_UP})|(?P<down>{_DOWN})|(?P<same>{_SAME}))", re.IGNORECASE
)
_GAIN = r"profit\w*|gains?|surplus\w*|earn(?:ed|s|ings?)|net income|利益|黒字|増益|差益|gewinn\w*"
_LOSS = r"loss(?:es)?|lost|lose|deficits?|損失|赤字|差損|欠損|verlust\w*"
_GAINS = re.compile(rf"(?<![a-z])(?:(?P<gain>{_GAIN})|(?P<loss>{_LOSS}))", re.IGNORECASE)
_MUST = re.compile(
    r"(?:なければ|なくては|ないと|ねば)(?:なら|いけ)(?:ない|ません|ず)|かもしれ(?:ない|ません)"
    r"|だけで(?:は)?なく|のみならず|少な[いくかさ]|わずか|必ず|まず(?=[、は])|いずれ|ずつ"
    r"|問題な|に過ぎ(?:ない|ません)|ほかなら|ない(?=[\u4e00-\u9fff])"
    r"|(?:超え|上回ら|下回ら|下ら)(?:ない|ず|ません|てはなら(?:ない|ず|ません))"
)
_NOT = (
    r"\b(?:no|not|cannot|never|none|nobody|nothing|neither|nor|without|nowhere|nil|zero|refus\w*|den(?:y|ies|ied)"
    r"|reject\w*|fail(?:s|ed)?|lack(?:s|ed|ing)?|absent|except\w*|unless|prohibit\w*"
    r"|forb[ia]d\w*|free of)\b|n['’]t\b"
    r"|\b(?:kein\w*|nicht|niemand|nichts|nie|ohne|pas|aucune?|jamais|sans|ningun\w*|nunca|sin)\b"
    r"|ない|なく(?:て)?(?=[、。はてなり]|$)|なかっ|ません|ませんで|[わらせかきじり]ず(?=[、にに。]|$)|ずに|なし(?=[。、でとにの)]|$)|無し"
    r"|ゼロ|不要|不可|禁止|禁じ|見送"
)
_NEGATIONS = re.compile(_NOT, re.IGNORECASE)
# Denials whose own words say what is denied; the others ("refused", "without") do so as verbs do.
_PLAIN_NOT = re.compile(
    r"\b(?:no|not|cannot|never|none|nobody|nothing|neither|nor)\b|n['’]t\b|\b(?:kein\w*|nicht|niemand|pas|aucune?)\b"
    r"|ない|なかっ|ません|[わらせかきじ]ず|なし|禁止|見送|不要|不可",
    re.IGNORECASE,
)
_RESTRICTED = re.compile(
    r"\b(?:unless|until|beyond|except\w*|only|before|other than|but not|more than|less than)\b"
    r"|限り|場合|とき|ただし|以外",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"\s*(?:ただし|但し|なお|However,?\s(?:if|where|when)|Except)", re.IGNORECASE
)
_CONDITION = re.compile(
    r"(?:ただし|但し)、?([^。]{4,60}?)(?:ときは|時は|場合は|場合に限り|には)、?"
)
_COMPARED = re.compile(r"\((?:in\s)?(?:19|20)\d{2}:\s")
_QUOTED = re.compile(
    r"“([^“”]{3,400})”|\"([^\"\n]{3,400})\"|«([^«»]{3,400})»|「([^「」]{2,200})」|『([^『』]{2,200})』"
)


@dataclass(frozen=True, slots=True)
class Denial:
    """A word that denies, and the text after it that it most likely denies.

    ``restriction`` is the word that limits it ("unless", 場合), ``""`` where none does.
    """

    word: str
    after: str
    restriction: str


def directions(text: str) -> frozenset[int]:
    """Return what a text says of a change: 1 a rise, -1 a fall, 0 none; maybe several."""
    plain = _BOUNDS.sub(" ", text)
    found = set()
    for match in _DIRECTIONS.finditer(plain):
        found.add(1 if match["up"] else -1 if match["down"] else 0)
    return frozenset(found)


def gains(text: str) -> frozenset[int]:
    """Return whether a text speaks of a gain (1) or a loss (-1); maybe of both."""
    return frozenset(1 if match["gain"] else -1 for match in _GAINS.finditer(text))


def without_directions(text: str) -> str:
    """Return a text without its words of direction."""
    return _DIRECTIONS.sub(" ", text)


def compared_years(text: str) -> bool:
    """Tell whether a text puts the number of another year in brackets: "412 (2024: 396)"."""
    return _COMPARED.search(text) is not None


def denies(text: str) -> bool:
    """Tell whether a text denies, refuses or excludes something."""
    return _NEGATIONS.search(_MUST.sub(" ", _BOUNDS.sub(" ", text))) is not None


def denials(text: str) -> Iterator[Denial]:
    """Yield the plain denials of a text ("not", "no", ない), with what follows them."""
    plain = _MUST.sub(" ", _BOUNDS.sub(" ", text))
    restricted = _RESTRICTED.search(plain)
    restriction = restricted[0].casefold() if restricted is not None else ""
    for match in _PLAIN_NOT.finditer(plain):
        yield Denial(match[0], plain[match.end() : match.end() + 40], restriction)


def is_exception(text: str) -> bool:
    """Tell whether a sentence begins as an exception to the one before it."""
    return _EXCEPTION.match(text) is not None


def condition(text: str) -> str:
    """Return the condition that a Japanese exception begins with (``""``: none)."""
    match = _CONDITION.search(text)
    return match[1] if match is not None else ""


def quotations(text: str) -> list[str]:
    """Return what stands between quotation marks."""
    return [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
