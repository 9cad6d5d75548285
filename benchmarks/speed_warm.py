"""Warm queries, throughput and resident memory, in this process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.schema import QueryBundle

from benchmarks.measure import median, pss_mb, timed
from benchmarks.synthetic import DIMENSION, KINDS, RandomEmbedding, build, words

QUERIES = 40
AT_ONCE = 8


def warm(sizes: Sequence[int], compare_at: int = 20_000) -> dict[str, Any]:
    """Return medians in ms of a hybrid query without the model's time, by vectors per list.

    The same query takes a tenth more or less from one process to the next, so the smaller
    sizes are measured in ten of them.
    """
    entries = [_median_of([_in_a_process(size) for _ in range(_processes(size))]) for size in sizes]
    return {"sizes": entries, "simple_vector_store": _against_simple(compare_at)}


def _processes(size: int) -> int:
    return min(10, max(1, 200_000 // size))


def _in_a_process(size: int) -> dict[str, Any]:
    script = (
        "import json\nfrom benchmarks.speed_warm import warm_one\n"
        f"print(json.dumps(warm_one({size})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _median_of(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the median of each figure, and all of the one that matters."""
    middle = {key: median([one[key] for one in runs]) for key in runs[0]}
    return {**middle, "all_hybrid_ms": sorted(round(one["hybrid_ms"], 2) for one in runs)}


def warm_one(size: int) -> dict[str, Any]:
    """Measure one size in this process."""
    from rag_app.retrieval.retriever import StrategyRetriever
    from rag_app.retrieval.strategy import get_strategy
    from rag_app.store.sqlite.store import open_store

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        path = Path(folder) / "index"
        started = time.perf_counter()
        build(path, size)
        built = time.perf_counter() - started
        store = open_store(path)
        model = RandomEmbedding()
        retriever = StrategyRetriever(
            store, get_strategy("hybrid"), embed_model=model, similarity_top_k=5, strict=True
        )
        questions = iter(_questions(model, QUERIES + 5))
        for _ in range(5):
            retriever.retrieve(next(questions))
        cpu = time.process_time()
        hybrid = timed(lambda: retriever.retrieve(next(questions)), QUERIES, warm_up=0)
        cpu = time.process_time() - cpu
        arms = _arms(store, model)
        store.close()
    bandwidth = memory_bandwidth()
    one_pass = size * DIMENSION * 4 / bandwidth
    return {
        "vectors_per_list": size,
        "lists": len(KINDS),
        "build_s": built,
        "hybrid_ms": median(hybrid) * 1e3,
        # What the machine's other work does not change.
        "hybrid_cpu_ms": cpu / QUERIES * 1e3,
        "hybrid_p95_ms": float(np.quantile(hybrid, 0.95)) * 1e3,
        **arms,
        "memory_gb_per_s": bandwidth / 1e9,
        "one_pass_ms": one_pass * 1e3,
        "vector_arm_over_one_pass": arms["vector_arm_ms"] / (one_pass * 1e3),
    }


def _questions(model: RandomEmbedding, count: int) -> list[QueryBundle]:
    """Return questions with their vectors: the model's own time is not measured."""
    rng = np.random.default_rng(1)
    texts = [" ".join(words(rng, 12)) for _ in range(count)]
    return [QueryBundle(text, embedding=model.get_query_embedding(text)) for text in texts]


def _arms(store: Any, model: RandomEmbedding) -> dict[str, float]:
    rng = np.random.default_rng(2)
    terms = [words(rng, 12) for _ in range(QUERIES + 3)]
    vectors = [np.array(model.get_query_embedding(" ".join(some)), np.float32) for some in terms]
    with store.snapshot() as snapshot:
        # Each query is another one: a snapshot remembers what it was asked.
        queries, asked = iter(vectors), iter(terms)
        vector = timed(lambda: snapshot.search_vectors(KINDS[0], next(queries), 50), QUERIES)
        lexical = timed(lambda: snapshot.search_words("parent", next(asked), 50), QUERIES)
    return {"vector_arm_ms": median(vector) * 1e3, "words_arm_ms": median(lexical) * 1e3}


def memory_bandwidth(rows: int = 200_000) -> float:
    """Return how many bytes of float32 vectors this machine reads in a second.

    The best median of a product by all cores and a plain sum, over more than its caches hold.
    """
    matrix = np.random.default_rng(3).standard_normal((rows, DIMENSION), dtype=np.float32)
    query = matrix[0].copy()
    passes = (lambda: matrix @ query, matrix.sum)
    return matrix.nbytes / min(median(timed(one, 11)) for one in passes)


def _against_simple(rows: int) -> dict[str, Any]:
    """Compare one arm of ours with LlamaIndex's SimpleVectorStore at the same size."""
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
    from llama_index.core.vector_stores import SimpleVectorStore, VectorStoreQuery

    from rag_app.store.sqlite.store import open_store

    rng = np.random.default_rng(4)
    matrix = rng.standard_normal((rows, DIMENSION), dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    nodes = [TextNode(id_=str(i), text="", embedding=row.tolist()) for i, row in enumerate(matrix)]
    for node in nodes:
        node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="one")
    simple = SimpleVectorStore()
    simple.add(nodes)
    query = VectorStoreQuery(query_embedding=matrix[0].tolist(), similarity_top_k=50)
    theirs = median(timed(lambda: simple.query(query), 10, warm_up=1)) * 1e3
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        path = Path(folder) / "index"
        build(path, rows)
        store = open_store(path)
        with store.snapshot() as snapshot:
            queries = iter(matrix)
            search = partial(snapshot.search_vectors, KINDS[0], depth=50)
            ours = median(timed(lambda: search(query=next(queries)), QUERIES))
        store.close()
    return {
        "rows": rows,
        "simple_vector_store_ms": theirs,
        "vector_arm_ms": ours * 1e3,
        "times_faster": theirs / (ours * 1e3),
    }


def throughput(index_path: Path, questions: Sequence[str]) -> dict[str, Any]:
    """Return questions per second one at a time and eight at once, and how busy the cores were."""
    from rag_app import Index

    index = Index.open(index_path)
    found = {}
    for name, ask in (
        ("retrieve", index.as_retriever().retrieve),
        ("answer", index.as_query_engine().query),
    ):
        for question in questions[:3]:
            ask(question)
        single, many = _rate(ask, questions, 1), _rate(ask, questions, AT_ONCE)
        found[name] = {
            "one_at_a_time_per_s": single[0],
            "one_at_a_time_cores": single[1],
            "eight_at_once_per_s": many[0],
            "eight_at_once_cores": many[1],
            "ratio": many[0] / single[0],
        }
    found["resident_mb"] = pss_mb()
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    index.close()
    return found


def serve(index_path: Path, questions: Sequence[str], what: str, seconds: float) -> float:
    """Return questions per second of this process alone, one at a time, from a word on stdin."""
    from rag_app import Index

    index = Index.open(index_path)
    ask: Any = (
        index.as_retriever().retrieve if what == "retrieve" else index.as_query_engine().query
    )
    for question in questions[:5]:
        ask(question)
    print("ready", flush=True)
    sys.stdin.readline()
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        ask(questions[done % len(questions)])
        done += 1
    return done / (time.perf_counter() - started)


def _rate(ask: Any, questions: Sequence[str], threads: int) -> tuple[float, float]:
    """Return questions per second, and how many cores were busy."""
    cpu, started = time.process_time(), time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(ask, questions))
    wall = time.perf_counter() - started
    return len(questions) / wall, (time.process_time() - cpu) / wall
