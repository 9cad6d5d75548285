"""Rows of derived files written while an index grows, by how files are merged.

    python -m benchmarks.store_tiers

One document of equal length is added at a time. Compared are the rule of
``rag_app.store.sqlite.build`` and one base file with one delta file, which is written
anew for each document and merged into the base above a share of it. Counted, not timed:
the figures are the same on every machine.
"""

from __future__ import annotations

import numpy as np

from rag_app.store.engine.segments import Segment
from rag_app.store.sqlite.build import files_to_merge

SIZES = ((2_000, 10), (10_000, 10), (10_000, 50))  # passages in all, passages of a document
SHARES = (0.1, 0.25, 0.5)


def tiers(passages: int, each: int) -> tuple[float, int, float]:
    """Return how often a row is written on average; the most files; the mean number of files."""
    files: dict[str, Segment] = {}
    live: dict[int, int] = {}
    written, counts = 0, []
    for blob in range(passages // each):
        merged = files_to_merge(files, live, each)
        live[blob] = each
        blobs = sorted([blob, *(one for name in merged for one in files.pop(name).blobs.tolist())])
        rows = len(blobs) * each
        none = np.zeros(rows, np.int64)
        ends = np.arange(1, len(blobs) + 1) * each
        files[str(blob)] = Segment(np.array(blobs), ends, none, none)
        written += rows
        counts.append(len(files))
    return written / passages, max(counts), sum(counts) / len(counts)


def base_and_delta(passages: int, each: int, share: float) -> float:
    """Return how often a row is written on average with two files."""
    base = delta = written = 0
    for _ in range(passages // each):
        delta += each
        if delta > share * base:
            base, delta = base + delta, 0
            written += base
        else:
            written += delta
    return written / passages


def main() -> None:
    """Print a line for each size."""
    for passages, each in SIZES:
        times, most, mean = tiers(passages, each)
        print(f"{passages} passages, {each} at a time: each row is written")
        print(f"  by tiers {times:.1f} times; at most {most} files, {mean:.1f} on average")
        for share in SHARES:
            print(
                f"  by base and delta, {share}: {base_and_delta(passages, each, share):.1f} times"
            )


if __name__ == "__main__":
    main()
