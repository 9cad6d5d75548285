"""What a caption or a head says of the unit of amounts."""

from __future__ import annotations

import re

_ENGLISH = re.compile(
    r"\(?(?:(?:u\.?s\.?\s)?(?:dollars|dollar amounts|amounts|figures|\$|€|£|usd|eur)"
    r"(?:\s(?:are|is|expressed|stated|shown))?\s)?"
    r"in\s(?:(?:u\.?s\.?|united states|canadian)\s)?(?:dollars?\sin\s)?"
    r"(?:thousands|millions|billions|dollars|\$|€|£)\b"
    r"(?:\sof\s(?:u\.?s\.?\s)?dollars)?(?:,?\s(?:except|unless)\b[a-z,’' -]{0,80})?\)?",
    re.IGNORECASE,
)
_SHORT = re.compile(
    r"\([a-z]{1,20}\sin\s(?:thousands|millions|billions)\)"
    r"|\((?:\$|€|£|usd|eur|us\$)?\s?(?:mm|mn|bn|millions?|thousands?|billions?)"
    r"(?:,?\s(?:except|unless)\b[a-z,’' -]{0,80})?\)",
    re.IGNORECASE,
)
_JAPANESE = re.compile(
    r"[(（](?:単位[:：]?)?(?:百万|千|十億|億|万)?(?:円|米ドル|ドル|株|人|名)[)）]"
    r"|単位[:：][^\s()（）]{1,12}"
)


def unit_in(text: str) -> str:
    """Return what a text says of units, without brackets; empty where it says nothing.

    >>> unit_in("Consolidated Balance Sheets (In millions, except per share amounts)")
    'In millions, except per share amounts'
    """
    for found in (
        _SHORT.search(text),
        _ENGLISH.search(text),
        _JAPANESE.search("".join(text.split())),
    ):
        if found is not None:
            return found.group().strip("()（） ")
    return ""


def is_note_of_units(text: str) -> bool:
    """Tell whether a text says little else than the unit."""
    return 2 * len(unit_in(text)) > len(text)
