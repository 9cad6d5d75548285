"""Kill an ingest a thousand times and look at what is left.

    python -m benchmarks.store_crash --kills 1000

The trial is that of ``tests/rag_app/store/crash.py``: an ingest that changes,
adds, renames and removes files is killed at a chosen point; then the index is
verified, the work is finished, and the answers are compared with those of a
fresh index.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.rag_app.store import crash

RESULT = Path(__file__).parent / "results" / "store_crash.json"
# How many of the kills are of each sort.
SHARES = {"sqlite": 0.4, "files": 0.1, "bytes": 0.3, "time": 0.2}


def trials(
    stage: crash.Stage, folder: Path, kills: int
) -> Iterator[tuple[str, Callable[[], None], float | None]]:
    """Yield (sort, how to arm the child, seconds to the kill)."""
    for sort, arm in (("sqlite", crash.arm_sqlite), ("files", crash.arm_files)):
        points = crash.count_points(stage, folder / "counted", arm)
        wanted = int(kills * SHARES[sort])
        for round_ in range(-(-wanted // points)):
            for nth in crash.spread(points, wanted - round_ * points):
                yield sort, lambda arm=arm, nth=nth: arm(nth), None
    largest = max(path.stat().st_size for path in stage.before.rglob("*"))
    for size in crash.spread(largest + largest // 2, int(kills * SHARES["bytes"])):
        yield "bytes", lambda size=size: crash.arm_bytes(size), None
    began = time.monotonic()
    crash.kill_at(stage, folder / "timed", lambda: None)
    longest = 0.7 * (time.monotonic() - began)
    for delay in crash.random_delays(longest, int(kills * SHARES["time"]), seed=kills):
        yield "time", lambda: None, delay


def main() -> None:
    """Run the trials and write their counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    tried: Counter[str] = Counter()
    died: Counter[str] = Counter()
    violations: list[str] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stage = crash.prepare(folder)
        for sort, arm, delay in trials(stage, folder, options.kills):
            tried[sort] += 1
            died[sort] += crash.kill_at(stage, folder / "index", arm, delay)
            violations += [f"{sort}: {wrong}" for wrong in crash.check(stage, folder / "index")]
            if sum(tried.values()) % 50 == 0:
                print(f"{sum(tried.values())} tried, {len(violations)} violations", flush=True)
    result = {
        "tried": dict(tried),
        "died": dict(died),
        "kills": sum(died.values()),
        "violations": violations,
        "seconds": round(time.monotonic() - began, 1),
    }
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
    raise SystemExit(1 if violations else 0)


if __name__ == "__main__":
    main()
