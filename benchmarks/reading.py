"""What it costs that another process reads: 300 pages of reports, there and here, interleaved.

Run ``RAG_EVAL_DATA=… python -m benchmarks.reading``; writes ``benchmarks/results/reading.json``.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pipelines.isolated import close_idle, read_file
from pipelines.readers import Limits
from pipelines.reading import DEFAULT_READER, read_data

PAGES, ROUNDS = 300, 7
RESULT = Path(__file__).parent / "results" / "reading.json"


def here(files: Sequence[Path]) -> None:
    """Read the files in this process."""
    for file in files:
        read_data(file.read_bytes(), DEFAULT_READER, (), Limits())


def there(files: Sequence[Path]) -> None:
    """Read the files in a process that is started for them."""
    close_idle()
    kept(files)


def kept(files: Sequence[Path]) -> None:
    """Read the files in a process that is there."""
    for file in files:
        read_file(file)


def chosen(folder: Path) -> list[Path]:
    """Return the first reports that have 300 pages together."""
    files, pages = [], 0
    for file in sorted(folder.glob("*.pdf")):
        files.append(file)
        pages += len(read_file(file).raw.pages)
        if pages >= PAGES:
            break
    return files


def measured(
    ways: Sequence[Callable[[Sequence[Path]], None]], files: Sequence[Path]
) -> dict[str, object]:
    """Return the seconds of each way, round by round, and the medians of their ratios."""
    seconds: dict[str, list[float]] = {way.__name__: [] for way in ways}
    for _ in range(ROUNDS):
        for way in ways:
            began = time.perf_counter()
            way(files)
            seconds[way.__name__].append(round(time.perf_counter() - began, 4))
    base = seconds[ways[0].__name__]
    ratios = {
        name: round(statistics.median(a / b for a, b in zip(values, base, strict=True)), 3)
        for name, values in seconds.items()
    }
    return {"files": [file.name for file in files], "seconds": seconds, "ratio_to_here": ratios}


def main() -> None:
    """Measure, print and write."""
    data = os.environ.get("RAG_EVAL_DATA")
    if data is None:
        sys.exit("set RAG_EVAL_DATA to the folder with the evaluation sets")
    files = chosen(Path(data) / "financebench" / "pdfs")
    result = measured((here, there, kept), files)
    print(json.dumps(result, indent=1))
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
