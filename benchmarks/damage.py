"""Damage every file of an index, many times, and count what comes of it.

::

    python -m benchmarks.damage [--count 1000] [--out benchmarks/results/damage.json]
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from pathlib import Path

from tests.hostile.damage import run

RESULTS = Path(__file__).parent / "results" / "damage.json"


def main() -> None:
    """Run it, print the counts and write them; end with 1 when something may not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # each refused file is said
    with tempfile.TemporaryDirectory(prefix="damage-") as folder:
        tally = run(Path(folder), range(arguments.count))
    found = {
        "damages": arguments.count,
        "outcomes": dict(sorted(tally.outcomes.items())),
        "only_verification_tells": tally.wrong,
        "violations": tally.violations,
    }
    arguments.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    print(json.dumps({key: found[key] for key in ("damages", "outcomes", "violations")}, indent=1))
    raise SystemExit(bool(tally.violations))


if __name__ == "__main__":
    main()
