"""Kill whatever writes an index, hundreds of times each, and look at what is left.

    python -m benchmarks.store_crash --kills 1000

The trials are those of ``tests/hostile/kills.py``: a first ingest, one that changes,
adds, renames and removes files, a removal, a pruning, a merge and the kept indexes of
``rag ask … FILE.pdf`` are killed at chosen points; then the index is verified, the work
is finished, and the answers are compared with those of a fresh index. Worker processes
are killed alone, while the run goes on.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.hostile import kills

RESULT = Path(__file__).parent / "results" / "store_crash.json"
# How many of the kills of an operation are of each sort.
SHARES = {"sqlite": 0.4, "files": 0.2, "sizes": 0.2, "times": 0.2}
WORKERS = 20  # runs whose workers are killed


def kill_all(folder: Path, each: int) -> tuple[dict[str, Counter[str]], list[str]]:
    """Kill each operation so often; return kills by operation and sort, and what was wrong."""
    shares = {sort: round(each * share) for sort, share in SHARES.items()}
    died: dict[str, Counter[str]] = {}
    wrong: list[str] = []
    for operation in kills.operations(folder):
        counted = died.setdefault(operation.name, Counter())
        for sort, arm, delay in kills.trials(operation, folder, **shares):
            counted["tried"] += 1
            counted[sort] += kills.kill(operation, folder / "trial", arm, delay)
            found = kills.check(operation, folder / "trial")
            wrong += [f"{operation.name}, {sort}: {one}" for one in found]
        print(operation.name, dict(counted), f"{len(wrong)} violations", flush=True)
    return died, wrong


def main() -> None:
    """Run the trials and write their counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="tried in all, but of workers")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        died, wrong = kill_all(Path(name), options.kills // len(kills.OPERATIONS))
        workers = 0
        for seed in range(WORKERS):
            killed, found = kills.kill_workers(Path(name), seed)
            workers += killed
            wrong += [f"workers: {one}" for one in found]
    result = {
        "operations": {name: dict(counted) for name, counted in died.items()},
        "workers killed": workers,
        "kills": workers + sum(c.total() - c["tried"] for c in died.values()),
        "violations": wrong,
        "seconds": round(time.monotonic() - began, 1),
    }
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
