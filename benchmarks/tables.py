"""Results as Markdown tables for the README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first are set to the right."""
    rule = ["---", *["--:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *rows])


def number(value: float | None, digits: int = 3) -> str:
    """Return a share as ``.412``, other numbers plainly, nothing as a dash."""
    if value is None:
        return "—"
    text = f"{value:.{digits}f}"
    return text.removeprefix("0") if text.startswith("0.") else text


def with_interval(entry: Mapping[str, float] | None, digits: int = 3) -> str:
    """Return ``.412 [.301, .520]``."""
    if entry is None:
        return "—"
    low, high = number(entry["low"], digits), number(entry["high"], digits)
    return f"{number(entry['mean'], digits)} [{low}, {high}]"


def difference(entry: Mapping[str, float] | None, digits: int = 3) -> str:
    """Return ``+.145 [.081, .212]``."""
    if entry is None:
        return "—"
    sign = "+" if entry["mean"] >= 0 else "−"
    mean = number(abs(entry["mean"]), digits)
    low, high = (
        number(abs(x), digits) if x >= 0 else "−" + number(abs(x), digits)
        for x in (entry["low"], entry["high"])
    )
    return f"{sign}{mean} [{low}, {high}]"


# Per kind of task: the columns (measure → heading).
PAGE_MEASURES = {
    "recall@1": "page recall@1",
    "recall@3": "@3",
    "recall@5": "@5",
    "recall@10": "@10",
    "mrr@10": "MRR@10",
    "covered@5": "covered@5",
    "tokens@5": "tokens@5",
}
TEXT_MEASURES = {"ndcg@10": "nDCG@10", "recall@10": "recall@10", "mrr@10": "MRR@10"}


def quality_tables(results: Mapping[str, Any]) -> str:
    """Return a table per task: systems by rows, the baseline's paired difference last."""
    parts = []
    for task, entry in results["tasks"].items():
        measures = PAGE_MEASURES if task.startswith("financebench") else TEXT_MEASURES
        main = "recall@5" if task.startswith("financebench") else "ndcg@10"
        if task == "scifact":
            measures = {**measures, "recall@100": "recall@100"}
        parts.append(_quality_table(task, entry, measures, main))
    return "\n\n".join(parts)


def _quality_table(
    task: str, entry: Mapping[str, Any], measures: Mapping[str, str], main: str
) -> str:
    head = ["", *measures.values(), f"{main} against stock naive"]
    rows = []
    for system, result in entry["systems"].items():
        metrics = result["metrics"]
        cells = [_cell(name, metrics.get(name)) for name in measures]
        rows.append([system, *cells, difference(result["difference"].get(main))])
    counts = {result["questions"] for result in entry["systems"].values()}
    asked = ", ".join(str(count) for count in sorted(counts))
    return f"**{task}** ({asked} questions)\n\n{markdown(head, rows)}"


def _cell(name: str, entry: Mapping[str, float] | None) -> str:
    if entry is None:
        return "—"
    return f"{entry['mean']:,.0f}" if name.startswith("tokens") else number(entry["mean"])
