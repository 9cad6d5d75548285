"""The sentences of a text as a table: where each stands, how long it is, which terms it holds."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import numpy.typing as npt

from pipelines.splitting import Span
from pipelines.terms import search_terms
from pipelines.tokens import TokenOffsets

Places = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class SentenceTable:
    """Sentences in reading order.

    Attributes:
        starts, stops: where each stands, ascending, shape (n,).
        tokens: how many tokens begin in each, or before the next one, shape (n,).
        term_ends: where the terms of each end in ``terms``, shape (n,).
        terms: numbers of the different terms, sentence after sentence, shape (m,).
    """

    starts: Places
    stops: Places
    tokens: Places
    term_ends: Places
    terms: Numbers

    @classmethod
    def of(
        cls, text: str, spans: Sequence[Span], tokens: TokenOffsets | None = None
    ) -> SentenceTable:
        """Return the table of the sentences of a text.

        Args:
            text: in which they stand.
            spans: of the sentences, in order.
            tokens: of the text, where they are known.
        """
        tokens = tokens or TokenOffsets(text)
        starts = [start for start, _ in spans]
        terms, ends = array("I"), []
        for start, stop in spans:
            terms.extend(sorted(set(map(_number, search_terms(text[start:stop])))))
            ends.append(len(terms))
        begun = [tokens.before(place) for place in [*starts, len(text)]]
        return cls(
            starts=np.array(starts, np.int64),
            stops=np.array([stop for _, stop in spans], np.int64),
            tokens=np.diff(begun).astype(np.int64),
            term_ends=np.array(ends, np.int64),
            terms=np.array(terms, np.uint32),
        )

    @classmethod
    def joined(cls, several: Iterable[SentenceTable]) -> SentenceTable:
        """Return those of several stretches of a text, one after the other, as one."""
        parts = list(several)
        sizes = [np.diff(part.term_ends, prepend=0) for part in parts]
        return cls(
            starts=np.concatenate([_NO_PLACES, *(part.starts for part in parts)]),
            stops=np.concatenate([_NO_PLACES, *(part.stops for part in parts)]),
            tokens=np.concatenate([_NO_PLACES, *(part.tokens for part in parts)]),
            term_ends=np.cumsum(np.concatenate([_NO_PLACES, *sizes])),
            terms=np.concatenate([_NO_NUMBERS, *(part.terms for part in parts)]),
        )

    def __len__(self) -> int:
        return len(self.starts)

    def moved(self, by: int) -> SentenceTable:
        """Return the same where the text stands so many characters further on."""
        places = (self.starts + by, self.stops + by)
        return SentenceTable(*places, self.tokens, self.term_ends, self.terms)

    def within(self, start: int, end: int) -> SentenceTable:
        """Return those that begin in a span."""
        low, high = self.starts.searchsorted((start, end)).tolist()
        first = int(self.term_ends[low - 1]) if low else 0
        ends = self.term_ends[low:high]
        last = int(ends[-1]) if len(ends) else first
        columns = (self.starts[low:high], self.stops[low:high], self.tokens[low:high])
        return SentenceTable(*columns, ends - first, self.terms[first:last])

    def owners(self, spans: Sequence[Span]) -> list[int]:
        """Return in which sentence each span begins; -1: before the first one."""
        places = [start for start, _ in spans]
        found: list[int] = (self.starts.searchsorted(places, side="right") - 1).tolist()
        return found

    def token_bounds(self, spans: Sequence[Span]) -> list[int]:
        """Return an upper bound of the tokens of each span, which lies in one sentence."""
        # A token may begin before the word that it ends with.
        bounds = [*(self.tokens + 1).tolist(), sys.maxsize]
        return [bounds[owner] for owner in self.owners(spans)]

    def tokens_until(self, end: int) -> int | None:
        """Return how many tokens a text of whole sentences holds, give or take two.

        None where it begins or ends inside a sentence.
        """
        if not len(self) or self.starts[0] != 0 or self.stops[-1] > end:
            return None
        return int(self.tokens.sum())

    def holding(self, terms: Sequence[str]) -> list[Set[str]]:
        """Return which of some terms each sentence holds.

        Terms are compared by their checksums of 32 bits: of a million sentences one may
        seem to hold a term that it does not.
        """
        numbers = np.array([_number(term) for term in terms], np.uint32)
        at, which = (self.terms[:, None] == numbers).nonzero()
        sentences = self.term_ends.searchsorted(at, side="right")
        some: dict[int, set[str]] = {}  # of most sentences no term is asked
        for sentence, term in zip(sentences.tolist(), which.tolist(), strict=True):
            some.setdefault(sentence, set()).add(terms[term])
        found: list[Set[str]] = [_NO_TERMS] * len(self)
        for sentence, held in some.items():
            found[sentence] = held
        return found


_NO_TERMS: Set[str] = frozenset()
_NO_PLACES: Places = np.empty(0, np.int64)
_NO_NUMBERS: Numbers = np.empty(0, np.uint32)


def _number(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))
