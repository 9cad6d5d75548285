"""Whether what a statement denies is denied in the evidence, and the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.text import script_of
from rag_app.answer.written.evidence_shares import MIN_NEARER_SHARE
from rag_app.answer.written.findings import Check
from rag_app.answer.written.places import cut
from rag_app.answer.written.segments import pieces_of, words_of
from rag_app.answer.written.wording import condition, denials, denies, directions, is_exception

MIN_DENIED_SHARE = 0.5
MIN_DENYING_SHARE = 0.75


class DenialCheck(Check):
    """Compares denials and conditions of a statement with those of its evidence."""

    def denials(self) -> None:
        """Note a denial that the evidence does not make, and one that it makes alone."""
        text = self._claim.prepared
        there = [f"{place.unit.text} {place.unit.reply}" for place in self._found.chosen]
        if not there:
            return
        if denies(text):
            self._denial_there(text, there)
            return
        if any(denies(place.unit.reply) for place in self._found.chosen):
            self._found.problem("the next sentence of what it cites denies it")
        if self._places.foreign:
            return
        for piece in pieces_of(text):
            if (denied := self._denied_there(piece)) is not None:
                self._found.problem(f"what it cites denies it: “{cut(denied)}”")

    def _denial_there(self, text: str, there: Sequence[str]) -> None:
        """Check that what the statement denies is denied where its words stand."""
        zero = any(
            quantity.value == 0
            for place in self._found.chosen
            for segment in place.unit.segments
            for quantity in segment.quantities
        )
        if not zero and not any(denies(one) or 0 in directions(one) for one in there):
            self._found.problem("it denies something that what it cites does not deny")
            return
        if self._places.foreign or zero:
            return
        for piece in pieces_of(text):
            words = words_of(piece) & self._claim.words
            if not denies(piece) or len(words) < 2:
                continue
            near, stretch = max(
                (
                    (self._claim.share(words, words_of(one)), one)
                    for unit in there
                    for one in pieces_of(unit)
                ),
                default=(0.0, ""),
            )
            says_same = denies(stretch) or 0 in directions(stretch)
            if near >= MIN_DENYING_SHARE and not says_same:
                self._found.problem(f"it denies what stands there: “{cut(stretch)}”")

    def _denied_there(self, piece: str) -> str | None:
        """Return the stretch of the evidence that a part of the statement contradicts."""
        words = words_of(piece) & self._claim.words
        if not words:
            return None
        stretches = [one for place in self._found.chosen for one in pieces_of(place.unit.text)]
        shares = [self._claim.share(words, words_of(one)) for one in stretches]
        least = max(MIN_DENIED_SHARE, max(shares, default=0.0))
        for there, near in zip(stretches, shares, strict=True):
            own = words_of(there)
            alike = near >= least and len(own & words) > 1
            if (alike or (own and own <= words)) and _contradicts(there, piece):
                return there
        return None

    def conditions(self) -> None:
        """Note an exception of the evidence that the statement leaves out."""
        if not self._found.chosen:
            return
        words = self._claim.words
        best = max(self._found.chosen, key=lambda place: self._claim.share(words, place.unit.words))
        left_out = condition(best.unit.text) if is_exception(best.unit.text) else ""
        if left_out and self._claim.share(words_of(left_out), words) < MIN_NEARER_SHARE:
            self._found.problem(f"a condition is left out: “{cut(left_out)}”")


def _contradicts(there: str, said: str) -> bool:
    """Tell whether a stretch denies what is said without a denial."""
    stems = words_of(said)
    japanese = script_of(there) == "cjk"
    for denial in denials(there):
        if denial.restriction:
            continue
        if japanese or words_of(denial.after) & stems:
            return True
    return False
