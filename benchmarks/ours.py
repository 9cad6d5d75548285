"""Runs of this project: every strategy through the real ``Index``."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import Document, MetadataMode, NodeWithScore

from benchmarks import datasets
from benchmarks.runs import CACHE, Task, run_path, write_run
from benchmarks.vector_cache import KeptEmbedding
from pipelines.analysers import FURTHER
from rag_app import Index
from rag_app.models.embedding.load import load_embedding
from rag_app.retrieval.strategy import Strategy
from rag_app.settings import Settings, load_settings

STRATEGIES = ("hybrid", "naive", "child_parent", "sentence_window", "bm25", *FURTHER)
_Run = dict[str, list[dict[str, Any]]]


def embedding(settings: Settings) -> BaseEmbedding:
    """Return the default model of this project, its vectors kept."""
    return KeptEmbedding(load_embedding(settings), CACHE)


def run_ours(
    task: Task,
    data: datasets.Dataset,
    strategies: Sequence[str | Strategy],
    only: Sequence[str] = (),
    pipelines: Sequence[str] = (),
) -> list[str]:
    """Write one run per strategy; return why strategies could not run, if any.

    Args:
        task: what is measured.
        data: its questions, and what they are about.
        strategies: by name, or as they are composed.
        only: names of PDFs that alone are indexed; empty: all.
        pipelines: what is built for them; empty: the pipelines of the strategies' names.
    """
    settings = load_settings()
    model = embedding(settings)
    named = {s if isinstance(s, str) else s.name: s for s in strategies}
    runs: _Run = {name: [] for name in named}
    problems: dict[str, str] = {}
    for inputs, questions in _groups(task, data, only):
        folder = Path(tempfile.mkdtemp(prefix="bench-"))
        try:
            index = Index.create(
                folder / "index", embed_model=model, pipelines=tuple(pipelines) or tuple(named)
            )
            index.ingest(*inputs)
            for name, strategy in named.items():
                if problem := _ask(index, strategy, task.k, questions, runs[name]):
                    problems[name] = problem
            index.close()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    for name, lines in runs.items():
        if name not in problems:
            write_run(run_path(task, f"rag_app-{name}"), lines)
    return [f"{name}: {problem}" for name, problem in problems.items()]


def _groups(
    task: Task, data: datasets.Dataset, only: Sequence[str]
) -> Iterator[tuple[list[Path] | list[Document], list[datasets.Question]]]:
    """Give what is indexed together, and the questions asked of it."""
    if data.texts:
        documents = [Document(text=text, id_=key) for key, text in data.texts.items()]
        yield documents, list(data.questions)
        return
    files = [file for file in data.files if not only or file.name in only]
    if not task.own:
        names = {file.name for file in files}
        yield files, [q for q in data.questions if q.file in names]
        return
    for file in files:
        questions = [q for q in data.questions if q.file == file.name]
        if questions:
            yield [file], questions


def _ask(
    index: Index,
    strategy: str | Strategy,
    k: int,
    questions: Sequence[datasets.Question],
    lines: list[dict[str, Any]],
) -> str:
    """Add what is found for each question; return why nothing could be found, if so."""
    from pipelines.errors import RagError

    try:
        retriever = index.as_retriever(strategy=strategy, similarity_top_k=k, depth=max(50, k))
        strict = retriever.as_strict() if hasattr(retriever, "as_strict") else retriever
        for question in questions:
            started = time.perf_counter()
            hits = strict.retrieve(question.text)
            seconds = time.perf_counter() - started
            lines.append(
                {"id": question.id, "seconds": seconds, "hits": [_hit(found) for found in hits]}
            )
    except RagError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _hit(found: NodeWithScore) -> dict[str, Any]:
    metadata = found.node.metadata
    pages = list(metadata.get("pages") or [])
    source = metadata.get("file_name") if pages else found.node.ref_doc_id
    return {
        "source": source or "",
        "pages": pages,
        "text": found.node.get_content(metadata_mode=MetadataMode.NONE),
    }
