"""What the checks of one statement have found so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_app.answer.written.evidence_units import EvidenceUnit
from rag_app.answer.written.places import Place, Places
from rag_app.answer.written.segments import Clause
from rag_app.answer.written.sent_passage import SentPassage


@dataclass
class ClaimCheck:
    """What became of a statement.

    Attributes:
        problems: facts that do not stand in what it cites, in words for the reader.
        notes: what was computed, or could not be checked.
        evidence: units that carry it, by source.
        quoted: whether it stands there word for word.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    evidence: list[tuple[SentPassage, EvidenceUnit]] = field(default_factory=list)
    quoted: bool = False


@dataclass
class Findings:
    """What the checks of one statement share.

    Attributes:
        problems: facts that do not stand in the evidence, in words for the reader.
        notes: what was computed, or could not be checked.
        placed: where its facts stand.
        chosen: the units that carry it.
        checked: how many facts were looked for.
        computed_in: clauses with a number that was computed.
        quoted: whether it stands in the evidence word for word.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    placed: list[Place] = field(default_factory=list)
    chosen: list[Place] = field(default_factory=list)
    checked: int = 0
    computed_in: list[Clause] = field(default_factory=list)
    quoted: bool = False

    def problem(self, text: str) -> None:
        """Note a fact that does not stand in the evidence."""
        self.problems.append(text)

    def result(self) -> ClaimCheck:
        """Return what is told of the statement, each thing once."""
        return ClaimCheck(
            problems=list(dict.fromkeys(self.problems)),
            notes=list(dict.fromkeys(self.notes)),
            evidence=[(place.source, place.unit) for place in self.chosen],
            quoted=self.quoted,
        )


class Check:
    """One kind of check of a statement; what it finds, it notes in ``Findings``."""

    def __init__(self, places: Places, found: Findings) -> None:
        self._claim = places.claim
        self._places = places
        self._found = found
