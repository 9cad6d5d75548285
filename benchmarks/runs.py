"""A run: what one system found for each question of one set, kept as JSON Lines.

A run is produced once (by this project's ``Index`` or by a peer in its own
process) and scored as often as wanted; both kinds are scored by the same code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from benchmarks import datasets
from rag_app.evaluation import EvaluationReport, Question, evaluate

HERE = Path(__file__).parent
CACHE = HERE / ".cache"
RESULTS = HERE / "results"

# What is measured: name → data set, how many passages are asked for, at which k it is scored.
# "own": each question sees only the PDF that it is about.


@dataclass(frozen=True)
class Task:
    """One set of questions, and what of it is open to the searcher."""

    name: str
    dataset: str
    k: int
    ks: tuple[int, ...]
    own: bool = False


TASKS = {
    task.name: task
    for task in (
        Task("financebench-own", "financebench", 20, (1, 3, 5, 10), own=True),
        Task("financebench-open", "financebench", 20, (1, 3, 5, 10)),
        Task("scifact", "scifact", 100, (1, 5, 10, 100)),
        Task("xquad", "xquad", 20, (1, 5, 10)),
        Task("jsquad", "jsquad", 20, (1, 5, 10)),
        Task("jaquad", "jaquad", 20, (1, 5, 10)),
        Task("tables", "tables", 20, (1, 3, 5, 10)),
    )
}


def run_path(task: Task, system: str) -> Path:
    """Return where the run of a system on a task is kept."""
    return CACHE / "runs" / f"{task.name}.{system}.jsonl"


def write_run(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write a run whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")
    partial.replace(path)


def read_run(path: Path) -> dict[str, dict[str, Any]]:
    """Return the lines of a run by question id."""
    with path.open(encoding="utf-8") as file:
        return {line["id"]: line for line in map(json.loads, file)}


class Replay:
    """Gives a run back as a retriever; it is asked by question id."""

    def __init__(self, lines: dict[str, dict[str, Any]]) -> None:
        self._lines = lines

    def retrieve(self, question_id: str) -> list[NodeWithScore]:
        """Return what the system found for the question of this id."""
        hits = self._lines[question_id]["hits"]
        return [
            NodeWithScore(node=_node(rank, hit), score=1.0 / rank)
            for rank, hit in enumerate(hits, start=1)
        ]


def _node(rank: int, hit: dict[str, Any]) -> TextNode:
    return TextNode(
        id_=f"hit-{rank}",
        text=hit["text"],
        metadata={"file_name": hit["source"], "pages": hit["pages"]},
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit["source"])},
    )


def score(
    task: Task,
    system: str,
    questions: Sequence[datasets.Question],
    page_text: Callable[[str, int], str] | None,
) -> EvaluationReport:
    """Measure a kept run on the questions that it answered."""
    lines = read_run(run_path(task, system))
    return evaluate(
        Replay(lines),
        _to_measure(q for q in questions if q.id in lines),
        name=system,
        ks=task.ks,
        page_text=page_text,
    )


def _to_measure(questions: Iterable[datasets.Question]) -> Iterator[Question]:
    for question in questions:
        yield Question(
            question=question.id,
            id=question.id,
            pages=question.evidence,
            documents={key: float(gain) for key, gain in question.relevant.items() if gain > 0},
        )
