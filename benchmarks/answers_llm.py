"""Answers by a language model to questions that the documents do not answer.

::

    RAG_LLM=like:MODEL RAG_LLM_BASE_URL=http://localhost:8000/v1 RAG_EVAL_DATA=… \
        .venv/bin/python -m benchmarks.answers_llm [--questions N]

XQuAD's articles are cut in two halves as in ``benchmarks.squad``; the questions of
the reported half are asked of the other one. ``sent``: what the decision before any
call let pass; ``answered``: what the model then answered instead of refusing;
``shown_verified``: answers of which every sentence passed its checks.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core.schema import Document

from benchmarks import datasets
from benchmarks.answers import FILE
from benchmarks.ours import embedding
from benchmarks.squad import PASSAGES, halves
from rag_app import Index
from rag_app.settings import load_settings

NAME = "xquad"
SEED = 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.answers_llm", description=__doc__)
    parser.add_argument("--questions", type=int, help="a sample of so many, by a fixed seed")
    options = parser.parse_args(arguments)
    settings = load_settings()
    if settings.llm is None:
        print("skipped: no language model is named (RAG_LLM)")
        return 0
    try:
        data, half_of = datasets.load(NAME), halves(NAME)
    except datasets.DataMissingError as reason:
        print(f"skipped: {reason}")
        return 0
    asked = [q for q in data.questions if half_of[next(iter(q.relevant))] == 1]
    if options.questions is not None:
        asked = random.Random(SEED).sample(asked, options.questions)
    texts = {key: text for key, text in data.texts.items() if half_of[key] == 0}
    entry = _ask([question.text for question in asked], texts)
    results = json.loads(FILE.read_text(encoding="utf-8"))
    results.setdefault("false_answers_llm", {})[settings.llm] = entry
    print(settings.llm, json.dumps(entry))
    FILE.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def _ask(questions: Sequence[str], texts: dict[str, str]) -> dict[str, Any]:
    counts = {"asked": len(questions), "sent": 0, "answered": 0, "shown_verified": 0}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        settings = load_settings()
        model = embedding(settings)
        made = Index.create(Path(folder) / "half", embed_model=model, settings=settings)
        with made as index:
            index.ingest([Document(text=text, id_=key) for key, text in texts.items()])
            engine = index.as_query_engine(similarity_top_k=PASSAGES)
            for question in questions:
                answer = engine.query(question)
                if not answer.usage.llm_calls:
                    continue
                counts["sent"] += 1
                if answer.outcome == "answered":
                    counts["answered"] += 1
                    counts["shown_verified"] += all(one.verified for one in answer.sentences)
                print(counts, question, "→", str(answer)[:100], flush=True)
    return counts


if __name__ == "__main__":
    raise SystemExit(main())
