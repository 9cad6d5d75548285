"""Whether a statement is a sentence of the evidence with one word, or two numbers, exchanged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from rag_app.answer.written.findings import Check
from rag_app.answer.written.places import Place
from rag_app.answer.written.segments import word_list

MAX_ALIGNED_WORDS = 64
MIN_ALIGNED_SHARE = 0.6
MIN_STEM_CHARACTERS = 4
# "From 46 to 38" may be said from either end.
_MOVES = re.compile(r"\b(?:from|against|compared (?:with|to))\s(?=[£$€¥\d])|\dから")


class SubstitutionCheck(Check):
    """Aligns a statement with each unit that carries it."""

    def substitutions(self) -> None:
        """Find a word that stands in the place of another in an otherwise equal sentence."""
        said = word_list(self._claim.prepared)[:MAX_ALIGNED_WORDS]
        self._swaps(said)
        for place in self._found.chosen:
            there = word_list(place.unit.text)[:MAX_ALIGNED_WORDS]
            matcher = SequenceMatcher(None, said, there, autojunk=False)
            blocks = matcher.get_opcodes()
            equal = sum(b - a for kind, a, b, _, _ in blocks if kind == "equal")
            if equal < MIN_ALIGNED_SHARE * len(said):
                continue
            for kind, a, b, c, d in blocks:
                if kind == "replace" and b - a == d - c == 1:
                    self._substitution(said[a], there[c], place)

    def _substitution(self, word: str, instead_of: str, place: Place) -> None:
        elsewhere = word in place.source.words and word not in place.unit.words
        own = instead_of in self._claim.words
        if (
            elsewhere
            and not own
            and word.isascii()
            and not word.startswith(instead_of[:MIN_STEM_CHARACTERS])
        ):
            self._found.problem(f"“{word}” stands where what it cites has “{instead_of}”")

    def _swaps(self, said: Sequence[str]) -> None:
        """Find numbers of one kind in the other order, in an otherwise equal sentence."""
        order = [place for place in self._found.placed if place.quantity is not None]
        if _MOVES.search(self._claim.prepared):
            return
        for one, other in pairwise(order):
            mine, theirs = one.quantity, other.quantity
            if mine is None or theirs is None or one.unit is not other.unit or one.unit.is_row:
                continue
            alike = bool(mine.dimension) and mine.dimension == theirs.dimension
            if not alike or mine.start <= theirs.start:
                continue
            if _MOVES.search(one.unit.text) or mine.value == theirs.value:
                continue
            there = word_list(one.unit.text)[:MAX_ALIGNED_WORDS]
            matcher = SequenceMatcher(None, said, there, autojunk=False)
            equal = sum(block.size for block in matcher.get_matching_blocks())
            if equal >= MIN_ALIGNED_SHARE * len(said):
                self._found.problem(
                    f"{mine.text} and {theirs.text} stand there the other way round"
                )
