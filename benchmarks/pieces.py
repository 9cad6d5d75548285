"""Do pieces of one's own help to find passages: questions that a passage answers, say?

::

    RAG_EVAL_DATA=… .venv/bin/python -m benchmarks.pieces

*samples*: pieces in the other language over the sample PDFs (``pieces.jsonl``), and a
question in that language about the same: without the piece nothing of the passage says
what is asked. *Sets of texts*: every second question of a passage becomes a piece of it
(``IndexNode``), as a list of frequent questions would, and the others are asked; such
pieces ask for other facts of the passage, so they can mislead. ``multi_vector`` against
``hybrid`` over the same index: nDCG@10 and the share of questions whose passage comes first,
paired differences with 95 % bootstrap intervals.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core.schema import BaseNode, IndexNode, MetadataMode, TextNode

from benchmarks import datasets
from benchmarks.ours import embedding
from benchmarks.quality import machine
from benchmarks.runs import RESULTS
from pipelines.child_parent import ChildParentParser
from pipelines.documents import read_pdf
from rag_app import Index
from rag_app.evaluation.bootstrap import interval
from rag_app.settings import load_settings

FILE = RESULTS / "pieces.json"
SAMPLES = "samples"
SETS = (SAMPLES, "xquad", "jsquad")
OWN = Path(__file__).with_name("pieces.jsonl")
STRATEGIES = ("hybrid", "multi_vector")
DATA = Path(__file__).parents[1] / "data"
DEPTH = 10
Asked = tuple[str, str]
"""A question, and the id of the passage that answers it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.pieces", description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    options = parser.parse_args(arguments)
    results = json.loads(FILE.read_text()) if FILE.exists() else {"sets": {}}
    for name in options.sets:
        try:
            nodes, asked = _samples() if name == SAMPLES else _texts(datasets.load(name))
        except datasets.DataMissingError as reason:
            print(f"skipped: {reason}")
            continue
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            results["sets"][name] = _measure(nodes, asked, Path(folder) / "index")
        print(name, json.dumps(results["sets"][name]), flush=True)
    results["command"] = "RAG_EVAL_DATA=… python -m benchmarks.pieces"
    results["machine"] = machine()
    FILE.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


def halves(
    questions: Sequence[datasets.Question],
) -> tuple[list[datasets.Question], list[datasets.Question]]:
    """Return the questions that are asked, and those that become pieces of their passage."""
    seen: dict[str, int] = {}
    asked, pieces = [], []
    for question in questions:
        (passage,) = question.relevant
        seen[passage] = seen.get(passage, 0) + 1
        (asked if seen[passage] % 2 else pieces).append(question)
    return asked, pieces


def _texts(data: datasets.Dataset) -> tuple[list[BaseNode], list[Asked]]:
    asked, pieces = halves(data.questions)
    nodes: list[BaseNode] = [TextNode(id_=key, text=text) for key, text in data.texts.items()]
    nodes += [IndexNode(text=q.text, index_id=next(iter(q.relevant))) for q in pieces]
    return nodes, [(q.text, next(iter(q.relevant))) for q in asked]


def _samples() -> tuple[list[BaseNode], list[Asked]]:
    rows = [json.loads(line) for line in OWN.read_text(encoding="utf-8").splitlines()]
    passages: dict[str, list[TextNode]] = {}
    for file in dict.fromkeys(row["file"] for row in rows):
        parents = ChildParentParser(parent_size=512, child_sizes=())([read_pdf(DATA / file)])
        passages[file] = [
            TextNode(id_=node.node_id, text=node.get_content(MetadataMode.NONE)) for node in parents
        ]
    nodes: list[BaseNode] = [node for group in passages.values() for node in group]
    asked = []
    for row in rows:
        said = "".join(row["contains"].split())
        of = next(n for n in passages[row["file"]] if said in "".join(n.text.split()))
        nodes.append(IndexNode(text=row["piece"], index_id=of.node_id))
        asked.append((row["question"], of.node_id))
    return nodes, asked


def _measure(nodes: Sequence[BaseNode], asked: Sequence[Asked], path: Path) -> dict[str, Any]:
    with Index.create(path, embed_model=embedding(load_settings()), pipelines=STRATEGIES) as index:
        index.ingest(list(nodes))
        ranks = {name: [_rank(index, name, q) for q in asked] for name in STRATEGIES}
    found: dict[str, Any] = {
        "asked": len(asked),
        "pieces": sum(isinstance(node, IndexNode) for node in nodes),
    }
    for measure, gain in (("ndcg@10", _ndcg), ("first", _first)):
        scores = {name: list(map(gain, ranks[name])) for name in STRATEGIES}
        for name in STRATEGIES:
            found[f"{name}.{measure}"] = sum(scores[name]) / len(asked)
        pairs = zip(scores["multi_vector"], scores["hybrid"], strict=True)
        found[f"difference.{measure}"] = interval([one - two for one, two in pairs]).to_dict()
    return found


def _rank(index: Index, strategy: str, asked: Asked) -> int:
    """Return the rank of the question's passage, from 1; 0: not among the first ten."""
    question, wanted = asked
    hits = index.as_retriever(strategy, similarity_top_k=DEPTH).retrieve(question)
    ids = [hit.node.node_id for hit in hits]
    return ids.index(wanted) + 1 if wanted in ids else 0


def _ndcg(rank: int) -> float:
    return 1 / math.log2(rank + 1) if rank else 0.0


def _first(rank: int) -> float:
    return float(rank == 1)


if __name__ == "__main__":
    raise SystemExit(main())
