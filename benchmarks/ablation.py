"""What tables and glossaries add to ``hybrid``: each alone, both, neither, by paired differences.

"both" is the default; "every glossary" takes all of this program's.

::

    RAG_EVAL_DATA=… .venv/bin/python -m benchmarks.ablation run
    … run --tasks xquad scifact
    .venv/bin/python -m benchmarks.ablation table

FinanceBench is told apart by report: weights and words were chosen on the reports of even place
in the list of names, those of odd place were measured once, at the end. Vectors are kept between
runs (``benchmarks/.cache``), indexes are built anew.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from benchmarks import datasets
from benchmarks.quality import machine, page_text
from benchmarks.runs import RESULTS, TASKS, Task, run_path, score
from benchmarks.tables import difference, markdown, number
from pipelines.lines import classify
from pipelines.rows import row_share
from rag_app.evaluation import EvaluationReport, compare
from rag_app.retrieval.glossary import terms_in
from rag_app.retrieval.glossary_files import load_glossaries, shipped_names
from rag_app.retrieval.strategy import STRATEGIES, Strategy

FILE = RESULTS / "ablation.json"
BASE = "neither"
_HYBRID = STRATEGIES["hybrid"]
VARIANTS: Mapping[str, Strategy] = MappingProxyType(
    {
        BASE: replace(_HYBRID, name=BASE, prefer_tables=False, glossary=("none",)),
        "tables": replace(_HYBRID, name="tables", glossary=("none",)),
        "glossary": replace(_HYBRID, name="glossary", prefer_tables=False),
        "both": replace(_HYBRID, name="both"),
        "both, every glossary": replace(
            _HYBRID, name="both, every glossary", glossary=tuple(shipped_names())
        ),
    }
)
Part = Callable[[datasets.Question], bool]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.ablation", description=__doc__)
    parser.add_argument("command", choices=("run", "score", "reach", "table"))
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=TASKS)
    options = parser.parse_args(arguments)
    if options.command != "table":
        for name in options.tasks:
            try:
                if options.command != "reach":
                    _task(TASKS[name], ask=options.command == "run")
                _note_reach(TASKS[name])
            except datasets.DataMissingError as reason:
                print(f"{name}: skipped: {reason}")
    print(ablation_tables(json.loads(FILE.read_text())) if FILE.exists() else "no results yet")
    return 0


def _task(task: Task, *, ask: bool) -> None:
    from benchmarks.ours import run_ours

    data = datasets.load(task.dataset)
    if ask:
        for problem in run_ours(task, data, list(VARIANTS.values()), pipelines=("hybrid",)):
            print(f"{task.name}: {problem}")
    results = json.loads(FILE.read_text()) if FILE.exists() else {"tasks": {}}
    results["tasks"][task.name] = {
        part: measured(_reports(task, data, within), measures_of(task))
        for part, within in parts_of(data).items()
    }
    results["command"] = "RAG_EVAL_DATA=… python -m benchmarks.ablation run"
    results["machine"] = machine()
    RESULTS.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(results, indent=1, sort_keys=False) + "\n")


def _note_reach(task: Task) -> None:
    data = datasets.load(task.dataset)
    if data.texts:
        results = json.loads(FILE.read_text()) if FILE.exists() else {"tasks": {}}
        results.setdefault("reach", {})[task.name] = reach(data)
        FILE.write_text(json.dumps(results, indent=1, sort_keys=False) + "\n")


def reach(data: datasets.Dataset) -> dict[str, int]:
    """Return how many texts hold a table, and how many questions name a term of the default.

    Where it is none of either, the default finds what it found without them.
    """
    glossaries = load_glossaries(_HYBRID.glossary)
    return {
        "texts": len(data.texts),
        "with_tables": sum(row_share(classify(t), (0, len(t))) > 0 for t in data.texts.values()),
        "questions": len(data.questions),
        "with_terms": sum(bool(terms_in(q.text, glossaries)) for q in data.questions),
    }


def measures_of(task: Task) -> tuple[str, ...]:
    """Return what a task is judged by: pages found, or the grade of its texts."""
    if task.dataset in ("financebench", "tables"):
        return ("recall@5", "mrr@10", "recall_in_4000")
    return ("ndcg@10", "mrr@10")


def parts_of(data: datasets.Dataset) -> dict[str, Part]:
    """Return the parts that a set is measured in: all of it, and reports by halves."""
    parts: dict[str, Part] = {"all": lambda _: True}
    if data.name == "financebench":
        chosen_on = set(sorted(file.name for file in data.files)[::2])
        parts["development half"] = lambda question: question.file in chosen_on
        parts["other half"] = lambda question: question.file not in chosen_on
    return parts


def _reports(task: Task, data: datasets.Dataset, within: Part) -> dict[str, EvaluationReport]:
    questions = [question for question in data.questions if within(question)]
    return {
        name: score(task, f"rag_app-{name}", questions, page_text(data, "rag_app"))
        for name in VARIANTS
        if run_path(task, f"rag_app-{name}").exists()
    }


def measured(reports: Mapping[str, EvaluationReport], wanted: Sequence[str]) -> dict[str, Any]:
    """Return the means of each variant, and how it differs from the one with neither."""
    entry: dict[str, Any] = {}
    for name, report in reports.items():
        measures = [measure for measure in wanted if measure in report.measures]
        entry[name] = {
            "questions": len(report.results),
            "metrics": {measure: report.mean(measure).to_dict() for measure in measures},
        }
        if name != BASE and BASE in reports:
            entry[name]["difference"] = {
                measure: found.to_dict() | _counts(report, reports[BASE], measure)
                for measure, found in compare(report, reports[BASE], measures).items()
            }
    return entry


def _counts(ours: EvaluationReport, theirs: EvaluationReport, measure: str) -> dict[str, Any]:
    """Return the questions that are better and worse, by id."""
    left, right = ours.values(measure), theirs.values(measure)
    return {
        "better": [key for key in left if left[key] > right[key]],
        "worse": [key for key in left if left[key] < right[key]],
    }


def ablation_tables(results: Mapping[str, Any]) -> str:
    """Return a Markdown table per task and part; differences are paired, with 95 % intervals."""
    tables = [
        _table(f"{task}, {part}" if len(parts) > 1 else task, entry)
        for task, parts in results["tasks"].items()
        for part, entry in parts.items()
        if entry
    ]
    rows = [
        [task, *(f"{entry[key]:,}" for key in ("texts", "with_tables", "questions", "with_terms"))]
        for task, entry in results.get("reach", {}).items()
    ]
    if rows:
        head = ["", "texts", "with a table", "questions", "with a term"]
        tables.append(markdown(head, rows))
    return "\n\n".join(tables)


def _table(title: str, entry: Mapping[str, Any]) -> str:
    measures = list(next(iter(entry.values()))["metrics"])
    head = [""]
    for measure in measures:
        head += [measure, "difference", "better / worse"]
    rows = []
    for name, result in entry.items():
        row = [name]
        for measure in measures:
            against = result.get("difference", {}).get(measure)
            counts = f"{len(against['better'])} / {len(against['worse'])}" if against else "—"
            row += [number(result["metrics"][measure]["mean"]), difference(against), counts]
        rows.append(row)
    asked = next(iter(entry.values()))["questions"]
    return f"**{title}** ({asked} questions)\n\n{markdown(head, rows)}"


if __name__ == "__main__":
    sys.exit(main())
