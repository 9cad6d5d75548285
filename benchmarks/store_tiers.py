"""Derived files: rows written while an index grows, and what a query over several files costs.

    python -m benchmarks.store_tiers [--passages 20000] [--rounds 40]

One document of equal length is added at a time. Compared are the rule of
``rag_app.store.sqlite.build`` and one base file with one delta file, which is written
anew for each document and merged into the base above a share of it. Counted, not timed:
the figures are the same on every machine.

Queries are timed: the same documents in 1, 2, 3 and 5 files, of equal size and of the sizes
that tiers have (each twice the next), asked in turns by vector and by words; then opened anew
for each query. Ratios are to one file, in the same turn.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.runs import RESULTS
from benchmarks.store_growth import DIMENSION, PER_DOCUMENT, make, query
from rag_app.store.engine.segments import Segment
from rag_app.store.protocol import IndexConfig, Store
from rag_app.store.sqlite.build import files_to_merge
from rag_app.store.sqlite.schema import DERIVED
from rag_app.store.sqlite.store import create_store, open_store

SIZES = ((2_000, 10), (10_000, 10), (10_000, 50))  # passages in all, passages of a document
SHARES = (0.1, 0.25, 0.5)
RESULT = RESULTS / "store_tiers.json"
FILES = (1, 2, 3, 5)


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


def shares_of(files: int, *, equal: bool) -> list[float]:
    """Return the share of the documents in each file: equal, or each twice the next."""
    sizes = [1.0 if equal else 2.0**-number for number in range(files)]
    return [size / sum(sizes) for size in sizes]


def fill(path: Path, documents: Sequence[Any], shares: Sequence[float]) -> None:
    """Make an index of some documents with one derived file of each sort for each share."""
    kinds = {"kinds": ("parent", "child-128"), "vector_kinds": ("child-128",)}
    config = IndexConfig(embed_model="random", embed_fingerprint="", dimension=DIMENSION, **kinds)
    ends = [round(end * len(documents)) for end in np.cumsum([0.0, *shares])]
    never = mock.patch("rag_app.store.sqlite.build.files_to_merge", return_value=[])
    with never, create_store(path, config) as store:
        for begin, end in itertools.pairwise(ends):
            with store.writer() as writer:
                for document in documents[begin:end]:
                    writer.put(document)
    written = len(list((path / DERIVED).glob("vectors-*")))
    if written != len(shares):
        raise RuntimeError(f"{written} files of vectors, not {len(shares)}")


def ask(store: Store, seed: int) -> float:
    """Return the seconds of one query by vector and by words."""
    vector, words = query(seed)
    began = time.perf_counter()
    with store.snapshot() as snapshot:
        snapshot.search_vectors("child-128", vector, 10)
        snapshot.search_words("parent", words, 10)
    return time.perf_counter() - began


def open_and_ask(path: Path, seed: int) -> float:
    """Return the seconds of opening an index and of its first query."""
    began = time.perf_counter()
    with open_store(path) as store:
        ask(store, seed)
    return time.perf_counter() - began


def summary(times: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Return medians in milliseconds, and the median ratio to the first in the same turn."""
    first = next(iter(times.values()))
    return {
        name: {
            "ms": round(statistics.median(values) * 1000, 2),
            "ratio": round(statistics.median(a / b for a, b in zip(values, first, strict=True)), 3),
        }
        for name, values in times.items()
    }


def queries(passages: int, rounds: int) -> dict[str, Any]:
    """Time queries, warm and after opening, over the same documents in several files."""
    documents = [make(number, PER_DOCUMENT) for number in range(passages // PER_DOCUMENT)]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        paths = {}
        for files in FILES:
            for equal in (True, False)[: 1 if files == 1 else 2]:
                name = f"{files} {'equal' if equal else 'falling'}"
                paths[name] = Path(folder) / name
                fill(paths[name], documents, shares_of(files, equal=equal))
        stores = {name: stack.enter_context(open_store(path)) for name, path in paths.items()}
        warm: dict[str, list[float]] = {name: [] for name in paths}
        cold: dict[str, list[float]] = {name: [] for name in paths}
        for turn in range(-2, rounds):
            for name in list(paths) if turn % 2 else list(reversed(paths)):
                seconds, opened = ask(stores[name], turn + 2), open_and_ask(paths[name], turn + 2)
                if turn >= 0:
                    warm[name].append(seconds)
                    cold[name].append(opened)
    return {"passages": passages, "rounds": rounds, "warm": summary(warm), "cold": summary(cold)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each size; time queries and write those times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args(arguments)
    for passages, each in SIZES:
        times, most, mean = tiers(passages, each)
        print(f"{passages} passages, {each} at a time: each row is written")
        print(f"  by tiers {times:.1f} times; at most {most} files, {mean:.1f} on average")
        for share in SHARES:
            print(
                f"  by base and delta, {share}: {base_and_delta(passages, each, share):.1f} times"
            )
    result = queries(options.passages, options.rounds) | {"load_average": os.getloadavg()[0]}
    print(json.dumps(result, indent=2))
    RESULT.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
