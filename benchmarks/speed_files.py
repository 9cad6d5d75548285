"""Speed with real files, each measurement in a new process: cold question, ingest, growth."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import Measured, exponent, interleaved, median, run
from benchmarks.runs import CACHE, HERE
from benchmarks.samples import pages_of, sample

RAG = Path(sys.executable).parent / "rag"
PEERS_PYTHON = HERE / ".venv-peers" / "bin" / "python"
QUESTION = "What was the net income of the last fiscal year?"
WORK = CACHE / "speed"
HEAVY = ("torch", "transformers", "sklearn", "sentence_transformers", "scipy")


def fresh(name: str) -> Path:
    """Return an empty folder of this name."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return folder


def ingest_ours(files: Sequence[Path], index: Path, pipelines: Sequence[str] = ()) -> Measured:
    """Run ``rag ingest`` in a new process."""
    options = [part for name in pipelines for part in ("--pipeline", name)]
    return run([RAG, "ingest", *files, "--index", index, "--json", *options])


def ingest_peer(peer: str, files: Sequence[Path], folder: Path, *, kept: bool = False) -> Measured:
    """Let a peer ingest in a new process; ``kept``: with kept vectors, when it is not timed."""
    cached = ["--cache", CACHE] if kept else []
    return run([PEERS_PYTHON, "-m", "benchmarks.peers", "ingest", peer, folder, *files, *cached])


def cold_index(files: Sequence[Path], pages: int) -> Path:
    """Return the index that questions are put to; what an earlier run left undone is done."""
    index = WORK / f"cold-{pages}" / "ours"
    chosen = sample(files, pages)
    try:
        ingest_ours(chosen, index)
    except RuntimeError:  # of another version of this program
        ingest_ours(chosen, fresh(f"cold-{pages}/ours"))
    return index


def cold(files: Sequence[Path], peers: Sequence[str], rounds: int, pages: int) -> dict[str, Any]:
    """Time a question put to an existing index, from the start of a process to its exit."""
    chosen = sample(files, pages)
    index = cold_index(files, pages)
    jobs: dict[str, Callable[[], Measured]] = {
        "rag ask": partial(run, [RAG, "ask", QUESTION, "--index", index, "--json"]),
        "rag search": partial(run, [RAG, "search", QUESTION, "--index", index, "--json"]),
    }
    for peer in peers:
        folder = WORK / f"cold-{pages}" / peer
        done = folder.with_suffix(".done")
        if not done.exists():
            ingest_peer(peer, chosen, fresh(f"cold-{pages}/{peer}"), kept=True)
            done.touch()
        jobs[peer] = partial(
            run, [PEERS_PYTHON, "-m", "benchmarks.peers", "ask", peer, folder, QUESTION]
        )
    measured = interleaved(jobs, rounds, warm_up=True)
    systems = {name: _summary(runs) for name, runs in measured.items()}
    best = min((systems[p]["seconds"] for p in peers), default=None)
    return {
        "pages": pages_of(chosen),
        "rounds": rounds,
        "systems": systems,
        "share_of_best_peer": systems["rag ask"]["seconds"] / best if best else None,
        "heavy_modules_imported": heavy_modules(index),
    }


def heavy_modules(index: Path) -> list[str]:
    """Return which heavy libraries a question imports; none is wanted."""
    script = (
        "import sys\nfrom rag_app.cli.app import run\n"
        f"run(['ask', {QUESTION!r}, '--index', {str(index)!r}, '--json'])\n"
        f"print('\\n' + ','.join(m for m in {HEAVY!r} if m in sys.modules))"
    )
    last = run([sys.executable, "-c", script]).output.splitlines()[-1]
    return [name for name in last.split(",") if name]


def _summary(runs: Sequence[Measured]) -> dict[str, Any]:
    return {
        "seconds": median([r.seconds for r in runs]),
        "cpu_seconds": median([r.cpu_seconds for r in runs]),
        "peak_mb": median([r.peak_mb for r in runs]),
        "all_seconds": [round(r.seconds, 3) for r in runs],
    }


# What is compared in ingest: name → pipelines. The second builds what the
# recursive recipe builds: 1024-token passages and 128/256/512-token pieces, all embedded.
OURS = {
    "rag ingest (hybrid)": (),
    "rag ingest (recipe's nodes)": ("naive", "child_parent"),
    "rag ingest (naive)": ("naive",),
}
# Ingests what llamaindex-naive ingests, in the same way.
SAME_INGEST = ("llamaindex-hybrid",)


def ingest(files: Sequence[Path], peers: Sequence[str], rounds: int, pages: int) -> dict[str, Any]:
    """Time ingest of a fixed sample, PDFs to searchable and durable, a new process each."""
    chosen = sample(files, pages)
    jobs: dict[str, Callable[[], Measured]] = {
        name: partial(_fresh_ours, chosen, pipelines) for name, pipelines in OURS.items()
    }
    for peer in peers:
        if peer not in SAME_INGEST:
            jobs[peer] = partial(_fresh_peer, chosen, peer)
    measured = interleaved(jobs, rounds)
    count = pages_of(chosen)
    systems = {}
    for name, runs in measured.items():
        systems[name] = {**_summary(runs), "pages_per_s": count / median([r.seconds for r in runs])}
    return {"pages": count, "files": len(chosen), "rounds": rounds, "systems": systems}


def _fresh_ours(files: Sequence[Path], pipelines: Sequence[str] = ()) -> Measured:
    return ingest_ours(files, fresh("ingest-ours"), pipelines)


def _fresh_peer(files: Sequence[Path], peer: str) -> Measured:
    return ingest_peer(peer, files, fresh("ingest-peer"))


def stages(files: Sequence[Path], pages: int) -> dict[str, Any]:
    """Return pages per second of each stage of ingest, one after the other in one process."""
    from pipelines.child_parent import ChildParentParser
    from pipelines.documents import read_pdf
    from pipelines.text import search_terms
    from rag_app.models.embedding.load import load_embedding
    from rag_app.settings import load_settings

    chosen = sample(files, pages)
    count = pages_of(chosen)
    clock = time.perf_counter
    started = clock()
    documents = [read_pdf(file) for file in chosen]
    read = clock()
    nodes = ChildParentParser(child_sizes=(128, 256))(documents)
    split = clock()
    for node in nodes:
        if node.metadata["kind"] == "parent":
            search_terms(node.get_content())
    counted = clock()
    model = load_embedding(load_settings())
    model.get_text_embedding_batch(["warm up"])
    texts = [node.get_content() for node in nodes if node.metadata["kind"] != "parent"]
    loaded = clock()
    model.get_text_embedding_batch(texts)
    embedded = clock()
    return {
        "pages": count,
        "texts_embedded": len(texts),
        "read_pages_per_s": count / (read - started),
        "split_pages_per_s": count / (split - read),
        "terms_pages_per_s": count / (counted - split),
        "embed_pages_per_s": count / (embedded - loaded),
        "embed_texts_per_s": len(texts) / (embedded - loaded),
    }


def full(files: Sequence[Path]) -> dict[str, Any]:
    """Ingest all reports but one; again; then the last one, against an empty index."""
    rest, last = list(files[:-1]), [files[-1]]
    index = fresh("full")
    first = ingest_ours(rest, index)
    again = ingest_ours(rest, index)
    add = [ingest_ours(last, index)]
    empty = [ingest_ours(last, fresh("empty")) for _ in range(3)]
    removed = run([RAG, "remove", last[0].name, "--index", index, "--json"])
    add.append(ingest_ours(last, index))
    size = sum(f.stat().st_size for f in index.rglob("*") if f.is_file())
    return {
        "pages": pages_of(rest),
        "files": len(rest),
        "ingest_s": first.seconds,
        "pages_per_s": pages_of(rest) / first.seconds,
        "ingest_peak_mb": first.peak_mb,
        "again_s": again.seconds,
        "again_share": again.seconds / first.seconds,
        "add_one_s": median([m.seconds for m in add]),
        "add_one_to_empty_s": median([m.seconds for m in empty]),
        "add_one_ratio": median([m.seconds for m in add]) / median([m.seconds for m in empty]),
        "remove_s": removed.seconds,
        "index_mb": size / 1e6,
    }


def memory(files: Sequence[Path], peers: Sequence[str]) -> dict[str, Any]:
    """Return the peak of an ingest of all files but one, as :func:`full`, of each system; once."""
    chosen = list(files[:-1])
    jobs: dict[str, Callable[[], Measured]] = {
        "rag ingest (hybrid)": partial(_fresh_ours, chosen),
        **{p: partial(_fresh_peer, chosen, p) for p in peers if p not in SAME_INGEST},
    }
    systems = {}
    for name, job in jobs.items():
        done = job()
        systems[name] = {"peak_mb": done.peak_mb, "seconds": done.seconds}
        print(name, systems[name], flush=True)
    best = min((s["peak_mb"] for name, s in systems.items() if name in peers), default=None)
    ours = systems["rag ingest (hybrid)"]["peak_mb"]
    return {
        "pages": pages_of(chosen),
        "files": len(chosen),
        "systems": systems,
        "share_of_best_peer": ours / best if best else None,
    }


def growth(
    files: Sequence[Path], pages: Sequence[int], whole: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return times at growing numbers of pages, ours only, and the exponent of each.

    ``whole`` is what :func:`full` found, which is the last point then: all files.
    """
    points = [_point(sample(files, p), p) for p in pages]
    if whole:
        points.append(_point_of(whole, files))
    sizes = [point["pages"] for point in points]
    names = [name for name in points[0] if name not in ("pages", "files")]
    return {
        "points": points,
        "exponents": {name: exponent(sizes, [p[name] for p in points]) for name in names},
    }


def _point(files: list[Path], pages: int) -> dict[str, Any]:
    index = fresh(f"growth-{pages}")
    first = ingest_ours(files[:-1], index)
    again = ingest_ours(files[:-1], index)
    add = ingest_ours(files[-1:], index)
    return {
        "pages": pages_of(files[:-1]),
        "files": len(files) - 1,
        "ingest_s": first.seconds,
        "ingest_peak_mb": first.peak_mb,
        "again_s": again.seconds,
        "add_one_s_per_page": add.seconds / pages_of(files[-1:]),
        **_asked(index),
    }


def _point_of(whole: Mapping[str, Any], files: Sequence[Path]) -> dict[str, Any]:
    return {
        **{name: whole[name] for name in ("pages", "files")},
        **{name: whole[name] for name in ("ingest_s", "ingest_peak_mb", "again_s")},
        "add_one_s_per_page": whole["add_one_s"] / pages_of(files[-1:]),
        **_asked(WORK / "full"),
    }


def _asked(index: Path) -> dict[str, float]:
    asked = [run([RAG, "ask", QUESTION, "--index", index, "--json"]) for _ in range(4)][1:]
    return {
        "cold_question_s": median([m.seconds for m in asked]),
        "cold_question_peak_mb": median([m.peak_mb for m in asked]),
        "warm_query_ms": _warm_ms(index),
    }


def _warm_ms(index: Path) -> float:
    script = (
        "import json, sys, statistics, time\nfrom rag_app import Index\n"
        f"index = Index.open({str(index)!r})\nretriever = index.as_retriever()\n"
        "seconds = []\n"
        "for number in range(25):\n"
        "    started = time.perf_counter()\n"
        "    retriever.retrieve(f'What was the net income in {2000 + number}?')\n"
        "    seconds.append(time.perf_counter() - started)\n"
        "print(json.dumps(statistics.median(seconds[5:]) * 1e3))"
    )
    return float(json.loads(run([sys.executable, "-c", script]).output))
