"""What an exit without teardown would earn, and what the pause of the garbage collector earns.

    python -m benchmarks.exit [--pairs 24]

A first question to an index of the sample PDFs, in new processes: as it is, without the
teardown of modules, and with the collector running. The variants take turns; compared are
neighbours in time, by the processor time of the process and by the clock. A ratio above 1
is what a variant costs, one below 1 what it would earn.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.runs import RESULTS

RESULT = RESULTS / "exit.json"
SAMPLES = Path(__file__).parent.parent / "data"
QUESTION = "To what sum did the allowance for ground works at the tower grow?"
_AS_IS = "from rag_app.__main__ import script; script()"
_AT_ONCE = (
    "import os, sys; from rag_app.__main__ import main; code = main(); sys.stdout.flush(); "
    "os._exit(code)"
)
_COLLECTING = "import gc; gc.disable = gc.freeze = lambda: None; " + _AS_IS
VARIANTS = {"as it is": _AS_IS, "without teardown": _AT_ONCE, "with collection": _COLLECTING}


def measure(index: Path, code: str) -> tuple[float, float]:
    """Return seconds of the clock and of the processor that one question takes."""
    command = [sys.executable, "-c", code, "ask", QUESTION, "--index", str(index), "--json"]
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    elapsed, after = time.perf_counter() - began, os.times()
    used = after.children_user + after.children_system
    return elapsed, used - before.children_user - before.children_system


def compare(index: Path, pairs: int) -> dict[str, dict[str, float]]:
    """Measure the variants in turns; return medians, and medians of the ratios to ``as it is``."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in VARIANTS}
    for code in VARIANTS.values():
        measure(index, code)
    for turn in range(pairs):
        names = list(VARIANTS) if turn % 2 else list(reversed(VARIANTS))
        for name in names:
            found[name].append(measure(index, VARIANTS[name]))
    base = found["as it is"]
    return {
        name: {
            f"{unit}{suffix}": round(statistics.median(values), 3)
            for at, unit in enumerate(("wall", "cpu"))
            for suffix, values in (
                ("_s", [one[at] for one in times]),
                ("_ratio", [one[at] / as_is[at] for one, as_is in zip(times, base, strict=True)]),
            )
        }
        for name, times in found.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=24)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        ingest = [sys.executable, "-m", "rag_app", "ingest", str(SAMPLES), "--index", str(index)]
        subprocess.run([*ingest, "-q"], stdout=subprocess.DEVNULL, check=True)
        result = {
            "pairs": options.pairs,
            "load_average": round(os.getloadavg()[0], 1),
            "variants": compare(index, options.pairs),
        }
    print(json.dumps(result, indent=2))
    RESULT.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
