"""Whether the names of a statement stand in the evidence, of the same thing."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.text import language_name, script_of
from rag_app.answer.written.evidence_shares import MIN_NEARER_SHARE
from rag_app.answer.written.findings import Check
from rag_app.answer.written.names import Name, stands_in
from rag_app.answer.written.places import Place, shown
from rag_app.answer.written.segments import Clause, words_of
from rag_app.answer.written.sent_passage import SentPassage

# So much of what is said must stand with another name.
MIN_NAMED_SHARE = 0.5


class NameCheck(Check):
    """Looks for each name where the evidence speaks of what the statement does."""

    def name(self, segment: Clause, said: Name) -> Place | None:
        """Return where a name stands; note one that does not, or not of this."""
        if not any(self._could_hold(source, said) for source in self._places.sources):
            return None
        self._found.checked += 1
        if not any(stands_in(said, one.tokens, one.prepared) for one in self._places.sources):
            # German writes all nouns like names.
            if not self._places.foreign or language_name(self._claim.text) != "German":
                self._found.problem(f"{said.text} does not stand in what it cites")
            return None
        found = [
            self._places.at(segment, place, None)
            for place in self._places.all
            if _is_named(place.segment, said)
        ]
        if not found:
            return None
        best = max(found, key=lambda place: place.near)
        if not self._places.foreign and self._other_name(segment, found, said):
            self._found.problem(f"{said.text} stands there for something else: {shown(best)}")
        return best

    def _could_hold(self, source: SentPassage, said: Name) -> bool:
        """Tell whether a source is in the letters of a name."""
        return source.language[0] == script_of(said.text) or said.text in source.prepared

    def _other_name(self, segment: Clause, found: Sequence[Place], said: Name) -> bool:
        """Tell whether what is said of a name is said there of another one."""
        if set(said.tokens) & self._claim.known_names:
            return False
        if any(set(said.tokens) <= source.label_words for source in self._places.sources):
            return False
        own = {token for name in segment.names for token in name.tokens}
        keys = self._claim.weighted(
            (segment.words & self._claim.words) - words_of(" ".join(said.tokens))
        )
        if not keys:
            return False
        local = max(self._places.local(keys, place) for place in found)
        return any(
            self._places.local(keys, place) - local >= MIN_NEARER_SHARE
            and self._places.local(keys, place) >= MIN_NAMED_SHARE
            for place in self._places.all
            if place.segment.names
            and not _is_named(place.segment, said)
            and any(set(name.tokens) - own for name in place.segment.names)
        )


def _is_named(segment: Clause, said: Name) -> bool:
    there = {token for name in segment.names for token in name.tokens}
    last = said.tokens[-1]
    return last in there or (len(said.tokens) == 1 and said.text in segment.text)
