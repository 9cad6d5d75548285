"""Speed and memory, of this project and of its peers, on the same files and machine.

::

    RAG_EVAL_DATA=… .venv/bin/python -m benchmarks.speed cold ingest stages full memory
    RAG_EVAL_DATA=… .venv/bin/python -m benchmarks.speed warm throughput growth plot
    .venv/bin/python -m benchmarks.speed table

Each section is measured alone and merged into ``benchmarks/results/speed.json``.
Compared runs are interleaved; medians are reported. Times hold for one machine,
ratios carry over.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import datasets, speed_files, speed_warm
from benchmarks.measure import run
from benchmarks.peers import PEERS
from benchmarks.quality import machine
from benchmarks.runs import HERE, RESULTS
from benchmarks.speed_tables import speed_tables

FILE = RESULTS / "speed.json"
SECTIONS = ("cold", "ingest", "stages", "full", "memory", "warm", "throughput", "growth")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.speed", description=__doc__)
    parser.add_argument("sections", nargs="+", choices=(*SECTIONS, "table", "plot"))
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=300, help="pages of the ingest sample")
    parser.add_argument("--cold-pages", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 20_000, 100_000])
    parser.add_argument("--growth", type=int, nargs="*", default=[65, 650])
    parser.add_argument("--files", type=int, help="reports of full and growth; all by default")
    parser.add_argument("--results", type=Path, default=FILE, help="where results are merged into")
    options = parser.parse_args(arguments)
    failed = [section for section in options.sections if not _done(section, options)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _done(section: str, options: argparse.Namespace) -> bool:
    """Run one section; one that fails is told, and the others still run."""
    try:
        if section == "table":
            print(speed_tables(_read(options.results)))
        elif section == "plot":
            _plot(options.results)
        else:
            _section(section, options)
    except Exception:
        traceback.print_exc()
        return False
    return True


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return found


def _plot(file: Path) -> None:
    if "growth" not in _read(file):
        print("plot: skipped: growth was not measured")
        return
    command = [speed_files.PEERS_PYTHON, HERE / "plot.py", file, file.parent]
    subprocess.run(command, check=True)


def _section(section: str, options: argparse.Namespace) -> None:
    try:
        files = [] if section == "warm" else list(datasets.load("financebench").files)
    except datasets.DataMissingError as reason:
        print(f"{section}: skipped: {reason}")
        return
    jobs: dict[str, Callable[[], dict[str, Any]]] = {
        "cold": lambda: speed_files.cold(files, options.peers, options.rounds, options.cold_pages),
        "ingest": lambda: speed_files.ingest(files, options.peers, options.rounds, options.pages),
        "stages": lambda: speed_files.stages(files, options.pages),
        "full": lambda: speed_files.full(files[: options.files]),
        "memory": lambda: speed_files.memory(files[: options.files], options.peers),
        "warm": lambda: speed_warm.warm(options.sizes),
        "throughput": lambda: _throughput(files, options.cold_pages),
        "growth": lambda: speed_files.growth(
            files[: options.files], options.growth, _read(options.results).get("full")
        ),
    }
    load = os.getloadavg()[0]
    started = time.perf_counter()
    result = jobs[section]()
    result |= {"took_s": time.perf_counter() - started, "load_at_start": load}
    results = _read(options.results)
    results[section] = result
    results["machine"] = machine()
    options.results.parent.mkdir(exist_ok=True)
    options.results.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps({section: result}, indent=1), flush=True)


def _throughput(files: Sequence[Path], pages: int) -> dict[str, Any]:
    """Measure in a process of its own, so that its memory is that of answering alone."""
    index = speed_files.cold_index(files, pages)
    questions = [q.text for q in datasets.load("financebench").questions][:64]
    script = (
        "import json, sys\nfrom pathlib import Path\n"
        "from benchmarks.speed_warm import throughput\n"
        "index, questions = json.loads(sys.argv[1])\n"
        "print(json.dumps(throughput(Path(index), questions)))"
    )
    done = run([sys.executable, "-c", script, json.dumps([str(index), questions])])
    found: dict[str, Any] = json.loads(done.output.splitlines()[-1])
    for what in ("retrieve", "answer"):
        rates = [_processes(index, questions, what, count) for count in (1, 2)]
        found[what] |= {"two_processes_per_s": rates[1], "two_processes_ratio": rates[1] / rates[0]}
    return found


def _processes(index: Path, questions: Sequence[str], what: str, count: int) -> float:
    """Return questions per second of some processes that answer one at a time each."""
    script = (
        "import json, sys\nfrom pathlib import Path\nfrom benchmarks.speed_warm import serve\n"
        "index, questions, what = json.loads(sys.argv[1])\n"
        "print(serve(Path(index), questions, what, 6.0))"
    )
    command = [sys.executable, "-c", script, json.dumps([str(index), questions, what])]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(command, **pipes) for _ in range(count)]
    for process in started:
        process.stdout.readline()
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    return sum(float(process.communicate()[0]) for process in started)


if __name__ == "__main__":
    sys.exit(main())
