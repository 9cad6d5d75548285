"""Valid PDFs with one thing wrong, by seed, and what comes of reading them."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.errors import ReadError
from pipelines.isolated import Reading, read_file
from pipelines.readers import Limits

LIMITS = Limits(memory_mb=300, seconds=3, seconds_per_mb=3)
MAX_BYTES = 64  # that are changed at once
_OBJECT = re.compile(rb"\d{1,7} \d{1,5} obj\b(.{1,200000}?)endobj", re.DOTALL)
_STREAM = re.compile(rb"stream\r?\n(.{1,400000}?)endstream", re.DOTALL)
_NUMBER = re.compile(rb"(?<=[\s/\[(<])-?\d{1,10}(?=[\s/\])>])")
_NAME = re.compile(rb"/[A-Za-z][A-Za-z0-9]{1,30}")
_NUMBERS = (b"0", b"-1", b"1", b"65535", b"2147483647", b"-2147483648", b"4294967296", b"1e30")


def mutated(data: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Return what was done to a PDF, and the PDF."""
    name = rng.choice(list(_WAYS))
    return name, bytes(_WAYS[name](bytearray(data), rng))


def _flipped(data: bytearray, rng: random.Random) -> bytearray:
    for _ in range(rng.randint(1, MAX_BYTES)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def _cut(data: bytearray, rng: random.Random) -> bytearray:
    return data[: rng.randrange(len(data))]


def _without_a_piece(data: bytearray, rng: random.Random) -> bytearray:
    start = rng.randrange(len(data))
    del data[start : start + rng.randint(1, 4096)]
    return data


def _piece_twice(data: bytearray, rng: random.Random) -> bytearray:
    start, place = rng.randrange(len(data)), rng.randrange(len(data))
    data[place:place] = data[start : start + rng.randint(1, 4096)]
    return data


def _swapped(data: bytearray, rng: random.Random) -> bytearray:
    spans = [match.span(1) for match in _OBJECT.finditer(data)]
    if len(spans) < 2:
        return _flipped(data, rng)
    (a, b), (c, d) = sorted(rng.sample(spans, 2))
    data[a:d] = data[c:d] + data[b:c] + data[a:b]
    return data


def _bad_stream(data: bytearray, rng: random.Random) -> bytearray:
    spans = [match.span(1) for match in _STREAM.finditer(data)]
    if not spans:
        return _flipped(data, rng)
    start, end = rng.choice(spans)
    for _ in range(rng.randint(1, MAX_BYTES)):
        data[rng.randrange(start, end)] = rng.randrange(256)
    return data


def _other_number(data: bytearray, rng: random.Random) -> bytearray:
    return _replaced(data, rng, _NUMBER, lambda _: rng.choice(_NUMBERS))


def _other_name(data: bytearray, rng: random.Random) -> bytearray:
    names = _NAME.findall(data) or [b"/X"]
    return _replaced(data, rng, _NAME, lambda _: rng.choice(names))


def _replaced(
    data: bytearray,
    rng: random.Random,
    what: re.Pattern[bytes],
    by: Callable[[bytes], bytes],
) -> bytearray:
    spans = [match.span() for match in what.finditer(data)]
    if not spans:
        return _flipped(data, rng)
    for start, end in sorted(rng.sample(spans, min(len(spans), rng.randint(1, 3))), reverse=True):
        data[start:end] = by(bytes(data[start:end]))
    return data


_WAYS: Mapping[str, Callable[[bytearray, random.Random], bytearray]] = {
    "bytes flipped": _flipped,
    "cut off": _cut,
    "a piece left out": _without_a_piece,
    "a piece twice": _piece_twice,
    "objects exchanged": _swapped,
    "stream overwritten": _bad_stream,
    "other numbers": _other_number,
    "other names": _other_name,
}


@dataclass
class Tally:
    """What came of each mutation; ``violations`` are those that may not be.

    Attributes:
        outcomes: how often a file was read, or each error of ours came.
        ways: the same by what was done to the file.
        states: of the pages that were read.
        violations: seed, source and outcome of what is neither, or has no reason.
        longest: seconds that one file took, by the clock.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    ways: dict[str, Counter[str]] = field(default_factory=dict)
    states: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    longest: float = 0.0


def run(
    place: Path, sources: Mapping[str, bytes], seeds: Sequence[int], passwords: Sequence[str] = ()
) -> Tally:
    """Read a mutation of one of the sources for each seed, as programs read PDFs.

    Args:
        place: folder to write them to.
        sources: valid PDFs by name.
        seeds: decide source and mutation.
        passwords: of the sources.
    """
    tally, reading = Tally(), Reading(LIMITS, tuple(passwords))
    for seed in seeds:
        rng = random.Random(seed)
        name = rng.choice(sorted(sources))
        way, data = mutated(sources[name], rng)
        path = place / f"{seed}.pdf"
        path.write_bytes(data)
        began = time.monotonic()
        outcome = _outcome(path, reading, tally)
        tally.longest = max(tally.longest, time.monotonic() - began)
        tally.outcomes[outcome] += 1
        tally.ways.setdefault(way, Counter())[outcome] += 1
        if outcome.startswith("!"):
            tally.violations.append(f"seed {seed}: {name}, {way}: {outcome}")
        path.unlink()
    return tally


def _outcome(path: Path, reading: Reading, tally: Tally) -> str:
    try:
        pages = read_file(path, reading=reading).raw.pages
    except ReadError as error:
        has_reason = error.message.startswith(f"{path.name}: ") and error.hint
        return type(error).__name__ if has_reason else f"!no reason: {error}"
    except Exception as error:
        return f"!{type(error).__name__}: {error}"
    for page in pages:
        tally.states[page.state] += 1
        try:
            page.text.encode()
        except UnicodeEncodeError:
            return "!text that cannot be written"
    return "read"
