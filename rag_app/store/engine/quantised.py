"""Quantised vectors: eight-bit numbers, a quarter of the bytes to read, with a bound on the error.

Each vector is stored as ``scale · values`` with whole numbers from -127 to 127
(scalar quantisation). A product of the whole numbers is exact, so its distance from
the product of the vectors follows from their quantisation errors e and f alone::

    x = s·c + e,  q = t·d + f     ⇒     |x·q - s·t·(c·d)|  ≤  |s·c|·|f| + |e|·|q|

(Cauchy and Schwarz). A search that keeps every row which the bound allows, and
scores those by the vectors themselves, finds what a search of all vectors finds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rag_app.store.array_types import Vector

MIN_QUANTISED_ROWS = 4096  # of a file; fewer are not worth the further bytes
_MAX_VALUE = 127
_ROUNDING = 1e-5  # of the float32 arithmetic here, relative, generously

Int8s = npt.NDArray[np.int8]


class QuantisedQuery(NamedTuple):
    """A quantised unit vector.

    Attributes:
        values: shape (1, dimension).
        scale: what a step of the values is worth.
        error: length of its quantisation error, ``|f|``.
    """

    values: Int8s
    scale: np.float32
    error: float


@dataclass(frozen=True, eq=False)
class QuantisedVectors:
    """Quantised unit vectors.

    Attributes:
        values: shape (n, dimension).
        scales: what one step of a row's values is worth, float32, shape (n,).
        max_error: length of the longest quantisation error, ``|e|``.
    """

    values: Int8s
    scales: Vector
    max_error: float
    share: ClassVar[int] = 50_000  # rows that a core takes at a time

    def __len__(self) -> int:
        return len(self.values)

    def prepared(self, unit: Vector) -> QuantisedQuery:
        """Return a unit vector as :meth:`error` and :meth:`scores` take it."""
        return _prepared(unit.tobytes())

    def error(self, query: QuantisedQuery) -> float:
        """Return how far a score of :meth:`scores` may be from the product of the vectors."""
        return (1.002 + self.max_error) * query.error + 1.002 * self.max_error + _ROUNDING

    def select(self, rows: slice | npt.NDArray[np.bool_]) -> QuantisedVectors:
        """Return some rows."""
        return QuantisedVectors(self.values[rows], self.scales[rows], self.max_error)

    def scores(self, query: QuantisedQuery, out: Vector) -> None:
        """Write the approximate product of each row with a unit vector into ``out``, shape (n,)."""
        from numkong import cdist

        if not len(self.values):
            return  # the library refuses no rows
        whole = np.asarray(cdist(query.values, self.values, "dot"))[0]
        np.multiply(whole, self.scales * query.scale, out=out, casting="unsafe")


def quantise(vectors: Vector) -> tuple[Int8s, Vector, float]:
    """Return values, scales and the longest error of rows of shape (n, dimension)."""
    values, scales = _values(vectors)
    errors = np.linalg.norm(vectors - values * scales[:, None], axis=1)
    return values, scales, float(errors.max(initial=0.0)) * (1.0 + _ROUNDING)


@lru_cache(maxsize=16)
def _prepared(unit: bytes) -> QuantisedQuery:
    """Return a quantised vector, from a cache: several kinds of nodes are searched for the same."""
    vector = np.frombuffer(unit, np.float32)
    values, scales = _values(vector[None, :])
    error = float(np.linalg.norm(vector - scales * values[0]))
    return QuantisedQuery(values, scales[0], error)


def _values(vectors: Vector) -> tuple[Int8s, Vector]:
    highest = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float32)
    scales = np.maximum(highest, np.float32(1e-30)) / np.float32(_MAX_VALUE)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales
