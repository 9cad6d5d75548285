"""Run a peer in this process: ``ingest``, ``ask``, or ``run`` a list of jobs."""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import datasets
from benchmarks.peers import PEERS, base, peer_class
from benchmarks.peers.base import Peer


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and do what it says; results are JSON on stdout."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("ingest", "ask"):
        command = commands.add_parser(name)
        command.add_argument("peer", choices=PEERS)
        command.add_argument("folder", type=Path)
        command.add_argument("inputs", nargs="+", help="PDFs, or the question")
        command.add_argument("-k", type=int, default=5)
        command.add_argument("--cache", type=Path, help="not for timing: keep vectors and pages")
    command = commands.add_parser("run", help="retrieve for the questions of a data set")
    command.add_argument("peer", choices=PEERS)
    command.add_argument("dataset", choices=datasets.NAMES)
    command.add_argument("out", type=Path)
    command.add_argument("-k", type=int, default=10)
    command.add_argument("--own", action="store_true", help="only the question's own PDF is open")
    command.add_argument("--only", nargs="*", help="only PDFs of these names")
    command.add_argument("--cache", type=Path, help="folder that keeps vectors and pages")
    options = parser.parse_args(arguments)
    if options.cache is not None:
        _use_cache(options.cache)
    {"ingest": _ingest, "ask": _ask, "run": _run}[options.command](options)


def _use_cache(folder: Path) -> None:
    from benchmarks.peers import cache

    cache.cache_vectors(folder)
    cache.cache_pages(folder / "pypdf-pages.sqlite")
    base.embed_batch = 2048


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _ingest(options: argparse.Namespace) -> None:
    started = time.perf_counter()
    peer = peer_class(options.peer)(options.folder)
    imported = time.perf_counter()
    options.folder.mkdir(parents=True, exist_ok=True)
    peer.ingest_files([Path(name) for name in options.inputs])
    ended = time.perf_counter()
    report = {"import_s": imported - started, "ingest_s": ended - imported, "peak_mb": _peak_mb()}
    print(json.dumps(report))


def _ask(options: argparse.Namespace) -> None:
    peer = peer_class(options.peer)(options.folder)
    peer.open()
    for found in peer.retrieve(" ".join(options.inputs), options.k):
        print(json.dumps(asdict(found)))
    print(json.dumps({"peak_mb": _peak_mb()}))


def _run(options: argparse.Namespace) -> None:
    """Write one line a question: its id and what was found."""
    data = datasets.load(options.dataset)
    files = [f for f in data.files if not options.only or f.name in options.only]
    questions = [q for q in data.questions if not q.file or q.file in {f.name for f in files}]
    groups: list[tuple[list[Path], list[datasets.Question]]] = [(files, questions)]
    if options.own:
        groups = [([f], [q for q in questions if q.file == f.name]) for f in files]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    partial = options.out.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as out:
        for group_files, group_questions in groups:
            if group_questions:
                for line in _answers(options, data, group_files, group_questions):
                    out.write(line + "\n")
    partial.replace(options.out)


def _answers(
    options: argparse.Namespace,
    data: datasets.Dataset,
    files: list[Path],
    questions: list[datasets.Question],
) -> list[str]:
    folder = Path(tempfile.mkdtemp(prefix="peer-"))
    try:
        peer = _built(options.peer, folder, data, files)
        lines = []
        for question in questions:
            started = time.perf_counter()
            hits = [asdict(found) for found in peer.retrieve(question.text, options.k)]
            seconds = time.perf_counter() - started
            lines.append(json.dumps({"id": question.id, "seconds": seconds, "hits": hits}))
        return lines
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _built(name: str, folder: Path, data: datasets.Dataset, files: list[Path]) -> Peer:
    kind = peer_class(name)
    builder = kind(folder)
    if data.texts:
        builder.ingest_texts(data.texts)
    else:
        builder.ingest_files(files)
    peer = kind(folder)
    peer.open()
    return peer


if __name__ == "__main__":
    main()
