"""What an index costs as it grows: open and first answer, add one file, size on disk.

    python -m benchmarks.store_growth
    RAG_EVAL_DATA=… python -m benchmarks.store_growth --pages 400

Each step runs in a new process, ours and LlamaIndex's ``StorageContext.persist``
/ ``load_index_from_storage`` one after the other on the same nodes: random unit
vectors of 384 numbers, texts of 90 words, 1,000 nodes in a document. "Save"
is what makes a built index durable: ours the whole ingest of ready vectors
(each document in a transaction), theirs ``persist`` alone. Times are without the
imports, which are given apart.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rag_app.store.sqlite.schema import DERIVED

RESULT = Path(__file__).parent / "results" / "store_growth.json"
DIMENSION = 384
PER_DOCUMENT = 1000
PER_PARENT = 8
ADDED = 200  # nodes of the one file that is added
_WORDS = 20_000


def make(number: int, nodes: int) -> Any:
    """Return one document: parents of eight children, vectors, counted terms."""
    import numpy as np
    from llama_index.core.schema import (
        Document,
        IndexNode,
        NodeRelationship,
        RelatedNodeInfo,
        TextNode,
    )

    from rag_app.store.protocol import Prepared

    rng = np.random.default_rng(number)
    words = (rng.zipf(1.2, (nodes, 90)) % _WORDS).tolist()
    texts = [" ".join(f"w{word}" for word in row) for row in words]
    whole = "\n".join(texts)
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    digest = hashlib.sha256(whole.encode()).hexdigest()
    own = {"content_hash": digest, "file_path": f"/{number}.pdf", "page_map": [], "reader": "-"}
    document = Document(id_=digest, text=whole, metadata={**own, "file_name": f"{number}.pdf"})
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=digest)}

    def node(kind: str, first: int, last: int, parent: str | None) -> TextNode:
        start, stop = starts[first], starts[last + 1] - 1
        metadata = {"kind": kind, "page_label": "", "pages": [], "title": "", "script": "latin"}
        values = {
            "id_": hashlib.sha256(f"{digest}{kind}{first}".encode()).hexdigest(),
            "text": whole[start:stop],
            "metadata": metadata,
            "start_char_idx": start,
            "end_char_idx": stop,
            "relationships": dict(source),
            "excluded_embed_metadata_keys": list(metadata),
        }
        return TextNode(**values) if parent is None else IndexNode(**values, index_id=parent)

    parents, children, terms = [], [], {}
    for first in range(0, nodes, PER_PARENT):
        last = min(first + PER_PARENT, nodes) - 1
        parent = node("parent", first, last, None)
        parents.append(parent)
        terms[parent.node_id] = Counter(f"w{w}" for row in words[first : last + 1] for w in row)
        children += [node("child-128", n, n, parent.node_id) for n in range(first, last + 1)]
    matrix = rng.standard_normal((nodes, DIMENSION)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return Prepared(
        names=(f"/{number}.pdf",),
        document=document,
        nodes=[*parents, *children],
        vectors={"child-128": ([child.node_id for child in children], matrix)},
        terms=terms,
    )


def query(seed: int) -> tuple[Any, list[str]]:
    """Return a random vector and eight words."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return rng.standard_normal(DIMENSION).astype(np.float32), [f"w{w}" for w in rng.zipf(1.2, 8)]


# Each step below runs in a process of its own and returns what it measured.


def ours_save(path: Path, nodes: int) -> dict[str, float]:
    """Ingest documents whose vectors are ready."""
    from rag_app.store.protocol import IndexConfig
    from rag_app.store.sqlite.store import create_store

    config = IndexConfig(
        embed_model="random",
        embed_fingerprint="",
        dimension=DIMENSION,
        kinds=("parent", "child-128"),
        vector_kinds=("child-128",),
    )
    seconds = 0.0
    with create_store(path, config) as store:
        began = time.perf_counter()
        with store.writer() as writer:
            seconds += time.perf_counter() - began
            for number in range(-(-nodes // PER_DOCUMENT)):
                prepared = make(number, min(nodes, PER_DOCUMENT))
                began = time.perf_counter()
                writer.put(prepared)
                seconds += time.perf_counter() - began
            began = time.perf_counter()
        seconds += time.perf_counter() - began
    return {"save_s": seconds}


def ours_open(path: Path, nodes: int) -> dict[str, float]:
    """Open, and ask by vector and by words; then again."""
    began = time.perf_counter()
    from llama_index.core.schema import NodeWithScore  # noqa: F401  # what an answer is made of

    import pipelines.documents  # noqa: F401
    from rag_app.store.sqlite.store import open_store

    imported = time.perf_counter()
    vector, words = query(nodes)
    times = []
    started, cpu = time.perf_counter(), time.process_time()
    with open_store(path) as store:
        opened = time.perf_counter()
        for _ in range(20):
            at = time.perf_counter()
            with store.snapshot() as snapshot:
                near = snapshot.search_vectors("child-128", vector, 10)
                snapshot.search_words("parent", words, 10)
                snapshot.nodes([hit.passage_id for hit in near])
            times.append(time.perf_counter() - at)
            if len(times) == 1:
                cpu = time.process_time() - cpu
    return {
        "import_s": imported - began,
        "open_s": opened - started,
        "first_query_s": times[0],
        "open_and_first_query_cpu_s": cpu,
        "warm_query_s": statistics.median(times[1:]),
    }


def ours_add(path: Path, nodes: int) -> dict[str, float]:
    """Open and add one file; ``nodes`` numbers it."""
    from rag_app.store.sqlite.store import open_store

    prepared = make(10_000_000 + nodes, ADDED)
    began, cpu = time.perf_counter(), time.process_time()
    with open_store(path) as store, store.writer() as writer:
        writer.put(prepared)
    return {"add_s": time.perf_counter() - began, "add_cpu_s": time.process_time() - cpu}


def theirs_save(path: Path, nodes: int) -> dict[str, float]:
    """Build a VectorStoreIndex from ready vectors, and persist it."""
    from llama_index.core import VectorStoreIndex

    index = VectorStoreIndex(nodes=[], embed_model=_embedding())
    for number in range(-(-nodes // PER_DOCUMENT)):
        index.insert_nodes(_embedded(number, min(nodes, PER_DOCUMENT)))
    began, cpu = time.perf_counter(), time.process_time()
    index.storage_context.persist(str(path))
    return {"save_s": time.perf_counter() - began, "save_cpu_s": time.process_time() - cpu}


def theirs_open(path: Path, nodes: int) -> dict[str, float]:
    """Load what was persisted, and ask by vector."""
    began = time.perf_counter()
    from llama_index.core import StorageContext, load_index_from_storage  # noqa: F401
    from llama_index.core.schema import QueryBundle

    imported = time.perf_counter()
    vector, _ = query(nodes)
    started, cpu = time.perf_counter(), time.process_time()
    index = _load(path)
    opened = time.perf_counter()
    times = []
    for _ in range(5):
        at = time.perf_counter()
        retriever = index.as_retriever(similarity_top_k=10)
        retriever.retrieve(QueryBundle("q", embedding=vector.tolist()))
        times.append(time.perf_counter() - at)
        if len(times) == 1:
            cpu = time.process_time() - cpu
    return {
        "import_s": imported - began,
        "open_s": opened - started,
        "first_query_s": times[0],
        "open_and_first_query_cpu_s": cpu,
        "warm_query_s": statistics.median(times[1:]),
    }


def theirs_add(path: Path, nodes: int) -> dict[str, float]:
    """Load, insert one file's nodes, persist: the only way to keep them."""
    added = _embedded(10_000_000 + nodes, ADDED)
    from llama_index.core import StorageContext, load_index_from_storage  # noqa: F401

    began, cpu = time.perf_counter(), time.process_time()
    index = _load(path)
    index.insert_nodes(added)
    index.storage_context.persist(str(path))
    return {"add_s": time.perf_counter() - began, "add_cpu_s": time.process_time() - cpu}


def _load(path: Path) -> Any:
    from llama_index.core import StorageContext, load_index_from_storage

    context = StorageContext.from_defaults(persist_dir=str(path))
    return load_index_from_storage(context, embed_model=_embedding())


def _embedding() -> Any:
    from llama_index.core import MockEmbedding

    return MockEmbedding(embed_dim=DIMENSION)


def _embedded(number: int, nodes: int) -> list[Any]:
    prepared = make(number, nodes)
    ids, matrix = prepared.vectors["child-128"]
    vectors = dict(zip(ids, matrix.tolist(), strict=True))
    children = [node for node in prepared.nodes if node.node_id in vectors]
    for child in children:
        child.embedding = vectors[child.node_id]
    return children


STEPS: dict[str, Callable[[Path, int], dict[str, float]]] = {
    step.__name__: step
    for step in (ours_save, ours_open, ours_add, theirs_save, theirs_open, theirs_add)
}


def step(name: str, path: Path, nodes: int, rounds: int = 1) -> dict[str, float]:
    """Run a step in new processes; return medians, and the highest memory."""
    found = []
    for round_ in range(rounds):
        argument = nodes + round_ if name.endswith("add") else nodes
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.store_growth", "--step", name, path, str(argument)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        )
        found.append(json.loads(done.stdout))
    return {key: round(statistics.median(one[key] for one in found), 5) for key in sorted(found[0])}


def measure(nodes: int, folder: Path, *, peer: bool, rounds: int) -> dict[str, Any]:
    """Measure ours and, where asked, LlamaIndex's at one size."""
    result: dict[str, Any] = {"nodes": nodes}
    empty = folder / "empty"
    step("ours_save", empty, 0)
    for who in ("ours", *(("theirs",) if peer else ())):
        path = folder / f"{who}-{nodes}"
        result[who] = step(f"{who}_save", path, nodes)
        result[who]["megabytes"] = size_of(path)
        result[who] |= step(f"{who}_open", path, nodes, rounds)
        result[who] |= step(f"{who}_add", path, nodes, rounds if who == "ours" else 1)
        shutil.rmtree(path)
        print(json.dumps(result), flush=True)
    added = step("ours_add", empty, nodes)
    result["ours"] |= {f"{key}_to_empty": added[key] for key in ("add_s", "add_cpu_s")}
    shutil.rmtree(empty)
    return result


def size_of(path: Path) -> float:
    """Return megabytes of all files below a folder."""
    return round(sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6, 2)


def size_per_pages(pages: int, folder: Path) -> dict[str, Any]:
    """Return megabytes per 1,000 pages of real reports, by what is built."""
    from benchmarks import datasets
    from rag_app.ingest import ingest
    from rag_app.kinds import kinds_of
    from rag_app.store.config import with_kinds
    from rag_app.store.protocol import IndexConfig
    from rag_app.store.sqlite.store import create_store
    from tests.support.embedding import HashEmbedding, hash_vector

    class Wide(HashEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return hash_vector(text[:64], DIMENSION)

        def _get_query_embedding(self, query: str) -> list[float]:
            return hash_vector(query, DIMENSION)

    files = sorted(datasets.load("financebench").files)
    found: dict[str, Any] = {}
    for name in ("bm25", "hybrid", "naive"):
        vectors, words = kinds_of([name])
        config = IndexConfig(
            embed_model="hash" if vectors else "",
            embed_fingerprint="",
            dimension=DIMENSION if vectors else 0,
            kinds=(),
            vector_kinds=(),
            word_kinds=(),
        )
        store = create_store(folder / name, with_kinds(config, vectors=vectors, words=words))
        read = given = 0
        with store:
            for file in files:
                if read >= pages:
                    break
                (report,) = ingest(store, [file], embed_model=Wide(), workers=0).files
                read += report.pages
                given += Path(file).stat().st_size
        parts = {
            "database": size_of_file(folder / name / "index.sqlite"),
            "derived": size_of(folder / name / DERIVED),
        }
        found[name] = {
            "pages": read,
            "pdf_mb_per_1000_pages": round(given / 1e6 / read * 1000, 1),
            "mb_per_1000_pages": round(size_of(folder / name) / read * 1000, 1),
            **{f"{part}_mb_per_1000": round(mb / read * 1000, 1) for part, mb in parts.items()},
        }
        print(json.dumps({name: found[name]}), flush=True)
    return found


def size_of_file(path: Path) -> float:
    """Return the megabytes of one file."""
    return path.stat().st_size / 1e6


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all sizes and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 10_000, 100_000])
    parser.add_argument("--peer-up-to", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=0, help="real pages for the size on disk")
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.step:
        name, path, nodes = options.step
        result = STEPS[name](Path(path), int(nodes))
        result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(json.dumps(result))
        return
    known = json.loads(options.out.read_text()) if options.out.exists() else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.sizes:
            known["growth"] = [
                measure(n, folder, peer=n <= options.peer_up_to, rounds=options.rounds)
                for n in options.sizes
            ]
        if options.pages:
            known["size"] = size_per_pages(options.pages, folder)
    known["load_average"] = os.getloadavg()[1]
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(known, indent=2) + "\n")


if __name__ == "__main__":
    main()
