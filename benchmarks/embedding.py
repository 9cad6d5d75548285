"""The embedding model: texts per second by runtime and precision, and whether ranking stays.

``python -m benchmarks.embedding [SECTION…]`` writes ``benchmarks/results/embedding.json``.
SciFact needs ``RAG_EVAL_DATA``; without it that part is skipped with a reason.
``python -m benchmarks.embedding reference`` writes the vectors that are shipped
with the program, by torch, after a change of the sentences in
``rag_app.models.embedding.agreement``.
"""

from __future__ import annotations

import json
import math
import os
import platform
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding

from benchmarks import datasets, measure
from benchmarks.runs import CACHE
from benchmarks.vector_cache import KeptEmbedding
from rag_app.models.embedding import agreement
from rag_app.models.embedding.folder import locate
from rag_app.models.embedding.load import describe_embedding, load_embedding
from rag_app.models.embedding.runtime import choose_precision
from rag_app.settings import Settings

FILE = Path(__file__).parent / "results" / "embedding.json"
VECTORS = Path(agreement.__file__).parent / "vectors"
LENGTHS = {90: 128, 240: 64}  # tokens → texts per round
ROUNDS = 3
SYSTEMS = {
    "torch-float32": {"embed_runtime": "torch", "embed_precision": "float32"},
    "torch-bfloat16": {"embed_runtime": "torch", "embed_precision": "bfloat16"},
    "openvino-float32": {"embed_runtime": "openvino", "embed_precision": "float32"},
    "openvino-bfloat16": {"embed_runtime": "openvino", "embed_precision": "bfloat16"},
}

Vectors = npt.NDArray[np.float32]


def load_all() -> dict[str, BaseEmbedding]:
    """Return the default model in each runtime and number format that this CPU computes."""
    native = choose_precision("auto") == "bfloat16"
    return {
        name: load_embedding(Settings(**options))  # type: ignore[arg-type]
        for name, options in SYSTEMS.items()
        if native or options["embed_precision"] == "float32"
    }


def make_texts(tokens: int, count: int, seed: int) -> list[str]:
    """Return texts of exactly so many tokens, the two special ones included."""
    vocabulary = (locate("minilm").path / "vocab.txt").read_text(encoding="utf-8").split("\n")
    words = [word for word in vocabulary if len(word) > 3 and word.isascii() and word.isalpha()]
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(words, k=tokens - 2)) for _ in range(count)]


def speed(models: Mapping[str, BaseEmbedding]) -> dict[str, Any]:
    """Return texts per second, and per second of CPU time, medians of interleaved rounds."""
    results: dict[str, Any] = {}
    for tokens, count in LENGTHS.items():
        jobs = {
            name: lambda model=model, tokens=tokens, count=count: _rates(model, tokens, count)
            for name, model in models.items()
        }
        measured = measure.interleaved(jobs, ROUNDS, warm_up=True)
        results[str(tokens)] = {
            name: {
                "texts_per_second": round(measure.median([rate for rate, _ in rates]), 1),
                "texts_per_cpu_second": round(measure.median([rate for _, rate in rates]), 1),
            }
            for name, rates in measured.items()
        }
    return results


def _rates(model: BaseEmbedding, tokens: int, count: int) -> tuple[float, float]:
    # New texts each time: the runtime computes equal ones once.
    texts = make_texts(tokens, count, seed=time.perf_counter_ns())
    wall, cpu = time.perf_counter(), time.process_time()
    model.get_text_embedding_batch(texts)
    return count / (time.perf_counter() - wall), count / (time.process_time() - cpu)


def queries(models: Mapping[str, BaseEmbedding]) -> dict[str, float]:
    """Return milliseconds for one question of about ten tokens, medians."""
    return {
        name: round(
            1000
            * measure.median(
                measure.timed(lambda: model.get_query_embedding("What is the lead time?"), 50)  # noqa: B023
            ),
            2,
        )
        for name, model in models.items()
    }


def ranking(models: Mapping[str, BaseEmbedding]) -> dict[str, Any]:
    """Return nDCG@10 on SciFact by vectors alone, and the least cosine with torch in float32."""
    data = datasets.load("scifact")
    ids, texts = list(data.texts), list(data.texts.values())
    scores: dict[str, Any] = {}
    reference: Vectors | None = None
    for name in ("torch-float32", "openvino-bfloat16"):
        if name not in models:
            continue
        # Kept on disk: an interrupted run goes on where it stopped.
        passages = _embed(KeptEmbedding(models[name], CACHE), texts)
        questions = np.array(
            [models[name].get_query_embedding(question.text) for question in data.questions]
        )
        found = np.argsort(-(questions @ passages.T), axis=1, kind="stable")[:, :10]
        gains = [
            ndcg([question.relevant.get(ids[place], 0) for place in row], question.relevant)
            for question, row in zip(data.questions, found, strict=True)
        ]
        reference = passages if reference is None else reference
        scores[name] = {
            "ndcg@10": round(float(np.mean(gains)), 4),
            "least_cosine": round(float((passages * reference).sum(axis=1).min()), 5),
        }
    return scores


def _embed(model: BaseEmbedding, texts: Sequence[str]) -> Vectors:
    return np.array(model.get_text_embedding_batch(list(texts)), dtype=np.float32)


def ndcg(grades: Sequence[int], relevant: Mapping[str, int]) -> float:
    """Return nDCG of a ranking (Järvelin & Kekäläinen 2002, linear gain, log2 discount)."""
    ideal = sorted(relevant.values(), reverse=True)[: len(grades)]
    best = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(ideal))
    return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades)) / best


def write_reference() -> None:
    """Write torch's vectors of the sentences that a runtime is checked with."""
    model = load_embedding(Settings(embed_runtime="torch", embed_precision="float32"))
    path = VECTORS / f"{describe_embedding(model).fingerprint[:16]}.npy"
    np.save(path, _embed(model, agreement.SENTENCES))
    print(f"written: {path}")


def main(sections: Sequence[str]) -> None:
    """Measure the sections and merge them into the results, each as soon as it is there."""
    if "reference" in sections:
        write_reference()
        return
    models = load_all()
    results = json.loads(FILE.read_text()) if FILE.exists() else {}
    results |= {
        "command": "RAG_EVAL_DATA=… python -m benchmarks.embedding",
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "model": describe_embedding(models["torch-float32"]).name,
    }
    for section in sections or SECTIONS:
        try:
            results[section] = SECTIONS[section](models)
        except datasets.DataMissingError as reason:
            results[section] = {"skipped": str(reason)}
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


SECTIONS = {"query_ms": queries, "by_tokens": speed, "scifact": ranking}

if __name__ == "__main__":
    main(sys.argv[1:])
