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

from tests.hostile.damage import make_templates, run, verifications_beside_a_writer

RESULTS = Path(__file__).parent / "results" / "damage.json"

_PRINTED = ("damages", "outcomes", "violations", "verifications_beside_a_writer", "false_alarms")


def main() -> None:
    """Run it, print the counts and write them; end with 1 when something may not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--verifications", type=int, default=500, help="beside a writer")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # each refused file is said
    with tempfile.TemporaryDirectory(prefix="damage-") as folder:
        tally = run(Path(folder), range(arguments.count))
        index = make_templates(Path(folder) / "beside").index
        beside = verifications_beside_a_writer(index, arguments.verifications)
    alarms = [str(finding) for found in beside for finding in found]
    found = {
        "damages": arguments.count,
        "outcomes": dict(sorted(tally.outcomes.items())),
        "only_verification_tells": tally.wrong,
        "violations": tally.violations,
        "verifications_beside_a_writer": len(beside),
        "false_alarms": alarms,
    }
    arguments.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    print(json.dumps({key: found[key] for key in _PRINTED}, indent=1))
    raise SystemExit(bool(tally.violations or alarms))


if __name__ == "__main__":
    main()
