"""Numbers with unit, scale and sign, in whatever form they are written.

"£50,900,000", "£50.9 million" and a cell "50,900" of a table in £ thousand are one
quantity; so are 「７時間４５分」 and "7.75 hours", 「３割」 and "30 per cent".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rag_app.answer.written.units import (
    CLOCK,
    MONEY,
    NO_UNIT,
    PERCENT,
    PREFIXES,
    SCALES,
    SECONDS,
    SHORT_SCALES,
    UNITS,
    MeasureUnit,
    alternatives,
    comparable,
    unit_named,
)

# A rounded number of one digit may be so far from the exact one.
MAX_ROUNDING_SHARE = Fraction(1, 10)
# "More than 400" is said of 412, not of 4,000.
# 「1日7時間」 is seven hours in each day, no day and seven hours.
MAX_JOINED_SECONDS = 3600
MAX_BOUND_SHARE = Fraction(1, 4)

_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
_WRAPPED = re.compile(rf"(?<=[{_CJK}])\n(?=[{_CJK}\d])|(?<=\d)\n(?=[{_CJK}])")
_WRAPPED_DIGITS = re.compile(r"(?<=\d)\n(?=\d)")
_HAS_CJK = re.compile(f"[{_CJK}]")
_KANJI_DIGITS = {digit: n for n, digit in enumerate("〇一二三四五六七八九")}
_KANJI_TENS = {"十": 10, "百": 100, "千": 1000}
_COUNTERS = (
    "億 万 割 倍 円 ドル ユーロ ポンド か月 ヶ月 カ月 ヵ月 箇月 年 日 時間 時 分 秒 週 人 名 "
    "回 件 社 戸 台 本 枚 個 "
    "点 歳 冊 席 便 条 章 パーセント % メートル キロ トン つ"
)
_KANJI_NUMBER = re.compile(
    rf"(?<![{_CJK}\d])(?![十百千](?:[万億兆円])|十分(?!間))[〇一二三四五六七八九十百千]{{1,8}}+(?=\s?(?:{'|'.join(_COUNTERS.split())}))"
    rf"|(?<=[はがをにのもで、約計第各])[〇一二三四五六七八九十百千]{{1,8}}+"
    rf"(?=\s?(?:{'|'.join(_COUNTERS.split())}))"
)
_SMALL_WORDS_TEXT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_SMALL_WORDS = _SMALL_WORDS_TEXT.split()
_TENS_WORDS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORD_VALUES = {
    **{word: n for n, word in enumerate(_SMALL_WORDS)},
    **{word: n * 10 for n, word in enumerate(_TENS_WORDS, start=2)},
}
_WORDS = "|".join(sorted(_WORD_VALUES, key=len, reverse=True))
_NUMBER_WORD = re.compile(
    rf"\b(?:a (?=hundred\b|dozen\b|thousand\b|million\b|billion\b)|(?:{_WORDS})\b)"
    rf"(?:[-\s](?:{_WORDS})\b){{0,2}}(?P<half> and a half\b)?",
    re.IGNORECASE,
)
_DOZEN = re.compile(r"\s?dozen\b", re.IGNORECASE)
_SHARE_WORDS: dict[str, int | Fraction] = {
    "half": 50, "a quarter": 25, "one quarter": 25, "a third": Fraction(100, 3),
    "one third": Fraction(100, 3), "two thirds": Fraction(200, 3), "three quarters": 75,
    "a fifth": 20, "one fifth": 20, "a tenth": 10, "one in ten": 10, "半分": 50, "半数": 50,
    "半額": 50,
}  # fmt: skip
_SHARE_WORD = re.compile(
    r"\b(?:half|a quarter|one quarter|a third|one third|two[- ]thirds|three[- ]quarters|a fifth|"
    r"one fifth|a tenth|one in ten)\b|半分|半数|半額",
    re.IGNORECASE,
)
_PREFIX = "|".join(re.escape(prefix) for prefix in sorted(PREFIXES, key=len, reverse=True))
_DIGITS = (
    r"\d{1,3}(?:,\d{3})++(?![,\d])(?:\.\d+)?"
    r"|\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})++(?!\d)(?:[.,]\d+)?"
    r"|\d{1,3}(?:\.\d{3})++(?![.\d])(?:,\d+)?"
    r"|\d++[.,]\d++(?![.,]\d)|\d++"
)
_SOLID_DIGITS = r"\d{1,3}(?:,\d{3})++(?![,\d])(?:\.\d+)?|\d++\.\d++(?!\.\d)|\d++"
_SIGN = r"(?P<sign>(?:(?<![\w.,)])[-−–]|[△▲]|\b(?:minus|マイナス)\s?)\s?)?"
_NUMBER = re.compile(
    rf"{_SIGN}(?P<open>\((?=[^()\n]{{0,24}}\)))?"
    rf"(?P<prefix>(?:{_PREFIX})\s?[-−]?)?(?<![\d.])(?P<digits>{_DIGITS})",
)
_ROW_NUMBER = re.compile(
    rf"{_SIGN}(?P<open>\((?=[^()\n]{{0,24}}\)))?"
    rf"(?P<prefix>(?:{_PREFIX})\s?[-−(]?)?(?<![\d.])(?P<digits>{_SOLID_DIGITS})",
)
_SCALE = re.compile(rf"[\s-]?(?:{alternatives(SCALES)})\.?", re.IGNORECASE)
_SHORT_SCALE = re.compile(r"\s?(?:k|mn|mm|m|bn|b|tn)\b(?![/²³])", re.IGNORECASE)
_KILO = re.compile(r"k\b", re.IGNORECASE)
_UNIT = re.compile(
    rf"[\s-]?\(?(?:(?i:{alternatives(n for n in UNITS if len(n) > 2)})"
    rf"|(?:{alternatives(n for n in UNITS if len(n) <= 2)}))"
)
_JA_PART = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s?([十百千]?[万億兆]|[百千])\s?")
_LAST_PART = re.compile(r"\d[\d,]*")
_CLOSE = re.compile(r"\s?\)")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_FRACTION = re.compile(r"(?<!\d)(\d{1,6})分の(\d{1,6})")
_WARI_BU = re.compile(r"(?<!\d)(\d{1,3})割(\d)分")
_TIME = re.compile(
    r"(?P<half>午前|午後|正午)?(?P<hour>\d{1,2})時(?!間)(?:(?P<minute>\d{1,2})分|(?P<thirty>半))?"
    r"|\b(?P<hour2>\d{1,2})(?:[.:](?P<minute2>\d{2}))?\s?(?P<half2>[ap])\.?\s?m\b\.?"
    r"|\b(?P<hour3>[01]?\d|2[0-3]):(?P<minute3>[0-5]\d)\b|(?P<noon>正午|\bnoon\b)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s?(?:to|and|or|-|–|~|±|から|、|・|/|,)\s?", re.IGNORECASE)
_JOINED_TIMES = re.compile(r"\s?(?:and\s)?", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|some|circa|close to|rund|etwa"
    r"|environ|"
    r"well over|just over|just under)|約|およそ|ほぼ|大体|~)\s?(?:a\s|the\s)?$",
    re.IGNORECASE,
)
_ABOUT_AFTER = re.compile(r"\s?(?:余り|あまり|ほど|程度|前後|近く|弱|強|or so\b)")
_AT_LEAST = re.compile(
    r"(?:\b(?:more than|over|at least|above|exceeding|exceeds?|upwards of|mehr als|über"
    r"|plus de))\s$",
    re.IGNORECASE,
)
_AT_LEAST_AFTER = re.compile(r"\S{0,3}(?:以上|超|を超え|を上回)")
_AT_MOST = re.compile(
    r"(?:\b(?:less than|fewer than|under|below|at most|up to|no more than|not more than"
    r"|weniger als|"
    r"moins de|within))\s$",
    re.IGNORECASE,
)
_AT_MOST_AFTER = re.compile(r"\S{0,3}(?:以下|未満|以内|まで|を下回)")
_PER = re.compile(
    r"\s?(?:(?:a|an|per|each|every|/|pro|je|par)\s?(year|month|week|day|hour|minute|quarter|share|acre"
    r"|tonne|head|night|Jahr|Monat|Tag|Aktie)\b|(annually|yearly|monthly|weekly|daily|hourly)\b)",
    re.IGNORECASE,
)
_PERIODS = {
    "annually": "year", "yearly": "year", "monthly": "month", "weekly": "week", "daily": "day",
    "hourly": "hour", "jahr": "year", "monat": "month", "tag": "day", "aktie": "share",
    "年": "year", "月": "month", "週": "week", "日": "day",
}  # fmt: skip
_JA_PER = re.compile(r"(?<![\d第])(?:1|毎)?([年月週日])(?:額|間)?(?:につき|に)?約?$")
_NEXT_WORD = re.compile(r"[\s-]([^\W\d_]{2,40})")
_REACH = 24


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a text and what it measures.

    Attributes:
        start, end: span in the text it was found in, unit and sign included.
        text: these characters.
        dimension: as of its unit; ``""``: not known.
        readings: its value in base units of the dimension, without sign; more than one where
            the form leaves it open ("1.234", "9:30" of morning or evening).
        step: base units of its last digit that counts.
        digits: how many digits count.
        raw: the number as it stands, without scale and unit.
        negative: whether a sign or brackets make it less than zero.
        scaled: whether a word of scale or a unit other than the base unit stands with it.
        bound: ``""``, ``"about"``, ``"least"`` or ``"most"``, from the words around it.
        spelled: whether it stands in words, or as a share in words ("half").
        per: what it is counted by ("£310,000 a year" → ``year``); ``""``: it is not said.
        noun: the word that follows it, where it has no unit.
    """

    start: int
    end: int
    text: str
    dimension: str
    readings: tuple[Fraction, ...]
    step: Fraction
    digits: int
    raw: Fraction
    negative: bool = False
    scaled: bool = False
    bound: str = ""
    spelled: bool = False
    per: str = ""
    noun: str = ""

    @property
    def value(self) -> Fraction:
        """The first reading."""
        return self.readings[0]

    @property
    def signed(self) -> Fraction:
        """The first reading with its sign."""
        return -self.value if self.negative else self.value


def prepared(text: str) -> str:
    """Return a text in the form that is looked at: NFKC, kanji numerals as digits, unwrapped.

    A line break inside Japanese, also between two digits of a number, is no part of it.
    """
    plain = unicodedata.normalize("NFKC", text)
    if not _HAS_CJK.search(plain):
        return plain
    plain = _WRAPPED_DIGITS.sub("", _WRAPPED.sub("", plain))
    return _KANJI_NUMBER.sub(lambda match: str(kanji_value(match[0])), plain)


def kanji_value(numeral: str) -> int:
    """Return the value of a numeral below 10,000: 二百五 → 205, 二〇二四 → 2024."""
    if not any(mark in numeral for mark in _KANJI_TENS):
        return int("".join(str(_KANJI_DIGITS[mark]) for mark in numeral))
    total = digit = 0
    for mark in numeral:
        if mark in _KANJI_TENS:
            total += (digit or 1) * _KANJI_TENS[mark]
            digit = 0
        else:
            digit = _KANJI_DIGITS[mark]
    return total + digit


def quantities(text: str, *, row: bool = False) -> list[Quantity]:
    """Return the quantities of a prepared text, in reading order, none within another.

    Args:
        text: as :func:`prepared` returns it; dates and identifiers blanked out.
        row: whether it is a row of a table: white space then parts numbers.
    """
    found = _disjoint([*_times(text), *_spelled(text), *_shares(text), *_numerals(text, row=row)])
    return list(_joined_durations(text, found if row else _ranges(text, found)))


def _numerals(text: str, *, row: bool) -> Iterator[Quantity]:
    pattern = _ROW_NUMBER if row else _NUMBER
    at = 0
    while match := pattern.search(text, at):
        found = _numeral(text, match)
        at = max(match.end(), found.end if found else 0)
        if found is not None:
            yield found


def _disjoint(found: Iterable[Quantity]) -> list[Quantity]:
    """Return those that overlap no earlier one of the list, in reading order."""
    taken: set[int] = set()
    kept: list[Quantity] = []
    for one in found:
        places = range(one.start, one.end)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def same(said: Quantity, there: Quantity) -> bool:
    """Tell whether what is said is what stands there: equal, rounded, or the bound of it."""
    if not comparable(said.dimension, there.dimension) or _at_odds(said, there):
        return False
    pairs = [(one, other) for one in said.readings for other in there.readings]
    if any(one == other for one, other in pairs):
        return True
    return any(
        _rounds(said, one, other, there.step) or _bounds(said, one, other) for one, other in pairs
    )


def _at_odds(said: Quantity, there: Quantity) -> bool:
    """Tell whether two numbers differ in what stands around them: a month, a year; above, below."""
    if said.per and there.per and said.per != there.per:
        return True
    return {said.bound, there.bound} == {"least", "most"}


def near(said: Quantity, value: Fraction) -> bool:
    """Tell whether a computed value is what is said, at the precision it is said with."""
    return any(
        one == value or abs(one - value) <= said.step / 2 or _bounds(said, one, value)
        for one in said.readings
    ) and (said.digits > 1 or abs(said.value - value) <= MAX_ROUNDING_SHARE * abs(value))


def _rounds(said: Quantity, one: Fraction, other: Fraction, exactness: Fraction) -> bool:
    step = _step(said, one)
    if step <= exactness or (said.digits < 2 and not said.bound):
        return False
    off = abs(one - other)
    if said.bound and said.digits < 2:
        return off <= MAX_ROUNDING_SHARE * other
    return off <= step / 2


def _step(said: Quantity, value: Fraction) -> Fraction:
    """Return the step that a number is rounded to: "about 187,000" to thousands."""
    step = said.step
    while said.bound and value and value % (step * 10) == 0:
        step *= 10
    return step


def _bounds(said: Quantity, one: Fraction, other: Fraction) -> bool:
    slack = MAX_BOUND_SHARE * abs(other)
    if said.bound == "least":
        return one <= other <= one + slack
    if said.bound == "most":
        return one - slack <= other <= one
    return False


def _numeral(text: str, match: re.Match[str]) -> Quantity | None:
    """Return the quantity that begins with some digits, read on to scale and unit."""
    end = match.end()
    if _ORDINAL.match(text, end):
        return None
    prefix = match["prefix"] or ""
    unit = PREFIXES.get(prefix.strip(" -−("), NO_UNIT)
    compound = _japanese(text, match.start("digits"))
    if compound is not None:
        raw, scale, step, end = compound
        readings: tuple[Fraction, ...] = (raw * scale,)
        digits = _significant(match["digits"])
    else:
        readings, step, digits = _read(match["digits"])
        raw = readings[0]
        scale, end = _scale(text, end, money=unit.dimension in MONEY)
        step *= scale
        readings = tuple(value * scale for value in readings)
    if unit is NO_UNIT:
        unit, end = _unit(text, end)
    elif after := _UNIT.match(text, end):
        # "$24 cents": the sign and the word agree on money.
        named = unit_named(after[0].strip(" -("))
        end = after.end() if named is not None and named.dimension in MONEY else end
    negative = bool(match["sign"]) or prefix.rstrip().endswith(("-", "−"))
    closed = _CLOSE.match(text, end)
    bracketed = bool(match["open"]) or prefix.rstrip().endswith("(")
    if bracketed and closed is not None:
        # Brackets around a number alone are a sign; "(2024: £6.9 million)" are none.
        negative, end = True, closed.end()
    start = match.start()
    if match["open"] and closed is None:
        start = match.end("open")
    return Quantity(
        start, end, text[start:end].strip(), unit.dimension,
        tuple(value * unit.factor for value in readings), step * unit.factor, digits, raw,
        negative=negative, scaled=scale != 1 or unit.factor != 1,
        bound=_bound(text, start, end), per=_per(text, start, end),
        noun="" if unit.dimension else _noun(text, end),
    )  # fmt: skip


def _per(text: str, start: int, end: int) -> str:
    after = _PER.match(text, end)
    if after is not None:
        word = str(next(filter(None, after.groups()))).casefold()
        return _PERIODS.get(word, word)
    before = _JA_PER.search(text[max(0, start - _REACH) : start])
    return _PERIODS[before[1]] if before is not None else ""


def _noun(text: str, end: int) -> str:
    word = _NEXT_WORD.match(text, end)
    return word[1].casefold().rstrip("s") if word is not None else ""


def _read(digits: str) -> tuple[tuple[Fraction, ...], Fraction, int]:
    """Return the values that digits may have, the step of the last one, how many count."""
    plain = re_separators(digits)
    values = tuple(dict.fromkeys(Fraction(one) for one in plain))
    fraction = plain[0].partition(".")[2]
    return values, Fraction(1, 10 ** len(fraction)), _significant(plain[0])


def re_separators(digits: str) -> list[str]:
    """Return a numeral with a decimal point and nothing else: the readings it may have."""
    for space in " \u00a0\u2009\u202f'’":
        digits = digits.replace(space, "")
    commas, dots = digits.count(","), digits.count(".")
    if commas and dots:
        decimal = max(",.", key=digits.rfind)
        other = "," if decimal == "." else "."
        return [digits.replace(other, "").replace(decimal, ".")]
    mark = "," if commas else "."
    if not commas + dots:
        return [digits]
    grouped = digits.replace(mark, "")
    whole, _, last = digits.partition(mark)
    if commas + dots > 1:
        return [grouped]
    thousands = len(last) == 3 and 0 < len(whole) <= 3 and whole != "0"
    point = f"{whole}.{last}"
    if mark == ",":
        return [grouped] if thousands else [point]
    return [point, grouped] if thousands else [point]


def _significant(digits: str) -> int:
    plain = digits.replace(",", "").replace(".", "").strip("0")
    return max(len(plain), 1)


def _japanese(text: str, start: int) -> tuple[Fraction, int, Fraction, int] | None:
    """Return the value of 「385億4,200万」 as (value, 1, step, end); ``None``: it is no such."""
    value, step, at = Fraction(0), Fraction(1), start
    while part := _JA_PART.match(text, at):
        scale = SCALES["千" if part[2] == "千" else part[2]] if part[2] in SCALES else 100
        number = part[1].replace(",", "")
        value += Fraction(number) * scale
        step = Fraction(scale, 10 ** len(number.partition(".")[2]))
        at = part.end()
    if at == start:
        return None
    end = at
    if (last := _LAST_PART.match(text, at)) is not None and at == len(text[:at].rstrip()):
        value += Fraction(last[0].replace(",", "").rstrip(",") or "0")
        step, end = Fraction(1), last.end()
    return value, 1, step, len(text[:end].rstrip()) if end == at else end


def _scale(text: str, end: int, *, money: bool) -> tuple[int, int]:
    scale = 1
    for _ in range(2):
        match = _SCALE.match(text, end)
        if match is None:
            break
        scale *= SCALES[match[0].strip(" -.\n\u00a0").casefold()]
        end = match.end() - (1 if match[0].endswith(".") else 0)
    if scale == 1:
        match = _SHORT_SCALE.match(text, end) if money else _KILO.match(text, end)
        if match is not None:
            return SHORT_SCALES[match[0].strip().casefold()], match.end()
    return scale, end


def _unit(text: str, end: int) -> tuple[MeasureUnit, int]:
    match = _UNIT.match(text, end)
    named = unit_named(match[0].strip(" -(\n\u00a0")) if match is not None else None
    if match is None or named is None:
        return NO_UNIT, end
    return named, match.end()


def _bound(text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    if _AT_LEAST.search(before) or _AT_LEAST_AFTER.match(after):
        return "least"
    if _AT_MOST.search(before) or _AT_MOST_AFTER.match(after):
        return "most"
    return "about" if _ABOUT.search(before) or _ABOUT_AFTER.match(after) else ""


def _times(text: str) -> Iterator[Quantity]:
    """Yield times of day, in minutes after midnight."""
    for match in _TIME.finditer(text):
        half = (match["half"] or match["half2"] or "").casefold()
        hour = 12 if match["noon"] else int(match["hour"] or match["hour2"] or match["hour3"])
        minute = 30 if match["thirty"] else int(
            match["minute"] or match["minute2"] or match["minute3"] or 0
        )  # fmt: skip
        if hour > 24 or minute > 59:
            continue
        minutes = hour % 24 * 60 + minute
        if half in ("午後", "p") and hour < 12:
            minutes += 720
        elif half in ("午前", "a") and hour == 12:
            minutes -= 720
        open_half = not half and not match["noon"] and not match["hour3"] and 0 < hour < 12
        readings = (minutes, minutes + 720) if open_half else (minutes,)
        yield _whole(match, CLOCK, tuple(map(Fraction, readings)))


def _shares(text: str) -> Iterator[Quantity]:
    """Yield shares of ten and fractions: 3割5分, 10分の1, a quarter."""
    for match in _WARI_BU.finditer(text):
        yield _whole(match, PERCENT, (Fraction(int(match[1]) * 10 + int(match[2])),))
    for match in _FRACTION.finditer(text):
        if int(match[1]):
            yield _whole(match, PERCENT, (Fraction(100 * int(match[2]), int(match[1])),))
    for match in _SHARE_WORD.finditer(text):
        value = Fraction(_SHARE_WORDS[match[0].casefold().replace("-", " ")])
        yield replace(_whole(match, PERCENT, (value,)), spelled=True)


def _whole(match: re.Match[str], dimension: str, values: tuple[Fraction, ...]) -> Quantity:
    start, end = match.span()
    return Quantity(
        start, end, match[0].strip(), dimension, values, Fraction(0), 3, values[0], scaled=True
    )


def _spelled(text: str) -> Iterator[Quantity]:
    """Yield numbers in English words: "forty-one", "two and a half years", "a hundred"."""
    for match in _NUMBER_WORD.finditer(text):
        words = match[0].casefold().removesuffix(" and a half").replace("-", " ").split()
        values = [_WORD_VALUES[word] for word in words if word in _WORD_VALUES]
        total = Fraction(sum(values)) if values else Fraction(1)
        if match["half"]:
            total += Fraction(1, 2)
        end = match.end()
        if words[-1] == "a":
            end -= 1
        dozen = _DOZEN.match(text, end)
        scale, end = (12, dozen.end()) if dozen else _scale(text, end, money=False)
        if not values and scale == 1:
            continue
        unit, end = _unit(text, end)
        value = total * scale
        yield Quantity(
            match.start(), end, text[match.start() : end], unit.dimension,
            (value * unit.factor,), unit.factor * scale, _significant(str(int(total))), value,
            scaled=unit.factor != 1, bound=_bound(text, match.start(), end), spelled=True,
        )  # fmt: skip


def _ranges(text: str, found: Sequence[Quantity]) -> list[Quantity]:
    """Give the first number of "24 to 31 hours" the unit of the second."""
    made = list(found)
    for n in range(len(made) - 2, -1, -1):
        one, after = made[n], made[n + 1]
        if one.dimension or not after.dimension or after.dimension == CLOCK:
            continue
        if _BETWEEN.fullmatch(text, one.end, after.start) is None:
            continue
        factor = _factor(after)
        values = tuple(dict.fromkeys(value * factor for value in one.readings))
        made[n] = replace(one, dimension=after.dimension, readings=values, step=one.step * factor)
    return made


def _joined_durations(text: str, found: Sequence[Quantity]) -> Iterator[Quantity]:
    """Yield the quantities, the parts of "7 hours 45 minutes" as one."""
    held: Quantity | None = None
    for one in found:
        if held is not None and _goes_on(text, held, one):
            value = held.value + one.value
            held = replace(
                held, end=one.end, text=text[held.start : one.end], readings=(value,),
                step=one.step, digits=max(held.digits, 2), raw=value,
            )  # fmt: skip
            continue
        if held is not None:
            yield held
        held = one
    if held is not None:
        yield held


def _goes_on(text: str, held: Quantity, one: Quantity) -> bool:
    return (
        held.dimension == one.dimension == SECONDS
        and _factor(one) < _factor(held) <= MAX_JOINED_SECONDS
        and _JOINED_TIMES.fullmatch(text, held.end, one.start) is not None
    )


def _factor(one: Quantity) -> Fraction:
    """Return base units in the unit that a quantity is written in."""
    return one.value / one.raw if one.raw else Fraction(1)
