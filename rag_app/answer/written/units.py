"""Units of measure and of money: what a word or sign after a number makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class MeasureUnit:
    """A unit in terms of the base unit of its dimension.

    Attributes:
        dimension: what is measured ("GBP", "percent", "seconds", "metres"); ``""``: not known.
        factor: base units in one of it.
    """

    dimension: str
    factor: Fraction


NO_UNIT = MeasureUnit("", Fraction(1))
# A hundredth of a currency that is not named.
CENT = "cent"
# A month is no fixed number of days: the two are compared only among themselves.
SECONDS, MONTHS, CLOCK = "seconds", "months", "clock"
PERCENT = "percent"
MONEY = frozenset(("GBP", "USD", "EUR", "JPY", "CNY", "CHF", "INR", "money", CENT))

_HOUR, _DAY = 3600, 86400
# dimension → {factor: names}; an upper-case name is one exactly so written ("MW", not "mw").
_NAMES: Mapping[str, Mapping[str, str]] = {
    PERCENT: {
        "1": "% percent per·cent pct percentage·point percentage·points percentage-point pp"
        " point-de-pourcentage Prozent Prozentpunkte Prozentpunkten pour·cent por·ciento"
        " パーセント ポイント パーセントポイント %ポイント",
        "1/100": "basis·point basis·points bp bps",
        "10": "割",
    },
    "GBP": {
        "1": "pound pounds pound·sterling pounds·sterling sterling GBP Pfund livres ポンド",
        "1/100": "p penny pence ペンス",
    },
    "USD": {
        "1": "dollar dollars us·dollar us·dollars USD US$ Dollar dollars·américains ドル 米ドル",
    },
    CENT: {"1/100": "cent cents ¢ セント"},
    "EUR": {"1": "euro euros EUR Euro ユーロ"},
    "JPY": {"1": "yen JPY Yen 円"},
    "CNY": {"1": "yuan renminbi RMB CNY 元 人民元"},
    "CHF": {"1": "franc francs CHF Franken スイスフラン"},
    "INR": {"1": "rupee rupees INR ルピー"},
    SECONDS: {
        "1": "second seconds sec secs s Sekunde Sekunden 秒 秒間",
        "60": "minute minutes min mins Minute Minuten 分 分間",
        str(_HOUR): "hour hours hr hrs h Stunde Stunden heure heures hora horas 時間",
        str(_DAY): "day days Tag Tage Tagen jour jours día días 日 日間 日分",
        str(7 * _DAY): "week weeks Woche Wochen semaine semaines semana semanas 週 週間",
    },
    MONTHS: {
        "1": "month months Monat Monate Monaten mois meses"
        " か月 ヶ月 カ月 ヵ月 ケ月 箇月 か月間 ヶ月間 カ月間 ヵ月間 ケ月間 箇月間",
        "3": "quarters Quartale 四半期",
        "12": "year years yr yrs Jahr Jahre Jahren ans année années año años 年 年間 カ年 "
        "か年 年度分",
    },
    "times": {"1": "times x fold fois veces 倍"},
    "metres": {
        "1": "metre metres meter meters Meter Metern mètre mètres metro metros メートル m",
        "1/1000": "millimetre millimetres millimeter millimeters mm ミリメートル ミリ",
        "1/100": "centimetre centimetres centimeter centimeters cm センチメートル センチ",
        "1000": "kilometre kilometres kilometer kilometers km Kilometer キロメートル",
        "1609.344": "mile miles",
        "1852": "nautical·mile nautical·miles 海里",
        "0.3048": "foot feet ft",
        "0.0254": "inch inches",
    },
    "square metres": {
        "1": "square·metre square·metres square·meter square·meters sq·m m² m2 qm"
        " Quadratmeter 平方メートル ㎡",
        "10000": "hectare hectares ha Hektar ヘクタール",
        "4046.8564224": "acre acres エーカー",
        "1000000": "square·kilometre square·kilometres km² km2 平方キロメートル",
    },
    "litres": {
        "1": "litre litres liter liters l L Liter リットル",
        "1/1000": "millilitre millilitres milliliter milliliters ml mL ミリリットル",
        "1000": "cubic·metre cubic·metres cubic·meter cubic·meters m³ m3 立方メートル",
    },
    "grams": {
        "1": "gram grams gramme grammes g Gramm グラム",
        "1/1000000": "microgram micrograms µg μg マイクログラム",
        "1/1000": "milligram milligrams mg Milligramm ミリグラム",
        "1000": "kilogram kilograms kilogramme kilogrammes kg Kilogramm キログラム",
        "1000000": "tonne tonnes metric·ton metric·tons t ton tons Tonne Tonnen トン",
    },
    "watts": {
        "1": "watt watts W ワット",
        "1000": "kilowatt kilowatts kW キロワット",
        "1000000": "megawatt megawatts MW メガワット",
        "1000000000": "gigawatt gigawatts GW ギガワット",
    },
    "watt hours": {
        "1": "watt·hour watt·hours Wh",
        "1000": "kilowatt·hour kilowatt·hours kWh キロワット時",
        "1000000": "megawatt·hour megawatt·hours MWh メガワット時",
        "1000000000": "gigawatt·hour gigawatt·hours GWh ギガワット時",
    },
    "volts": {"1": "volt volts V Volt ボルト", "1000": "kV"},
    "amperes": {"1": "ampere amperes amp amps A アンペア", "1/1000": "mA"},
    "pascals": {
        "1": "pascal pascals Pa パスカル",
        "100": "hPa hectopascal hectopascals ヘクトパスカル",
        "1000": "kPa キロパスカル",
        "100000": "bar bars バール",
    },
    "degrees Celsius": {
        "1": "°c °C ℃ degrees·celsius degrees·Celsius degree·Celsius degrees·centigrade "
        "Grad·Celsius 度",
    },
    "knots": {"1": "knot knots ノット"},
    "people": {"1": "人 名"},
    "volumes": {"1": "冊"},
    "houses": {"1": "戸 世帯"},
    "flights": {"1": "便"},
    "companies": {"1": "社"},
    "cases": {"1": "件"},
    "occasions": {"1": "回 度目"},
    "points": {"1": "点"},
    "seats": {"1": "席"},
    "articles": {"1": "条"},
    "shares": {"1": "株"},
    "years of age": {"1": "歳 才"},
}  # fmt: skip
# What comes before a number.
PREFIXES: Mapping[str, MeasureUnit] = {
    "$": MeasureUnit("USD", Fraction(1)),
    "US$": MeasureUnit("USD", Fraction(1)),
    "A$": MeasureUnit("money", Fraction(1)),
    "C$": MeasureUnit("money", Fraction(1)),
    "HK$": MeasureUnit("money", Fraction(1)),
    "£": MeasureUnit("GBP", Fraction(1)),
    "€": MeasureUnit("EUR", Fraction(1)),
    "¥": MeasureUnit("JPY", Fraction(1)),
    "USD": MeasureUnit("USD", Fraction(1)),
    "GBP": MeasureUnit("GBP", Fraction(1)),
    "EUR": MeasureUnit("EUR", Fraction(1)),
    "JPY": MeasureUnit("JPY", Fraction(1)),
}
# Words of scale; those of one or two letters only after or before money.
_SCALE_NAMES = {
    10**2: "hundred hundreds",
    10**3: "thousand thousands tausend mille mil 千",
    10**4: "万 萬",
    10**5: "十万",
    10**6: "million millions mio millionen millón millones 百万",
    10**7: "千万",
    10**8: "億",
    10**9: "billion billions milliarde milliarden milliard milliards mrd 十億",
    10**10: "百億",
    10**11: "千億",
    10**12: "trillion trillions billionen 兆",
}
SCALES: Mapping[str, int] = {
    name: scale for scale, names in _SCALE_NAMES.items() for name in names.split()
}
SHORT_SCALES: Mapping[str, int] = {
    "k": 10**3, "m": 10**6, "mn": 10**6, "mm": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12,
}  # fmt: skip
_CJK_END = re.compile(r"[^\x00-\u2fff]$")


def _table() -> dict[str, MeasureUnit]:
    return {
        name.replace("·", " "): MeasureUnit(dimension, Fraction(factor))
        for dimension, by_factor in _NAMES.items()
        for factor, names in by_factor.items()
        for name in names.split()
    }


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern of these words, the longest first; white space in them may be any.

    A word that ends in a Latin letter must end there.
    """
    parts = []
    for word in sorted(words, key=lambda word: (-len(word), word)):
        pattern = re.escape(word).replace(r"\ ", r"[\s-]")
        parts.append(
            pattern if not word[-1].isalnum() or _CJK_END.search(word) else rf"{pattern}\b"
        )
    return "|".join(parts)


UNITS = _table()
_CASELESS = {name.casefold(): unit for name, unit in UNITS.items() if len(name) > 2}


def unit_named(name: str) -> MeasureUnit | None:
    """Return the unit of a name as it is written; ``None``: it is none."""
    plain = " ".join(name.replace("-", " ").split()) if len(name) > 2 else name
    return UNITS.get(plain) or UNITS.get(name) or _CASELESS.get(plain.casefold())


def comparable(one: str, other: str) -> bool:
    """Tell whether quantities of two dimensions can be compared at all."""
    if one == other or not one or not other:
        return True
    return CENT in (one, other) and one in MONEY and other in MONEY
