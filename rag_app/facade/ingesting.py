"""An ingest with the settings and the models of an index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from llama_index.core.llms.llm import LLM
from llama_index.core.schema import BaseNode, Document

from rag_app.answer.prompts import load_prompts
from rag_app.compatibility import explicit_child_sizes, explicit_setting, reading_options
from rag_app.facade.opening import OpenedIndex
from rag_app.facade.querying import configured_llm
from rag_app.ingest import IngestReport, OnFile, PieceWriter, Progress, ingest

Input = str | Path | Document | BaseNode


def ingest_into(
    opened: OpenedIndex,
    inputs: Sequence[Input | Sequence[Input]],
    *,
    pipelines: Sequence[str],
    llm: LLM | None,
    prune: bool,
    progress: Progress | None,
    on_file: OnFile | None,
    workers: int | None,
    password: str | None,
    timeout: float,
) -> IngestReport:
    """Ingest inputs; see :meth:`rag_app.index.Index.ingest`."""
    settings = opened.settings
    return ingest(
        opened.store,
        [item for one in inputs for item in (one if isinstance(one, (list, tuple)) else [one])],
        embed_model=opened.embed_model,
        pipelines=pipelines,
        prune=prune,
        piece_writer=_piece_writer(opened, pipelines, llm),
        progress=progress,
        on_file=on_file,
        workers=workers,
        reader=explicit_setting(settings, "reader"),
        child_sizes=explicit_child_sizes(settings),
        reading=reading_options(settings, password),
        timeout=timeout,
    )


def _piece_writer(
    opened: OpenedIndex, pipelines: Sequence[str], llm: LLM | None
) -> PieceWriter | None:
    if "multi_vector" not in pipelines and "piece" not in opened.store.config.kinds:
        return None
    model = llm or configured_llm(opened.settings)
    if model is None:
        return None
    from rag_app.answer.written.pieces import PieceWriter as ByModel

    return ByModel(model, prompts=load_prompts(opened.settings.prompts))
