"""A passage as it was sent to the model, ready for statements to be compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pipelines.text import language_name, script_of
from rag_app.answer.written.dates import dates, weekdays
from rag_app.answer.written.evidence_units import EvidenceUnit, evidence_units
from rag_app.answer.written.names import tokens
from rag_app.answer.written.numerals import prepared
from rag_app.answer.written.segments import words_of
from rag_app.answer.written.squashing import squashed
from rag_app.passages import Sentence


@dataclass(frozen=True)
class SentPassage:
    """One passage as it was sent, ready to be compared with.

    Attributes:
        passage: its index.
        sentences: those that were sent.
        label: file, page and headings that stood with it.
    """

    passage: int
    sentences: Sequence[Sentence]
    label: str

    @cached_property
    def text(self) -> str:
        """All that was sent of it."""
        return "\n".join([self.label, *(sentence.text for sentence in self.sentences)])

    @cached_property
    def units(self) -> list[EvidenceUnit]:
        """Its sentences and rows, with the facts of each."""
        return evidence_units(self.sentences)

    @cached_property
    def squashed(self) -> str:
        """Its text without white space, case and marks of references."""
        return squashed(self.text)

    @cached_property
    def prepared(self) -> str:
        """Its text in the form that facts are read from."""
        return prepared(self.text)

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Its words in the form that names are compared in."""
        return frozenset(tokens(self.prepared))

    @cached_property
    def words(self) -> frozenset[str]:
        """All its content words."""
        return words_of(self.prepared)

    @cached_property
    def label_words(self) -> frozenset[str]:
        """The content words of its label."""
        return words_of(self.label)

    @cached_property
    def label_years(self) -> frozenset[int]:
        """The years in its label."""
        plain = prepared(self.label).replace("-", " ").replace("_", " ")
        return frozenset(date.year for date in dates(plain) if date.year is not None)

    @cached_property
    def weekdays(self) -> frozenset[int]:
        """The weekdays that it names."""
        return frozenset(day for _, day in weekdays(self.prepared))

    @cached_property
    def language(self) -> tuple[str, str]:
        """Its script, and a name of its language."""
        return script_of(self.text), language_name(self.text)
