"""Passages that hold tables weigh more where a question asks for a quantity.

Prose repeats the words of such a question, a table prints the number beside one of them:
without this, the notes about an item stand before the statement that has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_app.retrieval.fusion import Fused
from rag_app.retrieval.rankings import View

# A passage of rows alone weighs half as much again ...
MAX_GAIN = 0.5
# ... and so does one that has this share of rows: a table has a heading and notes.
FULL_SHARE = 0.8


def row_factor(share: float) -> float:
    """Return by what a passage's score is multiplied, of which this share stands in rows."""
    return 1.0 + MAX_GAIN * min(1.0, share / FULL_SHARE)


def weigh_rows(fused: Sequence[Fused], owners: Mapping[str, View]) -> list[Fused]:
    """Return the fused list with the scores of passages multiplied by their factor, best first.

    Args:
        fused: scores of 0 or more.
        owners: the index that each passage is read from.
    """
    by_view: dict[View, list[str]] = {}
    for item in fused:
        by_view.setdefault(owners[item.key], []).append(item.key)
    shares: dict[str, float] = {}
    for view, keys in by_view.items():
        shares |= view.snapshot.row_shares(keys)
    if not shares:
        return list(fused)
    weighed = [_weighed(item, row_factor(shares.get(item.key, 0.0))) for item in fused]
    return sorted(weighed, key=lambda item: (-item.score, item.key))


def _weighed(item: Fused, factor: float) -> Fused:
    return item._replace(score=item.score * factor, factor=factor)
