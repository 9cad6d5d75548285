"""A number of a text, and what it measures."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a text and what it measures.

    Attributes:
        start, end: span in the text it was found in, unit and sign included.
        text: these characters.
        dimension: as of its unit; ``""``: not known.
        readings: its value in base units of the dimension, without sign; more than one where
            the form leaves it open ("1.234", "9:30" of morning or evening).
        step: base units of its last digit that counts.
        digits: how many digits count.
        raw: the number as it stands, without scale and unit.
        negative: whether a sign or brackets make it less than zero.
        scaled: whether a word of scale or a unit other than the base unit stands with it.
        bound: ``""``, ``"about"``, ``"least"`` or ``"most"``, from the words around it.
        spelled: whether it stands in words, or as a share in words ("half").
        per: what it is counted by ("£310,000 a year" → ``year``); ``""``: it is not said.
        noun: the word that follows it, where it has no unit.
    """

    start: int
    end: int
    text: str
    dimension: str
    readings: tuple[Fraction, ...]
    step: Fraction
    digits: int
    raw: Fraction
    negative: bool = False
    scaled: bool = False
    bound: str = ""
    spelled: bool = False
    per: str = ""
    noun: str = ""

    @property
    def value(self) -> Fraction:
        """The first reading."""
        return self.readings[0]

    @property
    def signed(self) -> Fraction:
        """The first reading with its sign."""
        return -self.value if self.negative else self.value
