"""Two writers and four readers at one index for ten minutes; every answer is checked.

python -m benchmarks.store_concurrency --seconds 600
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from rag_app.store.sqlite.store import open_store
from tests.rag_app.store import concurrency

RESULT = Path(__file__).parent / "results" / "store_concurrency.json"


def main() -> None:
    """Run the contest and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "index"
        until = time.monotonic() + options.seconds
        statuses, counts = concurrency.contest(path, lambda _: time.monotonic() < until)
        with open_store(path) as store:
            findings = [str(finding) for finding in store.verify()]
        left = sorted(place.name for place in path.iterdir())
        generations = concurrency.generations(path)
    result = {
        "seconds": options.seconds,
        "writers": 2,
        "readers": 4,
        "failed_processes": sum(status != 0 for status in statuses),
        "runs_written": sum(counts[:2]),
        "snapshots_checked": sum(counts[2:]),
        "generations": generations,
        "findings": findings,
        "left_in_the_folder": left,
    }
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
    raise SystemExit(1 if result["failed_processes"] or findings else 0)


if __name__ == "__main__":
    main()
