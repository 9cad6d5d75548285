"""Answers without a language model: are they shown, right, and not claimed where there are none?

::

    RAG_EVAL_DATA=… .venv/bin/python -m benchmarks.answers [--squad 300] [--reports 20]

Prints one table and keeps it in ``results/answers.json``: the natural questions over the
samples and the one-page texts, the half that decided the coefficients and the half that is
reported; and, where ``RAG_EVAL_DATA`` names them, XQuAD, JSQuAD and FinanceBench.
``--list`` also writes what each natural question was shown.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import datasets, natural, reports, squad
from benchmarks.ours import embedding
from benchmarks.quality import machine
from benchmarks.runs import RESULTS
from rag_app.settings import load_settings

FILE = RESULTS / "answers.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.answers", description=__doc__)
    parser.add_argument("--squad", type=int, default=300, help="questions of XQuAD and JSQuAD")
    parser.add_argument("--reports", type=int, default=20, help="reports of FinanceBench")
    parser.add_argument("--halves", nargs="*", default=list(natural.HALVES), help="natural ones")
    parser.add_argument("--list", type=Path, help="a file for what each question was shown")
    options = parser.parse_args(arguments)
    model = embedding(load_settings())
    asked = [one for one in natural.read_questions() if one.half in options.halves]
    judged = natural.judge_all(asked, model)
    if options.list is not None:
        rows = natural.as_rows(judged)
        options.list.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    results: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    results["natural"] = results.get("natural", {}) | {
        half: natural.summary(one for one in judged if one.half == half) for half in options.halves
    }
    try:
        for name in squad.SETS if options.squad else ():
            results[name] = squad.measure(name, model, options.squad)
        if options.reports:
            results["financebench"] = reports.measure(model, options.reports)
    except datasets.DataMissingError as reason:
        print(f"skipped: {reason}")
    results["command"] = "RAG_EVAL_DATA=… python -m benchmarks.answers"
    results["machine"] = machine()
    RESULTS.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(table(results))
    return 0


def table(results: Mapping[str, Any]) -> str:
    """Return the figures as a table of Markdown."""
    lines = ["| set | measure | value |", "|---|---|--:|"]
    for name, values in results.items():
        if name == "natural":
            for half, shares in values.items():
                lines += [f"| natural, {half} | {k} | {v} |" for k, v in shares.items()]
        elif name in (*squad.SETS, "financebench"):
            lines += [f"| {name} | {k} | {v} |" for k, v in values.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
