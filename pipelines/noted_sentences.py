"""The sentences of a text, noted: where each begins, and which search terms it holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
import numpy.typing as npt

from pipelines.terms import search_terms

Places = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class NotedSentences:
    """Sentences in reading order.

    Attributes:
        starts: where each begins, ascending, shape (n,).
        ends: where the terms of each end in ``terms``, shape (n,).
        terms: numbers of the different terms, sentence after sentence, shape (m,).
    """

    starts: Places
    ends: Places
    terms: Numbers

    @classmethod
    def of(cls, text: str, starts: Sequence[int]) -> NotedSentences:
        """Note the sentences of a text that begin at ``starts``, ascending."""
        bounds = pairwise([*starts, len(text)])
        held = [set(map(_number, search_terms(text[start:end]))) for start, end in bounds]
        return cls(
            starts=np.array(starts, np.int64),
            ends=np.cumsum([len(numbers) for numbers in held], dtype=np.int64),
            terms=np.array([number for numbers in held for number in sorted(numbers)], np.uint32),
        )

    @classmethod
    def joined(cls, several: Iterable[NotedSentences]) -> NotedSentences:
        """Return those of several stretches of a text, one after the other, as one."""
        parts = list(several)
        sizes = [np.diff(part.ends, prepend=0) for part in parts]
        return cls(
            starts=np.concatenate([_NO_PLACES, *(part.starts for part in parts)]),
            ends=np.cumsum(np.concatenate([_NO_PLACES, *sizes])),
            terms=np.concatenate([_NO_NUMBERS, *(part.terms for part in parts)]),
        )

    def __len__(self) -> int:
        return len(self.starts)

    def moved(self, by: int) -> NotedSentences:
        """Return the same where the text stands so many characters further on."""
        return NotedSentences(self.starts + by, self.ends, self.terms)

    def within(self, start: int, end: int) -> NotedSentences:
        """Return those that begin in a span."""
        low, high = np.searchsorted(self.starts, (start, end)).tolist()
        first = int(self.ends[low - 1]) if low else 0
        ends = self.ends[low:high]
        last = int(ends[-1]) if len(ends) else first
        return NotedSentences(self.starts[low:high], ends - first, self.terms[first:last])

    def holding(self, terms: Sequence[str]) -> list[set[str]]:
        """Return which of some terms each sentence holds.

        Terms are compared by their checksums of 32 bits: of a million sentences one may
        seem to hold a term that it does not.
        """
        numbers = np.array([_number(term) for term in terms], np.uint32)
        at, which = np.nonzero(self.terms[:, None] == numbers)
        found: list[set[str]] = [set() for _ in range(len(self))]
        sentences = np.searchsorted(self.ends, at, side="right")
        for sentence, term in zip(sentences.tolist(), which.tolist(), strict=True):
            found[sentence].add(terms[term])
        return found


_NO_PLACES: Places = np.empty(0, np.int64)
_NO_NUMBERS: Numbers = np.empty(0, np.uint32)


def _number(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))
