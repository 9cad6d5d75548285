"""Numbers that a user gives: the smallest and the largest of each.

The command line, the settings and the arguments of functions take the same numbers and
refuse the others in the same words. A largest one is far beyond what anybody needs and
within what everything below can count: no number reaches a library that cannot hold it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_REAL = re.compile(r"[+-]?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][+-]?[0-9]{1,3})?")

_MAX_SHOWN_CHARACTERS = 80


def shown(value: object) -> str:
    """Return a wrong value for an error: its representation, shortened."""
    try:
        text = repr(value)
    except Exception:  # whatever a value of the user's does
        return "a value that cannot be shown"
    cut = len(text) > _MAX_SHOWN_CHARACTERS
    return f"{text[:_MAX_SHOWN_CHARACTERS]}…" if cut else text


@dataclass(frozen=True)
class Bounds:
    """Which numbers may be given.

    >>> Bounds(1, 100).parsed("7")
    7
    >>> str(Bounds(0, 2, whole=False, unit="seconds"))
    'a number of seconds from 0 to 2'

    Attributes:
        minimum: the smallest one.
        maximum: the largest one.
        whole: whether it must be a whole number.
        unit: what is counted, in words; empty: nothing that has a name.
    """

    minimum: float
    maximum: float
    whole: bool = True
    unit: str = ""

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        unit = f" of {self.unit}" if self.unit else ""
        return f"{kind}{unit} from {self.minimum:.15g} to {self.maximum:.15g}"

    def hold(self, value: object) -> bool:
        """Tell whether a value of Python's is such a number; a text or a truth value is none."""
        kinds = int if self.whole else (int, float)
        return (
            isinstance(value, kinds)
            and not isinstance(value, bool)
            and self.minimum <= value <= self.maximum  # NaN is neither above nor below
        )

    def parsed(self, value: object) -> int | float:
        """Return the number, which may be written as text (full-width digits as well).

        Raises:
            ValueError: it is none, or out of these bounds; the error says what is allowed.
        """
        number = self._read(value) if isinstance(value, str) else value
        if not isinstance(number, (int, float)) or not self.hold(number):
            raise ValueError(f"it must be {self}")
        return number

    def _read(self, text: str) -> int | float:
        plain = unicodedata.normalize("NFKC", text).strip()
        if self.whole:
            return int(plain) if _WHOLE.fullmatch(plain) else math.nan
        return float(plain) if _REAL.fullmatch(plain) else math.nan


def _seconds(minimum: float) -> Bounds:
    # A year: what waits longer waits for ever, and the clocks of the system still count it.
    return Bounds(minimum, 31_536_000, whole=False, unit="seconds")


PASSAGES = Bounds(1, 10_000)
"""Passages that a search returns, or that an explanation lists."""
DEPTH = Bounds(1, 100_000)
"""Passages that an arm ranks, or that a postprocessor chooses from."""
QUERIES = Bounds(1, 100)
"""Queries of one question; a language model writes all but one."""
WORKERS = Bounds(1, 256)
"""Processes that read files, or questions that are answered at a time."""
PAGES = Bounds(1, 100_000)
"""Pages of a file, as ``--page`` names them."""
SCALE = Bounds(0.1, 20, whole=False, unit="pixels per point")
"""Of a picture of a page."""
WEIGHT = Bounds(0, 1_000_000, whole=False)
"""The weight of an arm, and the k of reciprocal rank fusion."""
PROBABILITY = Bounds(0, 1, whole=False)
"""A score that is a probability."""
TOKENS = Bounds(1, 10_000_000, unit="tokens")
"""Tokens of a passage, of what a model reads, or of an answer."""
SENTENCES = Bounds(0, 1_000)
"""Sentences on each side of a found one."""
BATCH = Bounds(1, 2_048)
"""Texts that an embedding model is given at once."""
THREADS = Bounds(1, 1_024)
"""Threads of an embedding runtime."""
READ_MEGABYTES = Bounds(64, 1 << 20, unit="MB")
"""Memory that reading one PDF may take."""
CACHE_MEGABYTES = Bounds(1, 1 << 30, unit="MB")
"""Size that the cache is kept under."""
SEED = Bounds(0, (1 << 63) - 1)
"""The seed of a bootstrap."""
RESAMPLES = Bounds(1, 1_000_000)
"""Resamples of a bootstrap."""
TIMEOUT = _seconds(0)
"""How long a writer waits for another one."""
TIME_LIMIT = _seconds(0.001)
"""How long a server may take, or reading a PDF."""
