"""Whether the dates and weekdays of a statement stand in the evidence, of the same thing."""

from __future__ import annotations

from rag_app.answer.written.dates import Date, dates, weekdays
from rag_app.answer.written.evidence_shares import MIN_NEARER_SHARE, MIN_NEARER_UNIT_SHARE
from rag_app.answer.written.findings import Check
from rag_app.answer.written.places import Place, shown
from rag_app.answer.written.segments import Clause


class DateCheck(Check):
    """Looks for each date where the evidence speaks of what the statement does."""

    def date(self, segment: Clause, said: Date) -> Place | None:
        """Return where a date stands; note one that does not, or not of this."""
        self._found.checked += 1
        found = [
            self._places.at(segment, place, None)
            for place in self._places.all
            if any(there.says(said) for there in place.segment.dates)
        ]
        if not found:
            if not self._dated_around(said):
                self._found.problem(f"{said.text} does not stand in what it cites")
            return None
        best = max(found, key=lambda place: place.near)
        if (
            not self._places.foreign
            and said.month is not None
            and self._other_date(segment, best, said)
        ):
            self._found.problem(f"{said.text} stands there for something else: {shown(best)}")
        return best

    def _dated_around(self, said: Date) -> bool:
        """Tell whether the heads, captions and the label of the sources give a date."""
        if said.month is None and any(said.year in one.label_years for one in self._places.sources):
            return True
        return any(
            there.says(said) for one in self._places.sources for there in dates(one.prepared)
        )

    def _other_date(self, segment: Clause, best: Place, said: Date) -> bool:
        keys = self._claim.weighted(segment.words & self._claim.words or self._claim.words)
        local = self._places.local(keys, best)
        whole = self._places.whole(keys, best)
        for place in self._places.all:
            others = [one for one in place.segment.dates if one.month is not None]
            if not others or place.segment is best.segment or any(o.says(said) for o in others):
                continue
            if any(one.says(other) for one in others for other in segment.dates):
                continue
            nearer = self._places.local(keys, place) - local
            same_unit = place.unit is best.unit
            if nearer >= MIN_NEARER_SHARE and (
                same_unit
                or self._places.whole(keys, place)
                >= max(whole + MIN_NEARER_SHARE, MIN_NEARER_UNIT_SHARE)
            ):
                return True
        return False

    def weekdays(self) -> None:
        """Note weekdays that the evidence does not name."""
        there = frozenset[int]().union(*(source.weekdays for source in self._places.sources))
        for word, day in weekdays(self._claim.prepared):
            self._found.checked += 1
            if day not in there:
                self._found.problem(f"{word} does not stand in what it cites")
