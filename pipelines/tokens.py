"""Counting tokens: cl100k as shipped inside llama-index-core, offline, not its global tokenizer.

The ranks are read from the file that llama-index-core carries, so that no
environment variable is set or read and no process looks on the network.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipelines.errors import ConfigError

if TYPE_CHECKING:
    import tiktoken

TOKENIZER_NAME = "cl100k_base"

# tiktoken names a cached file by the sha1 of the address that it was loaded from.
_RANKS_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
_RANKS_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
# A token never crosses a line break that is followed by something visible.
_SEAM = re.compile(r"\n(?=\S)")
_MIN_SEGMENT_CHARS = 50_000
_MAX_SEGMENT_CHARS = 200_000
# Words whose tokens are remembered: so long, and so many (some 5 MB).
_MAX_WORD_CHARS = 24
_MAX_CACHED_WORDS = 50_000


def _ranks_path() -> Path:
    spec = find_spec("llama_index.core")
    if spec is None or spec.origin is None:
        raise ConfigError("llama-index-core is not installed", hint="pip install llama-index-core")
    return Path(spec.origin).parent / "_static" / "tiktoken_cache" / _RANKS_FILE


@lru_cache(maxsize=1)
def _tokenizer() -> tuple[tiktoken.Encoding, npt.NDArray[np.int64]]:
    """Return the encoding, and the length in bytes of each token by its id."""
    import tiktoken

    data = _ranks_path().read_bytes()
    if hashlib.sha256(data).hexdigest() != _RANKS_SHA256:
        raise ConfigError(
            "the token ranks inside llama-index-core are not those of cl100k_base",
            hint="install the llama-index-core version that this package pins",
        )
    # Lines of a token and its rank, from 0 on without a gap.
    tokens = list(map(binascii.a2b_base64, data.split()[::2]))
    ranks = dict(zip(tokens, range(len(tokens)), strict=True))
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    encoding = tiktoken.Encoding(
        name=TOKENIZER_NAME, pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={}
    )
    ranks.clear()  # 17 MB that only decoding to bytes and pickling would read
    return encoding, lengths


def count_tokens(text: str) -> int:
    """Return the number of cl100k tokens of a text."""
    encoding, _ = _tokenizer()
    return sum(len(encoding.encode_ordinary(part)) for part in _segments(text))


def _segments(text: str) -> Iterator[str]:
    """Yield a long text in segments that no token crosses: time and memory stay linear."""
    start = 0
    while len(text) - start > _MAX_SEGMENT_CHARS:
        seam = _SEAM.search(text, start + _MIN_SEGMENT_CHARS, start + _MAX_SEGMENT_CHARS)
        end = seam.end() if seam else start + _MAX_SEGMENT_CHARS
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _token_bound(text: str) -> int:
    """Return an upper bound of the tokens of a text, whatever surrounds it.

    It is a little above the count and takes a tenth of the time: no token crosses two
    words, except that a space belongs to the word after it, and words recur.
    """
    words = text.split()
    blanks = len(text) - sum(map(len, words))
    others = blanks - text.count(" ")
    # Of many spaces all but the last are a token; any other blank has three bytes at most.
    return sum(map(_word_tokens.__getitem__, words)) + text.count("  ") + 3 * others + 1


class _WordTokenCounts(dict[str, int]):
    """A cache: the larger of a word's token counts with a space before it and without."""

    def __missing__(self, word: str) -> int:
        if len(word) > _MAX_WORD_CHARS:
            return len(word.encode())
        encoding, _ = _tokenizer()
        count = max(len(encoding.encode_ordinary(space + word)) for space in ("", " "))
        if len(self) >= _MAX_CACHED_WORDS:
            self.clear()
        self[word] = count
        return count


_word_tokens = _WordTokenCounts()


class TokenOffsets:
    """Where the tokens of one text start, so that any span is counted by bisection.

    Counts are those of the whole text: a span that is encoded alone may differ
    by its first and last word. The text is encoded when that is first needed.
    """

    def __init__(self, text: str) -> None:
        self.length = len(text)
        self._text = _SURROGATE.sub("\ufffd", text)
        self._encoded: list[int] | None = None

    @property
    def _starts(self) -> list[int]:
        if self._encoded is None:
            self._encoded = _token_starts(self._text)
        return self._encoded

    def fewer(self, start: int, end: int, tokens: int) -> bool:
        """Tell whether fewer than ``tokens`` tokens overlap the span.

        Most spans are so short that their tokens need not be counted.
        """
        if self._encoded is None:
            span = self._text[start:end]
            # No token holds less than a byte.
            if len(span.encode()) < tokens or _token_bound(span) < tokens:
                return True
        return self.count(start, end) < tokens

    def before(self, place: int) -> int:
        """Return how many tokens begin before a place of the text."""
        return bisect_left(self._starts, place)

    def count(self, start: int, end: int) -> int:
        """Return how many tokens overlap the span; none overlaps an empty one."""
        if start >= min(end, self.length):
            return 0
        return max(0, bisect_left(self._starts, end) - self._first(start))

    def end_of(self, start: int, tokens: int) -> int:
        """Return where a span from ``start`` ends that holds at most ``tokens`` tokens."""
        index = self._first(start) + tokens
        return self._starts[index] if index < len(self._starts) else self.length

    def _first(self, start: int) -> int:
        index = bisect_left(self._starts, start)
        inside = index == len(self._starts) or self._starts[index] != start
        return max(0, index - 1) if inside else index


def _token_starts(text: str) -> list[int]:
    """Return the character offset at which each token starts."""
    encoding, lengths = _tokenizer()
    starts: list[int] = []
    offset = 0
    for part in _segments(text):
        tokens = np.asarray(encoding.encode_ordinary(part), dtype=np.int64)
        ends = np.cumsum(lengths[tokens])
        at = np.concatenate(([0], ends[:-1]))
        if not part.isascii():
            raw = np.frombuffer(part.encode("utf-8"), dtype=np.uint8)
            at = np.cumsum((raw & 0xC0) != 0x80)[at] - 1
        starts.extend((at + offset).tolist())
        offset += len(part)
    return starts
