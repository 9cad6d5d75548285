"""FinanceBench: questions put to their own report, and to another company's.

Without a language model few of these questions can be answered (most ask for a computed
figure); what is measured is whether a person is shown the page that answers, and whether a
report of another company is said to answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from benchmarks import datasets
from benchmarks.natural import share
from benchmarks.runs import CACHE
from rag_app import Index

FOLDER = CACHE / "reports"


@dataclass(frozen=True)
class Asked:
    """What became of one question.

    Attributes:
        outcome: of its own report.
        found: whether a page of the evidence is among the pages of the passages.
        shown: whether such a page is cited, or among the closest passages.
        elsewhere: outcome of the report of another company.
    """

    outcome: str
    found: bool
    shown: bool
    elsewhere: str


def measure(model: BaseEmbedding, reports: int) -> dict[str, Any]:
    """Return the shares over the questions on the smallest reports, so many of them.

    Raises:
        DataMissingError: the set is not on this machine.
    """
    data = datasets.load("financebench")
    files = sorted(data.files, key=lambda path: path.stat().st_size)[:reports]
    names = [path.name for path in files]
    asked = [question for question in data.questions if question.file in names]
    cases = [_ask(one, files, model) for one in asked]
    found = [case for case in cases if case.found]
    return {
        "reports": len(files),
        "questions": len(cases),
        "evidence_page_found": share(case.found for case in cases),
        "evidence_page_shown": share(case.shown for case in cases),
        "answered": share(case.outcome == "answered" for case in cases),
        "refused_though_found": share(case.outcome == "refused" for case in found),
        "other_company_not_answered": share(case.elsewhere != "answered" for case in cases),
    }


def _ask(question: datasets.Question, files: Sequence[Path], model: BaseEmbedding) -> Asked:
    own = next(path for path in files if path.name == question.file)
    pages = {page for file, page in question.evidence if file == question.file}
    answer = _engine(own, model).query(question.text)
    read = {page for node in answer.source_nodes for page in node.node.metadata.get("pages") or ()}
    document = answer.to_dict()
    cited = {page for one in document["citations"] for page in one["pages"]}
    near = {page for one in document.get("closest", ()) for page in one["pages"]}
    other = _engine(_of_another_company(own, files), model).query(question.text)
    return Asked(
        outcome=answer.outcome,
        found=bool(read & pages),
        shown=bool((cited | near) & pages),
        elsewhere=other.outcome,
    )


def _of_another_company(own: Path, files: Sequence[Path]) -> Path:
    """Return the next report, by size, of a company that has another name."""
    company = own.stem.split("_")[0].casefold()
    at = files.index(own)
    others = (*files[at + 1 :], *files[:at])
    return next(path for path in others if path.stem.split("_")[0].casefold() != company)


def _engine(path: Path, model: BaseEmbedding) -> Any:
    """Return what answers from one report; its index is kept."""
    folder = FOLDER / f"{path.stem}.idx"
    if not folder.exists():
        with Index.create(folder, embed_model=model) as index:
            index.ingest(path)
    return Index.open(folder, embed_model=model).as_query_engine()
