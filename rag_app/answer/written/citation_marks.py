r"""The forms in which models cite a passage: found in a text, told from what only looks like one.

"[2]" was asked for. Models write as well 【2†source】, [^2], (2), (passage 2), [Passage #2],
[2, p. 4], <2>, 〔2〕, \\[2\\], [2](#2), lists and ranges, and a last line "Sources: [2]".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag_app.answer.written.squashing import squashed

MAX_MARK_CHARACTERS = 64
MAX_SOURCES_CHARACTERS = 2000
_MAX_RANGE = 20
# So much before a document's own mark tells it from one of ours.
_BEFORE_CHARACTERS = 24
_KEY_CHARACTERS = 8
_WORD = (
    r"(?:(?i:passages?|sources?|documents?|docs?|refs?|references?|citations?|chunks?|quellen?)"
    r"|出典|資料|文書|文献|引用|出所|パッセージ)"
)
_NUMBER = rf"(?:{_WORD}[.:]?\s?)?[#№]?\d{{1,3}}"
_SEPARATOR = r"\s?(?:[,，、;&–~-]|and|to|und|と)\s?"
_NUMBERS = rf"{_NUMBER}(?:{_SEPARATOR}{_NUMBER}){{0,12}}"
_PAGE = (
    r"(?:\s?†[^\]】\n]{0,40}"
    r"|\s?[,;:]\s?(?:(?i:pp?\.?|pages?|p[áa]g\.?|s\.|seite)|頁|ページ)\s?[\w–-]{1,12})?"
)
_LINK = r"(?:\((?:#[^()\s]{0,60}|https?://[^()\s]{1,200})?\))?"
_SQUARE = (
    rf"\\?[\[【［〔]\[?\s?\^?(?:(?i:see|cf\.?|from)\s)?{_NUMBERS}{_PAGE}\s?\\?[\]】］〕]\]?{_LINK}"
)
_ROUND = rf"[(（]\s?(?:(?i:see|cf\.?|from|in)\s)?{_WORD}[.:]?\s?[#№]?{_NUMBERS}{_PAGE}\s?[)）]"
_BARE_ROUND = r"[(（]\s?\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,8}\s?[)）]"
_ANGLE = rf"<(?:(?:sup|cite|ref)>\[?)?\s?{_NUMBERS}\s?(?:\]?</(?:sup|cite|ref))?>"
_RAISED = r"(?<=[.!?。”\"')\]])[¹²³⁴⁵⁶⁷⁸⁹]{1,2}"
_MARK = re.compile(
    rf"(?P<sure>{_SQUARE}|{_ROUND}|{_ANGLE}|{_RAISED})|(?P<bare>{_BARE_ROUND})"
    r"|(?P<word>\b(?i:passages?)\s#?\d{1,3}\b)"
)
_DIGITS = re.compile(r"\d{1,3}(?:\s?(?:[–~-]|to)\s?[#№]?\d{1,3})?")
_PAGE_PART = re.compile(
    r"†.*|[,;:]\s?(?:pp?\.?|pages?|p[áa]g\.?|s\.|seite|頁|ページ).*", re.IGNORECASE
)
_LINK_PART = re.compile(r"\((?:#|https?:)?[^()]*\)$")
_RAISED_DIGITS = str.maketrans("¹²³⁴⁵⁶⁷⁸⁹", "123456789")
# Before "(2)" these tell a number or a paragraph, no citation.
_NO_CITATION = re.compile(
    r"(?:^|\n)[ \t]{0,12}+(?:[-*•][ \t]{0,4}+)?$|\b(?:of|to|by|from|was|is|are|were|at|than"
    r"|and|or|the|section|rule|note|item"
    r"|article|clause|paragraph|figure|table|step|§)\s?$|[=+×$£€¥]\s?$|[条項号]$",
    re.IGNORECASE,
)
_AFTER_CITATION = re.compile(r"\s?(?:[.,;:!?。、．，]|$|\n|[\[(（【<])")
_OWN = re.compile(r"[\[［(（]\s?\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,8}\s?[\])］）]")
_OPENING = "[【［〔(（<\\"
_BEGUN = re.compile(
    r"(?:\\?[\[【［〔(（<]\[?\s?\^?(?:(?:sup|cite|ref)>\[?)?\s?(?:(?i:see|cf\.?|from|in)\s)?"
    r"(?:[A-Za-zÀ-ÿ\u3040-\u9fff]{0,12}[.:]?\s?[#№]?(?:\d[\w\s,，、;&–~#№.:†^-]{0,60})?)?"
    r"\\?(?:</?\w{0,4})?|\\)$"
)
_DONE = re.compile(
    rf"(?:{_SQUARE}|{_BARE_ROUND})\s?$|{_SQUARE.removesuffix(_LINK)}\([^()\s]{{0,200}}$"
)
_HALF_WORD = re.compile(r"\b(?i:p|pa|pas|pass|passa|passag|passages?)(?:\s#?\d{0,3})?$")
_SOURCES = re.compile(
    r"(?:\A|\n|(?<=[.!?。])[ \t]?)[ \t]*(?:[*_#>-]{1,4}[ \t]?)?(?:Sources?(?:\sused)?"
    r"|References?|Citations?|Quellen?|出典|参考文献|参照|引用元?|出所)"
    r"[*_]{0,3}\s?[:：][*_]{0,3}",
    re.IGNORECASE,
)
_MAYBE_SOURCES = re.compile(
    r"(?:\A|\n"
    r"|(?<=[.!?。])[ \t]?)[ \t]*(?:[*_#>-]{1,4}[ \t]?)?(?:[SRCQ][a-z]{0,9}(?:\sused?)?|出典?"
    r"|参考?文?献?|参照?|引用?元?|出所?)?[*_]{0,3}\s?$",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"\s*(?:[-*•]\s*)?(?:\[?\^?\[?\d{1,3}|[【［〔(（<]|passage|source)", re.IGNORECASE
)
_FOOTNOTES = re.compile(r"\n[ \t]*\[\^\d{1,3}\]:")
_NAMED_PART = re.compile(rf"{_WORD}|(?i:page|p\.|pdf|\band\b)|[\w.-]{{1,80}}\.pdf")
_LEAD = re.compile(
    r"\s*(?:according to|as (?:stated|shown|noted|described|reported) (?:in|by)|as per"
    r"|based on|per|in|from"
    r"|see|laut|gemäß|selon|según)\s*",
    re.IGNORECASE,
)
_AFTER_LEAD = re.compile(r"\s*(?:[,，、:]|によると|によれば|では|says|states)?[,、]?\s*")


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark in a text.

    Attributes:
        start, end: its span.
        numbers: that it names, in order, each once; none where it is the document's own.
    """

    start: int
    end: int
    numbers: tuple[int, ...]


class MarkReader:
    """Finds the marks of one answer.

    Args:
        count: passages that the model was given.
        texts: of these passages: their own reference marks are not the model's.
    """

    def __init__(self, count: int, texts: Iterable[str] = ()) -> None:
        self.count = count
        self._own = frozenset(key for text in texts for key in _own_marks(text))

    def find(self, text: str, start: int = 0) -> Iterator[Mark]:
        """Yield the marks of a text from a place on; a document's own one without numbers."""
        for match in _MARK.finditer(text, start):
            numbers = numbers_of(match[0])
            before = text[max(0, match.start() - _BEFORE_CHARACTERS) : match.start()]
            if self._own and _key(before, match[0]) in self._own:
                yield Mark(match.start(), match.end(), ())
            elif self._cites(match, numbers, before):
                yield Mark(match.start(), match.end(), tuple(numbers))

    def _cites(self, match: re.Match[str], numbers: Sequence[int], before: str) -> bool:
        if match["sure"]:
            return True
        if not all(1 <= number <= self.count for number in numbers):
            return False
        if match["word"]:
            return True
        return (
            _NO_CITATION.search(before if match.start() else "") is None
            and _AFTER_CITATION.match(match.string, match.end()) is not None
        )


def numbers_of(mark: str) -> list[int]:
    """Return the numbers that a mark names: "[1, 3-5]" → 1, 3, 4, 5; pages are none."""
    inner = _PAGE_PART.sub("", _LINK_PART.sub("", mark, count=1) or mark)
    numbers: list[int] = []
    for part in _DIGITS.findall(inner.translate(_RAISED_DIGITS)):
        ends = [int(digits) for digits in _INTEGERS.findall(part)]
        start, end = ends[0], ends[-1]
        is_range = start <= end < start + _MAX_RANGE
        numbers += range(start, end + 1) if is_range else [start, end]
    return list(dict.fromkeys(numbers))


_INTEGERS = re.compile(r"\d+")


def certain(text: str, start: int) -> int:
    """Return up to where no further text can make a mark, or a line of sources, of a text.

    Args:
        text: what is held, behind the end of what was shown.
        start: where what is held begins.
    """
    ready = len(text)
    least = max(start, len(text) - MAX_MARK_CHARACTERS)
    openings = {text.rfind(mark, least) for mark in _OPENING} - {-1}
    # The second half of "<sup>1</sup>" has a bracket of its own.
    openings |= {text.rfind("<", least, place) for place in openings if text[place] == "<"} - {-1}
    for opening in openings:
        first = opening
        while first > least and text[first - 1] in _OPENING:
            first -= 1
        if _BEGUN.match(text, first) or _DONE.match(text, first):
            ready = min(ready, first)
    for match in (_DONE.search(text, least), _HALF_WORD.search(text, least)):
        ready = min(ready, match.start()) if match else ready
    sources = _FOOTNOTES.search(text, start) or _SOURCES.search(text, start)
    sources = sources or _MAYBE_SOURCES.search(text, least)
    if sources is not None and len(text) - sources.start() < MAX_SOURCES_CHARACTERS:
        ready = min(ready, sources.start())
    return max(start, len(text[:ready].rstrip()))


def without_sources(text: str, reader: MarkReader) -> tuple[str, list[int]]:
    """Return a text without its last lines that only list sources, and the numbers in them."""
    if (notes := _FOOTNOTES.search(text)) is not None:
        text = text[: notes.start()].rstrip()
    heading = None
    for match in _SOURCES.finditer(text):
        heading = match
    if heading is None:
        return text, []
    entries = text[heading.end() :].split("\n")
    first, *rest = entries
    if len(text) - heading.start() >= MAX_SOURCES_CHARACTERS:
        return text, []
    if not _lists_only(first) or not all(_is_entry(line) for line in rest):
        return text, []
    listed = "\n".join(entries)
    numbers = [number for mark in reader.find(listed) for number in mark.numbers]
    numbers = numbers or [n for n in numbers_of(first) if 1 <= n <= reader.count]
    return text[: heading.start()].rstrip(), list(dict.fromkeys(numbers))


def without_lead(text: str, place: int) -> str:
    """Return a statement without what only leads to its mark: "According to [1], sales rose".

    Args:
        text: without its mark.
        place: where the mark stood.
    """
    leads = _LEAD.fullmatch(text, 0, place) or (not text[:place].strip() and place < len(text))
    after = _AFTER_LEAD.match(text, place)
    if not leads or after is None or after.end() == len(text):
        return text
    rest = text[after.end() :]
    return rest[:1].upper() + rest[1:]


def _lists_only(line: str) -> bool:
    plain = _NAMED_PART.sub("", _MARK.sub("", line))
    return not any(letter.isalpha() for letter in plain)


def _is_entry(line: str) -> bool:
    return not line.strip() or _ENTRY.match(line) is not None or _lists_only(line)


def _own_marks(text: str) -> Iterator[str]:
    for match in _OWN.finditer(text):
        before = text[max(0, match.start() - _BEFORE_CHARACTERS) : match.start()]
        if key := _key(before, match[0]):
            yield key


def _key(before: str, mark: str) -> str:
    """Return what a mark and the letters before it are; ``""`` where there are too few."""
    letters = squashed(before)[-_KEY_CHARACTERS:]
    return f"{letters} {numbers_of(mark)}" if len(letters) == _KEY_CHARACTERS else ""
