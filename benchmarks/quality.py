"""Quality of retrieval: this project's strategies and its peers on five sets.

::

    RAG_EVAL_DATA=… .venv/bin/python -m benchmarks.quality run
    … run --tasks scifact xquad --systems rag_app-hybrid haystack-hybrid
    .venv/bin/python -m benchmarks.quality table

``run`` keeps what each system found under ``benchmarks/.cache/runs`` and asks
no system again whose run is there (``--again`` does); it then scores all kept
runs of the tasks into ``benchmarks/results/quality.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import datasets
from benchmarks.peers import PEERS
from benchmarks.runs import CACHE, HERE, RESULTS, TASKS, Task, run_path, score
from benchmarks.tables import quality_tables
from pipelines.analysers import FURTHER

OURS = ("hybrid", "naive", "child_parent", "sentence_window", "bm25", *FURTHER)
SYSTEMS = (*(f"rag_app-{name}" for name in OURS), *PEERS)
BASELINE = "llamaindex-naive"
PEERS_PYTHON = HERE / ".venv-peers" / "bin" / "python"
FILE = RESULTS / "quality.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.quality", description=__doc__)
    parser.add_argument("command", choices=("run", "score", "table"))
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=TASKS)
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--only", nargs="*", default=[], help="only PDFs of these names")
    parser.add_argument("--again", action="store_true", help="ask again what was asked")
    options = parser.parse_args(arguments)
    if options.command == "table":
        print(quality_tables(json.loads(FILE.read_text())) if FILE.exists() else "no results yet")
        return 0
    try:
        datasets.data_root()
    except datasets.DataMissingError as reason:
        print(f"skipped: {reason}")
        return 0
    for name in options.tasks:
        try:
            _task(TASKS[name], options)
        except datasets.DataMissingError as reason:
            print(f"{name}: skipped: {reason}")
    return 0


def _task(task: Task, options: argparse.Namespace) -> None:
    data = datasets.load(task.dataset)
    if options.command == "run":
        wanted = [s for s in options.systems if options.again or not run_path(task, s).exists()]
        ours = [s.removeprefix("rag_app-") for s in wanted if s.startswith("rag_app-")]
        if ours:
            from benchmarks.ours import run_ours

            for problem in run_ours(task, data, ours, options.only):
                print(f"{task.name}: {problem}")
        for peer in (s for s in wanted if s in PEERS):
            _run_peer(task, peer, options.only)
    _score(task, data)


def _run_peer(task: Task, peer: str, only: Sequence[str]) -> None:
    command = [str(PEERS_PYTHON), "-m", "benchmarks.peers", "run", peer, task.dataset]
    command += [str(run_path(task, peer)), "-k", str(task.k), "--cache", str(CACHE)]
    command += ["--own"] if task.own else []
    command += ["--only", *only] if only else []
    done = subprocess.run(command, cwd=HERE.parent, check=False)
    if done.returncode:
        print(f"{task.name}: {peer} ended with {done.returncode}", file=sys.stderr)


def _score(task: Task, data: datasets.Dataset) -> None:
    """Score every kept run of a task and merge the figures into the results."""
    from rag_app.evaluation import compare

    reports = {
        system: score(task, system, data.questions, page_text(data, system))
        for system in SYSTEMS
        if run_path(task, system).exists()
    }
    base = reports.get(BASELINE)
    entries: dict[str, Any] = {}
    for system, report in reports.items():
        differences = {}
        if base is not None and system != BASELINE and _same_questions(report, base):
            differences = {name: d.to_dict() for name, d in compare(report, base).items()}
        summary = report.to_dict()
        kept = {key: summary[key] for key in ("questions", "metrics")}
        entries[system] = {**kept, "difference": differences}
    results = json.loads(FILE.read_text()) if FILE.exists() else {"tasks": {}}
    results["tasks"][task.name] = {"baseline": BASELINE, "systems": entries}
    results["command"] = "RAG_EVAL_DATA=… python -m benchmarks.quality run"
    results["machine"] = machine()
    RESULTS.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(results, indent=1, sort_keys=False) + "\n")
    print(quality_tables({"tasks": {task.name: results["tasks"][task.name]}}), flush=True)


def _same_questions(one: Any, other: Any) -> bool:
    return {r.id for r in one.results} == {r.id for r in other.results}


def page_text(data: datasets.Dataset, system: str) -> Callable[[str, int], str] | None:
    """Return the evidence as the system's own reader gives it, so that no reader is favoured."""
    if not data.files:
        return None
    folder = data.files[0].parent
    read = _pypdfium2_page if system.startswith("rag_app") else _pypdf_page
    return lambda file, page: read(folder / file, page)


@cache
def _pypdf_page(file: Path, page: int) -> str:
    from pypdf import PdfReader

    return PdfReader(file).pages[page - 1].extract_text()


@cache
def _pypdfium2_page(file: Path, page: int) -> str:
    from pypdfium2 import PdfDocument

    with PdfDocument(file) as document:
        text: str = document[page - 1].get_textpage().get_text_bounded()
        return text


def machine() -> dict[str, Any]:
    """Return what the figures depend on: the machine and the versions."""
    packages = ("llama-index-core", "torch", "openvino", "bm25s", "pypdfium2", "numpy")
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


if __name__ == "__main__":
    sys.exit(main())
