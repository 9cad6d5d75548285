"""The sentences and rows of a passage as evidence: a row with its heads, unit and scale."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_app.answer.written.dates import Date, dates
from rag_app.answer.written.names import Name, names
from rag_app.answer.written.numerals import prepared
from rag_app.answer.written.quantities import quantities
from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.segments import Clause, segments_of, words_of
from rag_app.answer.written.units import (
    NO_UNIT,
    PERCENT,
    PREFIXES,
    SCALES,
    MeasureUnit,
    unit_named,
)
from rag_app.answer.written.wording import denies, directions, gains
from rag_app.passages import Sentence

_CELL = (
    r"(?:\d{1,4}\sof\s\d{1,4}"
    r"|[$£€¥]?\s?[(\-−△▲]?\s?[$£€¥]?\s?\d[\d,]{0,24}(?:\.\d{1,9})?(?:\s?%)?\)?%?|[—–-]|n/?a)"
)
_ROW = re.compile(rf"(?P<label>.*?\S)(?P<cells>(?:[ \t\n]++{_CELL}){{1,24}}+)$", re.DOTALL)
_ENDS = re.compile(r"[.!?。!?][\"'”’」)]*$")
# The scale of a table's cells: "(in millions)", "£ thousand", "$m", 「単位：百万円」.
_SCALE_NOTE = re.compile(
    r"\b(?:in|amounts\sin)\s(?P<before>[$£€¥]|US\$)?\s?(?:(?P<of>thousands|millions|billions)\b)"
    r"|(?P<sign>US\$|[$£€¥])\s?(?:in\s)?(?P<short>thousands?|millions?|billions?|'000s?|000s?|m\b|bn\b|k\b)"
    r"|(?P<sign2>US\$|[$£€¥])['’]?(?P<zeros>000s?\b)"
    r"|単位[:：]?\s?(?P<ja>十?百?千?[万億兆千]?)(?P<jaunit>円|ドル|ユーロ|人|%|件|台|トン)",
    re.IGNORECASE,
)
_JA_SCALES = {
    "": 1,
    "千": 10**3,
    "万": 10**4,
    "百万": 10**6,
    "千万": 10**7,
    "億": 10**8,
    "十億": 10**9,
}
_UNSCALED = re.compile(
    r"per\s(?:\w+\s)?share|per\scent|percent|%|\bratio\b|\brate\b|\bshares\b|employees"
    r"|\bdays\b|number of"
    r"|1株|人数|人員|従業員|比率|率",
    re.IGNORECASE,
)
_CHANGES = re.compile(r"change|growth|increase|decrease|増減|伸び率|増加率|成長率", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[(（]([^()（）]{1,24})[)）]")
_PERCENT_END = re.compile(r"(?:%|\bper\s?cent|パーセント)\s?$", re.IGNORECASE)
_YEAR_CELL = re.compile(r"(?:19|20)\d{2}")
# Lines of a table of contents: their numbers are pages.
_LEADERS = re.compile(r"(?:\.\s?){4}|…{2}|・{4}")
_CAPTION = re.compile(
    r"[ \t]{0,8}(?:table|exhibit|schedule|tabelle|別?表)\s?[\dA-Z]", re.IGNORECASE
)
_TITLE = re.compile(rf"{_CAPTION.pattern}|{_SCALE_NOTE.pattern}", re.IGNORECASE)
_MAYBE_DATED = re.compile(
    r"(?:19|20)\d{2}|(?:January|February|March|April|May|June|July|August|September"
    r"|October|November|December|Dec|Jan|Sept?|Mar|Jun)\b"
)
_YEARS_ALONE = re.compile(r"\s?(?:(?:19|20)\d{2}\s?){1,12}")
_CONTINUES = re.compile(r"[a-z%(/&*]|of\b|in\b")
MAX_HEAD_WORDS = 24
MAX_HEAD_LINES = 6
MAX_SHOWN_HEADS = 4
MAX_REPLY_WORDS = 5


@dataclass(frozen=True)
class EvidenceUnit:
    """One sentence or row, with what is known of it from around it.

    Attributes:
        sentence: where it stands.
        text: in the form that is looked at.
        segments: what it states; of a row one for each cell.
        words: all its content words.
        context: content words of the lines that belong to it: caption and heads of a row,
            the sentence before, the heading.
        is_row: whether it is a row of a table.
        reply: a very short sentence after it, which says what of it holds: "It is not."
        heads: the lines above that a row is read with, caption first.
    """

    sentence: Sentence
    text: str
    segments: tuple[Clause, ...]
    words: frozenset[str]
    context: frozenset[str]
    is_row: bool = False
    reply: str = ""
    heads: tuple[Sentence, ...] = ()


@dataclass(frozen=True)
class _Column:
    text: str
    dates: tuple[Date, ...]

    @property
    def words(self) -> str:
        """Its text without its dates."""
        text = self.text
        for date in self.dates:
            text = text.replace(date.text, " ")
        return text


@dataclass(frozen=True)
class _Scale:
    """What a table's cells are in."""

    unit: MeasureUnit = NO_UNIT
    factor: int = 1


def evidence_units(sentences: Sequence[Sentence]) -> list[EvidenceUnit]:
    """Return the units of a passage's sentences, in order; each line is looked at once."""
    made = list(_UnitReader().units(sentences))
    following = [*made[1:], None][: len(made)]
    return [
        replace(unit, reply=after.text) if after is not None and _replies(after) else unit
        for unit, after in zip(made, following, strict=True)
    ]


def _replies(unit: EvidenceUnit) -> bool:
    """Tell whether a sentence says no more than yes or no to the one before it."""
    return not unit.is_row and not unit.words and len(unit.text.split()) <= MAX_REPLY_WORDS


class _UnitReader:
    """Reads a passage line by line and remembers the table that it is in."""

    def __init__(self) -> None:
        self._head: list[Sentence] = []
        self._lines: list[Sentence] = []
        self._scale = _Scale()
        self._columns: tuple[_Column, ...] = ()
        self._before: frozenset[str] = frozenset()

    def units(self, sentences: Sequence[Sentence]) -> Iterator[EvidenceUnit]:
        for sentence in _lines_apart(sentences):
            text = prepared(sentence.text)
            if _LEADERS.search(text):
                continue
            row = _ROW.match(text) if self._may_be_row(text) else None
            if row is not None and not self._is_head(text, row):
                self._take_lines()
                yield self._row(sentence, text, row)
                continue
            prose = _ENDS.search(text) is not None and len(text.split()) > MIN_PROSE_WORDS
            prose = prose or len(text.split()) > MAX_HEAD_WORDS or "。" in text
            if prose:
                self._end_table()
            else:
                self._lines = [*self._lines, sentence][-MAX_HEAD_LINES:]
            words = words_of(text)
            yield EvidenceUnit(sentence, text, tuple(segments_of(text)), words, self._before)
            self._before = words if prose else self._before | words

    def _may_be_row(self, text: str) -> bool:
        return len(text) < MAX_ROW_CHARACTERS and _ENDS.search(text) is None

    def _is_head(self, text: str, row: re.Match[str]) -> bool:
        """Tell whether the numbers of a line are all years or dates: the heads of columns."""
        spans = [(one.start, one.end) for one in dates(text) if one.year is not None]
        ends = (cell.end() - 1 for cell in _ONE_CELL.finditer(row["cells"]))
        cells = [row.start("cells") + end for end in ends]
        return len(text.split()) <= MAX_HEAD_WORDS and all(
            any(start <= cell < end for start, end in spans) for cell in cells
        )

    def _end_table(self) -> None:
        self._head, self._lines = [], []
        self._scale, self._columns = _Scale(), ()

    def _take_lines(self) -> None:
        """Make of the lines before a row the heads of a table, or of a part of it."""
        if not self._lines:
            return
        text = "\n".join(prepared(line.text) for line in self._lines)
        note = _SCALE_NOTE.search(text)
        dated = any(date.year is not None for date in dates(text))
        if note is not None or dated or not self._head or _CAPTION.match(text):
            # A part of a table has a heading of its own; the heads of the whole stay.
            self._head = self._lines
            self._scale = _scale_of(note) if note is not None else _Scale()
            self._columns = _columns(self._lines)
        else:
            self._head = [*self._head[:MAX_HEAD_LINES], self._lines[-1]]
        self._lines = []

    def _row(self, sentence: Sentence, text: str, match: re.Match[str]) -> EvidenceUnit:
        label = match["label"]
        cells = _ONE_CELL.findall(match["cells"])
        columns = _aligned(self._columns, len(cells))
        named = tuple(names(label))
        segments = []
        for place, cell in enumerate(cells):
            column = columns[place] if columns else _Column("", ())
            found = quantities(cell, row=True)
            if found:
                made = self._cell(label, named, found[0], column)
                segments.append(replace(made, quantities=(*made.quantities, *found[1:])))
        context = self._before.union(*(words_of(prepared(one.text)) for one in self._head))
        return EvidenceUnit(
            sentence, text, tuple(segments) or tuple(segments_of(text)), words_of(label), context,
            is_row=True, heads=tuple(_telling(self._head)),
        )  # fmt: skip

    def _cell(
        self, label: str, named: tuple[Name, ...], quantity: Quantity, column: _Column
    ) -> Clause:
        said = f"{label} {column.text}".strip()
        unit, factor = self._unit(label, column.text, quantity)
        scaled = replace(
            quantity,
            dimension=unit.dimension or quantity.dimension,
            readings=tuple(value * factor * unit.factor for value in quantity.readings),
            step=quantity.step * factor * unit.factor,
            scaled=factor != 1,
        )
        ways = directions(label) if not quantity.negative else frozenset((-1,))
        earned = gains(label)
        if quantity.negative and 1 in earned:
            earned = frozenset((-1,))
        changes = bool(_CHANGES.search(said))
        return Clause(
            f"{said} {quantity.text}",
            words_of(label) | words_of(column.words),
            (scaled, *quantities(label)),
            (*column.dates, *dates(label), *_years(quantity)),
            named,
            ways
            if changes or quantity.dimension == PERCENT or unit.dimension == PERCENT
            else frozenset(),
            earned,
            denies(label),
        )

    def _unit(self, label: str, head: str, quantity: Quantity) -> tuple[MeasureUnit, int]:
        """Return the unit and the scale of a cell."""
        for text in (head, label):
            named = unit_named("%") if _PERCENT_END.search(text) else None
            for match in _IN_BRACKETS.finditer(text):
                named = named or unit_named(match[1].strip())
            if named is not None:
                return (NO_UNIT if quantity.dimension else named), 1
        if quantity.dimension and quantity.dimension not in _MONEY_SIGNS:
            return NO_UNIT, 1
        if _UNSCALED.search(label) or _UNSCALED.search(head):
            return NO_UNIT, 1
        return (NO_UNIT if quantity.dimension else self._scale.unit), self._scale.factor


MIN_PROSE_WORDS = 6
MAX_ROW_CHARACTERS = 400
_MONEY_SIGNS = frozenset(unit.dimension for unit in PREFIXES.values())


def _telling(head: Sequence[Sentence]) -> list[Sentence]:
    """Return the lines of a head that name the table, its scale or its columns."""
    texts = [(line, prepared(line.text)) for line in head]
    found = [line for line, text in texts if _TITLE.search(text) or _MAYBE_DATED.search(text)]
    return (found or list(head[-1:]))[-MAX_SHOWN_HEADS:]


def _scale_of(note: re.Match[str]) -> _Scale:
    if note["jaunit"]:
        unit = unit_named(note["jaunit"]) or NO_UNIT
        return _Scale(unit, _JA_SCALES.get(note["ja"] or "", 1))
    sign = note["before"] or note["sign"] or note["sign2"] or ""
    word = (note["of"] or note["short"] or note["zeros"] or "").casefold().strip("'")
    scale = {"m": 10**6, "bn": 10**9, "k": 10**3, "000": 10**3, "000s": 10**3}.get(word)
    return _Scale(PREFIXES.get(sign.upper(), NO_UNIT), scale or SCALES.get(word, 1))


_ONE_CELL = re.compile(_CELL)


def _places(cells: str) -> list[int]:
    """Return where each cell begins."""
    return [match.start() for match in _ONE_CELL.finditer(cells)]


def _columns(lines: Sequence[Sentence]) -> tuple[_Column, ...]:
    """Return the columns that lines name: dates, or groups of words, in order."""
    texts = [text for line in lines for text in prepared(line.text).splitlines()]
    dated = [
        n for n, text in enumerate(texts) if _MAYBE_DATED.search(text) and not _TITLE.search(text)
    ]
    head = " ".join(texts[dated[0] : dated[-1] + 1]) if dated else texts[-1]
    marked = [date for date in dates(head) if date.year is not None]
    groups: list[str] = []
    at = 0
    for date in marked:
        groups += _groups(head[at : date.start])
        groups.append(head[date.start : date.end])
        at = date.end
    groups += _groups(head[at:])
    return tuple(_Column(group, tuple(dates(group))) for group in groups)


def _years(quantity: Quantity) -> tuple[Date, ...]:
    return tuple(dates(quantity.text)) if _YEAR_CELL.fullmatch(quantity.text) else ()


def _lines_apart(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences, those that hold several rows of a table row by row."""
    for sentence in sentences:
        lines = sentence.text.split("\n")
        ends = [len(lines) - 1] + [n for n, line in enumerate(lines) if _is_full_row(line)]
        if len(lines) < 2 or len(ends) < 2:
            yield sentence
            continue
        first, at = 0, sentence.start
        for end in sorted({*ends, *(n for n, line in enumerate(lines) if _is_head_line(line))}):
            text = "\n".join(lines[first : end + 1])
            if text.strip():
                yield replace(sentence, start=at, end=at + len(text), text=text)
            at += len(text) + 1
            first = end + 1


def _is_head_line(line: str) -> bool:
    """Tell whether a line names a table, its scale or the years of its columns, and no more."""
    plain = prepared(line)
    return _TITLE.search(plain) is not None or _YEARS_ALONE.fullmatch(plain) is not None


def _is_full_row(line: str) -> bool:
    match = _ROW.match(line) if len(line) < MAX_ROW_CHARACTERS else None
    return match is not None and len(_places(match["cells"])) > 1


def _groups(head: str) -> list[str]:
    """Return words that begin with a capital with those that do not behind them."""
    groups: list[str] = []
    for word in head.split():
        if groups and _CONTINUES.match(word):
            groups[-1] += f" {word}"
        else:
            groups.append(word)
    return groups


def _aligned(columns: tuple[_Column, ...], cells: int) -> tuple[_Column, ...]:
    """Return the columns of the cells; none where they cannot be told apart."""
    if not cells:
        return ()
    dated = tuple(column for column in columns if column.dates)
    for found in (columns, dated):
        if len(found) == cells:
            return found
    # The first head is that of the labels.
    if len(columns) == cells + 1 and not columns[0].dates:
        return columns[1:]
    last = columns[-cells:]
    return last if len(dated) >= 1 and len(last) == cells and set(dated) <= set(last) else ()
