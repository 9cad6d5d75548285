"""The evaluation sets, read from the folder that ``RAG_EVAL_DATA`` names.

Only the standard library is imported: the peers' environment reads the same
sets through the same functions.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

VARIABLE = "RAG_EVAL_DATA"


class DataMissingError(Exception):
    """A set is not on this machine; the message is the reason to skip it."""


@dataclass(frozen=True)
class Question:
    """One question and what answers it.

    Attributes:
        id: unique within its set.
        text: the question.
        relevant: document id to grade; empty for sets of PDFs.
        file: the PDF that the question is about; empty for sets of texts.
        evidence: (file name, physical page from 1) pairs; empty for sets of texts.
        answers: gold answers, where the set has them.
    """

    id: str
    text: str
    relevant: Mapping[str, int] = field(default_factory=dict)
    file: str = ""
    evidence: tuple[tuple[str, int], ...] = ()
    answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dataset:
    """A set of questions over texts (``texts``) or over PDFs (``files``)."""

    name: str
    questions: tuple[Question, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()


def data_root() -> Path:
    """Return the folder of the evaluation sets.

    Raises:
        DataMissingError: ``RAG_EVAL_DATA`` is unset or names no folder.
    """
    value = os.environ.get(VARIABLE, "")
    if not value:
        raise DataMissingError(f"{VARIABLE} is not set: it names the folder of the evaluation sets")
    root = Path(value)
    if not root.is_dir():
        raise DataMissingError(f"{VARIABLE}={value} is not a folder")
    return root


def load(name: str) -> Dataset:
    """Return one of ``NAMES``.

    Raises:
        DataMissingError: the set is not on this machine.
        KeyError: there is no set of this name.
    """
    if name == "tables":
        return _table_questions()
    loader = _LOADERS[name]
    root = data_root() / name
    if not root.is_dir():
        raise DataMissingError(f"{root} is not there")
    return loader(root)


def _lines(path: Path) -> Iterator[dict[str, object]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _scifact(root: Path) -> Dataset:
    texts = {
        str(row["_id"]): f"{row['title']}\n{row['text']}"
        for row in _lines(root / "corpus.jsonl.gz")
    }
    relevant: dict[str, dict[str, int]] = {}
    with (root / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            relevant.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    questions = tuple(
        Question(id=str(row["_id"]), text=str(row["text"]), relevant=relevant[str(row["_id"])])
        for row in _lines(root / "queries.jsonl")
        if str(row["_id"]) in relevant
    )
    return Dataset("scifact", questions, texts=texts)


def _squad(root: Path) -> Dataset:
    """JaQuAD, JSQuAD and XQuAD: each question belongs to one passage."""
    contexts = root / "contexts.jsonl"
    if not contexts.exists():
        contexts = root / "contexts.jsonl.gz"
    texts = {str(row["id"]): str(row["text"]) for row in _lines(contexts)}
    questions = tuple(
        Question(
            id=str(row["id"]),
            text=str(row["question"]),
            relevant={str(row["context_id"]): 1},
            answers=tuple(row["answers"]),  # type: ignore[arg-type]
        )
        for row in _lines(root / "questions.jsonl")
    )
    return Dataset(root.name, questions, texts=texts)


def _financebench(root: Path) -> Dataset:
    questions = tuple(
        Question(
            id=str(row["id"]),
            text=str(row["question"]),
            file=str(row["file"]),
            evidence=tuple(sorted({(e["file"], int(e["page"])) for e in row["evidence"]})),  # type: ignore[attr-defined]
            answers=(str(row["answer"]),),
        )
        for row in _lines(root / "questions.jsonl")
    )
    return Dataset("financebench", questions, files=tuple(sorted((root / "pdfs").glob("*.pdf"))))


def _table_questions() -> Dataset:
    """Questions of our own, in the words of people, about tables of our sample documents."""
    questions = tuple(
        Question(
            id=str(row["id"]),
            text=str(row["question"]),
            file=str(row["file"]),
            evidence=tuple((str(row["file"]), int(page)) for page in row["pages"]),  # type: ignore[attr-defined]
        )
        for row in _lines(Path(__file__).parent / "table_questions.jsonl")
    )
    folder = Path(__file__).parents[1] / "data"
    return Dataset("tables", questions, files=tuple(sorted(folder.glob("*.pdf"))))


_LOADERS = {
    "scifact": _scifact,
    "financebench": _financebench,
    "jaquad": _squad,
    "jsquad": _squad,
    "xquad": _squad,
}
NAMES = (*_LOADERS, "tables")
