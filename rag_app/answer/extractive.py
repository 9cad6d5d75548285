"""An answer without a language model: what of the ranked sentences and rows is shown, and how.

A row comes with the heading of its table and the heads of its columns, a sentence with the
neighbour that it needs. Only what is nearly as good as the best is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.splitting import Span
from pipelines.text import normalise
from rag_app.answer.ranking import RankedUnit
from rag_app.answer.units import Unit
from rag_app.answer.wording import AnswerKind, holds
from rag_app.passages import Passage, hull

# Share of the best one's odds below which a further sentence is beside the point.
MIN_ODDS_SHARE = 0.2
# Of passages that are shown where nothing answers the question.
MAX_CLOSEST_PASSAGES = 3
MAX_CLOSEST_LINES = 2
# Items of a list that come with the sentence that announces them.
MAX_ITEMS = 6

# What refers to the sentence before, and what announces the one after.
_REFERS_BACK = re.compile(
    r"(?:it|its|they|their|them|he|she|his|her|this|these|those|that|both|neither|such|the same"
    r"|the latter|the former|none of (?:them|these)|all of (?:them|these)|but|however|otherwise)\b"
    r"|(?:これ|それ|この|その|こうした|ただし|なお|また、|同社|同氏|前項|うち)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\bwhether\b|[?？]$|かどうか")
_ANNOUNCES = re.compile(r"(?::|：|次の(?:とおり|通り|書類|事項|こと).{0,24})$", re.DOTALL)
_PARAGRAPH = re.compile(r"[２-９2-9][\s\u3000]")
_ITEM = re.compile(
    r"[•‣▪●○◦■□◆◇・\-–*]\s|[(（]?[\d０-９a-zア-ン一二三四五六七八九十]{1,2}[)）.．]\s?"
)
# Kinds of things that a sentence has or has not: "Bulky waste is not free. It costs £6."
_FIGURES: frozenset[AnswerKind] = frozenset(("amount", "count", "duration", "measure", "time"))
_MIN_WORDS = 4
_MIN_CJK_CHARACTERS = 12
_MAX_GAP = 2
_OWN_MARK = re.compile(r"\s?\[\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\]")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_FIGURE = re.compile(r"[-–(▲△]?[$€£¥]?\d[\d,.]*%?\)?|[—–-]")


@dataclass(frozen=True, slots=True)
class Shown:
    """One statement of an extractive answer.

    Attributes:
        passage: index of the passage that it is from.
        text: as it is shown.
        quotes: the spans of the passage's text that it is made of, in reading order.
        also: further passages that say the same words, each with their place.
        section: the heading that it stands under (``""`` when unknown).
    """

    passage: int
    text: str
    quotes: tuple[Span, ...]
    also: tuple[tuple[int, Span], ...] = ()
    section: str = ""


def best_statements(
    ranked: Sequence[RankedUnit],
    units: Sequence[Unit],
    passages: Sequence[Passage],
    kind: AnswerKind,
    most: int,
) -> list[Shown]:
    """Return what answers, at most so many: passages by their best, statements in reading order.

    Args:
        ranked: sentences and rows, best first.
        units: all that the passages hold, in reading order.
        passages: what they stand in.
        kind: what is asked for.
        most: how many statements.
    """
    if not ranked:
        return []
    least = MIN_ODDS_SHARE * _odds(ranked[0].score)
    near = [one for one in ranked[:most] if _odds(one.score) >= least]
    order = list(dict.fromkeys(one.unit.sentence.passage for one in near))
    near.sort(key=lambda one: (order.index(one.unit.sentence.passage), one.unit.sentence.start))
    shown: list[Shown] = []
    for one in near:
        statement = _statement(one.unit, units, passages, kind)
        if not any(_inside(statement, other) for other in shown):
            shown = [other for other in shown if not _inside(other, statement)]
            shown.append(statement)
    return shown


def closest_lines(
    ranked: Sequence[RankedUnit],
    units: Sequence[Unit],
    passages: Sequence[Passage],
    kind: AnswerKind,
) -> list[list[Shown]]:
    """Return the best statements of the passages that have them, best first in both.

    Args:
        ranked: sentences and rows, best first.
        units: all that the passages hold, in reading order.
        passages: what they stand in.
        kind: what is asked for.
    """
    groups: dict[int, list[Shown]] = {}
    for one in ranked:
        group = groups.setdefault(one.unit.sentence.passage, [])
        if len(group) < MAX_CLOSEST_LINES:
            group.append(_statement(one.unit, units, passages, kind))
    return list(groups.values())[:MAX_CLOSEST_PASSAGES]


def _odds(score: float) -> float:
    return score / max(1 - score, 1e-9)


def _statement(
    unit: Unit, units: Sequence[Unit], passages: Sequence[Passage], kind: AnswerKind
) -> Shown:
    at = unit.sentence.passage
    text = passages[at].text
    quotes = (
        (*unit.heads, _span(unit))
        if unit.kind == "row"
        else _with_neighbours(unit, units, text, kind)
    )
    also = tuple(_elsewhere(unit, units, passages))
    return Shown(at, _shown(unit, quotes, text), quotes, also, unit.section)


def _with_neighbours(
    unit: Unit, units: Sequence[Unit], text: str, kind: AnswerKind
) -> tuple[Span, ...]:
    """Return the spans of a sentence and of the sentences that it needs."""
    at = units.index(unit)
    spans = [_span(unit)]
    words = unit.sentence.text
    following = _beside(units, at, 1, text)
    if following is not None and _goes_on(words, following.sentence.text, kind):
        spans.append(_span(following))
    spans += [_span(item) for item in _items(units, at, text)]
    before = _beside(units, at, -1, text)
    if before is not None and (_REFERS_BACK.match(words) or _is_short(words)):
        spans.append(_span(before))
    whole = hull(spans)
    opening = _opening(unit, units, at, text)
    return (whole,) if opening is None else (_span(opening), whole)


def _goes_on(words: str, following: str, kind: AnswerKind) -> bool:
    """Tell whether the sentence after one says what it leaves open."""
    if _ASKS.search(words) and _is_short(following):
        return True
    return kind in _FIGURES and not holds(kind, words) and holds(kind, following)


def _beside(units: Sequence[Unit], at: int, step: int, text: str) -> Unit | None:
    """Return the sentence before or after one in the same paragraph."""
    other = at + step
    if not 0 <= other < len(units) or units[other].kind != "sentence":
        return None
    if units[other].sentence.passage != units[at].sentence.passage:
        return None
    first, last = sorted((_span(units[at]), _span(units[other])))
    return None if text.count("\n", first[1], last[0]) >= _MAX_GAP else units[other]


def _items(units: Sequence[Unit], at: int, text: str) -> Iterator[Unit]:
    """Yield the items of a list that a sentence announces."""
    if not _ANNOUNCES.search(units[at].sentence.text):
        return
    for other in units[at + 1 : at + 1 + MAX_ITEMS]:
        same = other.sentence.passage == units[at].sentence.passage
        if not same or not _ITEM.match(other.sentence.text):
            return
        yield other


def _opening(unit: Unit, units: Sequence[Unit], at: int, text: str) -> Unit | None:
    """Return the first sentence of the article of which this is a later paragraph."""
    if not _PARAGRAPH.match(unit.sentence.text):
        return None
    first = None
    for other in reversed(units[:at]):
        if other.sentence.passage != unit.sentence.passage or other.kind != "sentence":
            break
        first = other
    return first


def _is_short(text: str) -> bool:
    if any("\u3040" <= char <= "\u9fff" for char in text):
        return len(text) < _MIN_CJK_CHARACTERS
    return len(text.split()) < _MIN_WORDS


def _shown(unit: Unit, quotes: Sequence[Span], text: str) -> str:
    parts = [text[start:end] for start, end in quotes]
    if unit.kind != "row":
        return _OWN_MARK.sub("", " … ".join(parts))
    heads = [" ".join(part.split()) for part in parts[:-1]]
    row = " ".join(parts[-1].split())
    paired = _paired(heads, row)
    return _OWN_MARK.sub("", ": ".join([*heads, row]) if paired is None else paired)


def _paired(heads: Sequence[str], row: str) -> str | None:
    """Return a row with the year of its column before each figure; None: they do not match."""
    columns = next((head for head in reversed(heads) if len(_YEAR.findall(head)) > 1), None)
    if columns is None:
        return None
    years = _YEAR.findall(columns)
    words = row.split()
    count = 0
    while count < len(words) and _FIGURE.fullmatch(words[-1 - count]):
        count += 1
    if count != len(years) or count == len(words):
        return None
    figures = " · ".join(f"{year} {word}" for year, word in zip(years, words[-count:], strict=True))
    unit = " ".join(_YEAR.sub(" ", columns).split())
    label = " ".join(words[:-count])
    others = [head for head in heads if head is not columns]
    return ": ".join([*others, f"{label} ({unit})" if unit else label, figures])


def _elsewhere(
    unit: Unit, units: Sequence[Unit], passages: Sequence[Passage]
) -> Iterator[tuple[int, Span]]:
    """Yield where another document says the same words."""
    words = normalise(unit.sentence.text)
    seen = {_document(passages[unit.sentence.passage])}
    for other in units:
        document = _document(passages[other.sentence.passage])
        if document not in seen and normalise(other.sentence.text) == words:
            seen.add(document)
            yield other.sentence.passage, _span(other)


def _document(passage: Passage) -> tuple[str, str]:
    return passage.origin, passage.document_id or passage.file


def _span(unit: Unit) -> Span:
    return unit.sentence.start, unit.sentence.end


def _inside(one: Shown, other: Shown) -> bool:
    """Tell whether a statement is part of another one that is shown."""
    return one.passage == other.passage and all(
        any(start >= first and end <= last for first, last in other.quotes)
        for start, end in one.quotes
    )
