"""Vectors as eight-bit codes: a quarter of the bytes to read, with a bound on the error.

Each vector is written as ``scale · code`` with whole numbers from -127 to 127
(scalar quantisation). A product of codes is exact, so how far it may lie from
the product of the vectors follows from what the codes leave out alone::

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

LEAST = 4096  # rows from which codes are worth their bytes
_STEPS = 127
_ROUNDING = 1e-5  # of the float32 arithmetic here, relative, generously

Codes = npt.NDArray[np.int8]


class CodedQuery(NamedTuple):
    """A unit vector as codes of shape (1, dimension), what a step of them is worth, and ``|f|``."""

    code: Codes
    step: np.float32
    missing: float


@dataclass(frozen=True, eq=False)
class CodedVectors:
    """Unit vectors as codes.

    Attributes:
        codes: shape (n, dimension).
        scales: what one step of a row's codes is worth, float32, shape (n,).
        rest: length of the longest ``e``: no vector is farther from its codes than this.
    """

    codes: Codes
    scales: Vector
    rest: float
    share: ClassVar[int] = 50_000  # rows that are taken at a time

    def __len__(self) -> int:
        return len(self.codes)

    def asked(self, unit: Vector) -> CodedQuery:
        """Return a unit vector as :meth:`error` and :meth:`scores` take it."""
        return _asked(unit.tobytes())

    def error(self, query: CodedQuery) -> float:
        """Return how far a score of :meth:`scores` may be from the product of the vectors."""
        return (1.002 + self.rest) * query.missing + 1.002 * self.rest + _ROUNDING

    def select(self, rows: slice | npt.NDArray[np.bool_]) -> CodedVectors:
        """Return the codes of some rows."""
        return CodedVectors(self.codes[rows], self.scales[rows], self.rest)

    def scores(self, query: CodedQuery, out: Vector) -> None:
        """Write the product of each row with a unit vector, nearly, into ``out`` of shape (n,)."""
        from numkong import cdist

        if not len(self.codes):
            return  # which the library refuses
        whole = np.asarray(cdist(query.code, self.codes, "dot"))[0]
        np.multiply(whole, self.scales * query.step, out=out, casting="unsafe")


def encode(vectors: Vector) -> tuple[Codes, Vector, float]:
    """Return the codes, scales and longest rest of rows of shape (n, dimension)."""
    codes, scales = _encode(vectors)
    rests = np.linalg.norm(vectors - codes * scales[:, None], axis=1)
    return codes, scales, float(rests.max(initial=0.0)) * (1.0 + _ROUNDING)


@lru_cache(maxsize=16)
def _asked(unit: bytes) -> CodedQuery:
    """Return a vector as codes; several kinds of nodes are asked for the same one."""
    vector = np.frombuffer(unit, np.float32)
    code, step = _encode(vector[None, :])
    return CodedQuery(code, step[0], float(np.linalg.norm(vector - step * code[0])))


def _encode(vectors: Vector) -> tuple[Codes, Vector]:
    highest = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float32)
    scales = np.maximum(highest, np.float32(1e-30)) / np.float32(_STEPS)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales
