"""A text in segments, each with the facts that it states: a number and what it is said of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pipelines.text import content_words
from rag_app.answer.written import names as naming
from rag_app.answer.written.dates import Date, dates
from rag_app.answer.written.names import Name
from rag_app.answer.written.quantities import quantities
from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.wording import denies, directions, gains, without_directions

_BOUNDARY = re.compile(
    r"[;。!?](?=\s|$|[^\x00-\u2fff])|,(?!\d)|[、;]|\s[–—-]\s|[()]|(?<!\d):\s"
    r"|\s(?=(?:and|but|while|whereas|although|though|against|from|versus|which|who|und|et|y)\s)"
    r"|\s(?=compared\s(?:with|to)\s)|(?<=[^\x00-\u2fff]が)、?(?=[^\x00-\u2fff])(?<=ますが|ですが|したが)"
)
# Words of units and scales: the numbers say them.
_MEASURES_TEXT = (
    "per cent percent pct percentag point million billion thousand pound pound penc dollar "
    "euro yen year day week month hour minut mm cm km mg kg ml number amount"
)
_MEASURES = frozenset(_MEASURES_TEXT.split())
_STEM = re.compile(r"^([\u4e00-\u9fff])[\u3041-\u309f]$")
_INFLECTED = re.compile(r"[\u3041-\u309f]")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Clause:
    """A stretch of a text between commas, brackets and conjunctions.

    Attributes:
        text: as it is written; of a cell of a table, its row's label and its column's head.
        words: its content words, without numbers, units and words of direction.
        quantities, dates, names: what it states.
        directions: 1 a rise, -1 a fall, 0 no change.
        gains: 1 a profit, -1 a loss.
        denied: whether something is denied in it.
        around: words of the segment before, where it has none of its own but names.
    """

    text: str
    words: frozenset[str]
    quantities: tuple[Quantity, ...] = ()
    dates: tuple[Date, ...] = ()
    names: tuple[Name, ...] = ()
    directions: frozenset[int] = field(default=frozenset())
    gains: frozenset[int] = field(default=frozenset())
    denied: bool = False
    around: frozenset[str] = field(default=frozenset())

    @property
    def has_facts(self) -> bool:
        """Whether it states a number, a date or a name."""
        return bool(self.quantities or self.dates or self.names)


def words_of(text: str) -> frozenset[str]:
    """Return the content words of a text that say what it is about."""
    return frozenset(word_list(text))


def word_list(text: str) -> list[str]:
    """Return the same in their order, repetitions included.

    Of Japanese inflections nothing is kept: 持ち帰る and 持ち帰って are the same words.
    """
    words = (_STEM.sub(r"\1", word) for word in content_words(without_directions(text)))
    return [
        word
        for word in words
        if word not in _MEASURES and not _DIGIT.search(word) and not _INFLECTED.match(word)
    ]


def stems(words: Iterable[str]) -> frozenset[str]:
    """Return content words as :func:`words_of` returns them."""
    return frozenset(_STEM.sub(r"\1", word) for word in words)


def segments_of(text: str) -> list[Clause]:
    """Return the segments of a prepared text; one without facts belongs to the next one."""
    spans = spans_of(text)
    marked = dates(text)
    parts = list(naming.identifiers(text))
    known = [(one.start, one.end) for one in marked] + [(one.start, one.end) for one in parts]
    numbers = quantities(_blanked(text, known, "\u2007"))
    bare = _blanked(text, [*known, *((one.start, one.end) for one in numbers)], " ")
    named = [*parts, *naming.names(bare)]
    made = [
        _segment(
            text[start:end],
            words_of(bare[start:end]),
            [one for one in numbers if start <= one.start < end],
            [one for one in marked if start <= one.start < end],
            [one for one in named if start <= one.start < end],
        )
        for start, end in spans
    ]
    return list(_merged(made))


def spans_of(text: str) -> list[tuple[int, int]]:
    """Return the spans between boundaries, without those that hold no letter or digit."""
    spans, at = [], 0
    for match in _BOUNDARY.finditer(text):
        spans.append((at, match.start()))
        at = match.end()
    spans.append((at, len(text)))
    return [(start, end) for start, end in spans if any(c.isalnum() for c in text[start:end])]


def pieces_of(text: str) -> list[str]:
    """Return the stretches between boundaries as they stand."""
    return [text[start:end].strip() for start, end in spans_of(text)]


def _segment(
    text: str,
    words: frozenset[str],
    numbers: Sequence[Quantity],
    marked: Sequence[Date],
    named: Sequence[Name],
) -> Clause:
    return Clause(
        text.strip(), words, tuple(numbers), tuple(marked), tuple(named),
        directions(text), gains(text), denies(text),
    )  # fmt: skip


def _merged(segments: Iterable[Clause]) -> Iterable[Clause]:
    """Join what states no fact to what follows it, the last one to what stands before."""
    held: Clause | None = None
    made: list[Clause] = []
    for segment in segments:
        joined = segment if held is None else joined_segments(held, segment)
        held = None if segment.has_facts else joined
        if segment.has_facts:
            made.append(joined)
    if held is not None:
        made[-1:] = [joined_segments(made[-1], held)] if made else [held]
    return [_beside(made[n - 1] if n else None, one) for n, one in enumerate(made)]


def _beside(before: Clause | None, segment: Clause) -> Clause:
    """Return a segment that is a bare number or name with the words that it stands behind."""
    named = words_of(" ".join(token for name in segment.names for token in name.tokens))
    if before is None or segment.words - named:
        return segment
    return replace(segment, around=before.words)


def joined_segments(one: Clause, other: Clause) -> Clause:
    """Return two neighbouring segments as one."""
    return replace(
        one,
        text=f"{one.text}, {other.text}",
        words=one.words | other.words,
        quantities=one.quantities + other.quantities,
        dates=one.dates + other.dates,
        names=one.names + other.names,
        directions=one.directions | other.directions,
        gains=one.gains | other.gains,
        denied=one.denied or other.denied,
    )


def _blanked(text: str, spans: Iterable[tuple[int, int]], blank: str) -> str:
    """Return a text with something that is no number in place of what is read already."""
    kept, at = [], 0
    for start, end in sorted(spans):
        if start < at:
            continue
        kept += [text[at:start], blank * (end - start)]
        at = end
    return "".join([*kept, text[at:]])
