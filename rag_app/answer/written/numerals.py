"""Text in the form that numbers are read from: NFKC, kanji numerals as digits, unwrapped."""

from __future__ import annotations

import re
import unicodedata

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
