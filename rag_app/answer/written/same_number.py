"""Whether a number that is said is one that stands in the evidence."""

from __future__ import annotations

from rag_app.answer.written.evidence_units import EvidenceUnit
from rag_app.answer.written.quantity import Quantity
from rag_app.answer.written.same_quantity import same
from rag_app.answer.written.units import CLOCK, MONEY, PERCENT
from rag_app.answer.written.wording import directions, gains


def stands(said: Quantity, there: Quantity, unit: EvidenceUnit | None) -> bool:
    """Tell whether a number is one that stands there."""
    if same(said, there) and (
        said.dimension == there.dimension or _may_lack_unit(said, there, unit)
    ):
        return (
            not said.negative
            or there.negative
            or unit is None
            or bool(gains(unit.text) | directions(unit.text))
        )
    if not said.dimension:
        return not said.scaled and said.raw == there.raw and not said.bound
    measured = said.dimension not in MONEY and said.dimension not in (PERCENT, CLOCK)
    bare = not there.dimension and unit is not None and unit.is_row and not there.scaled
    # A cell without unit is in the one that its table names in words that are not read.
    return measured and bare and said.raw == there.raw


def _may_lack_unit(said: Quantity, there: Quantity, unit: EvidenceUnit | None) -> bool:
    """Tell whether one of two numbers may be without the unit of the other."""
    if not said.dimension or {said.dimension, there.dimension} <= MONEY:
        return True
    if there.dimension or said.dimension == CLOCK:
        return False
    if (
        unit is not None
        and not there.noun
        and any(
            one.dimension == said.dimension
            for segment in unit.segments
            for one in segment.quantities
        )
    ):
        return True
    return unit is None or unit.is_row or said.dimension in MONEY or said.dimension == PERCENT
