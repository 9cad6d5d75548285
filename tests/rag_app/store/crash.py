"""Kill an ingest at a chosen point, then look at what is left. Shared with the benchmark.

Three ways to choose the point, all deterministic: the n-th moment inside
SQLite's work (each statement, and every few steps of its virtual machine), the
n-th system call that names, syncs or removes a file, and the n-th byte written
to any file (a limit on file size whose signal kills, so in the middle of a
write to the log, the database or a derived file). A fourth is random: time.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_app.ingest import ingest
from rag_app.kinds import kinds_of
from rag_app.store.config import with_kinds
from rag_app.store.protocol import IndexConfig
from rag_app.store.sqlite.store import SqliteStore, create_store, open_store
from tests.support.embedding import DIMENSION, HashEmbedding, hash_vector
from tests.support.pdfs import make_pdf

_STEPS = 200  # steps of SQLite's virtual machine between two points
OLD = {
    "a": ["Cats sit on mats. Nine lives.", "Zebra page two.", "Zebra page three."],
    "b": ["Dogs run in the park. They bark."],
    "c": ["Fish swim in the sea. Sharks too.", "Whales sing."],
}
NEW = {
    "a": ["Cats now sleep on sofas. Eight lives."],
    "d": ["Birds fly south. Swallows first.", "Owls stay."],
    "e": OLD["c"],  # renamed
}


@dataclass(frozen=True)
class Stage:
    """Folders of one trial: documents as they are now, and the index as it was before."""

    documents: Path
    before: Path
    wanted: list[object]
    contents: dict[str, dict[str, int]]


def model() -> HashEmbedding:
    return HashEmbedding(embed_batch_size=4)


def new_index(path: Path) -> SqliteStore:
    config = IndexConfig(
        embed_model="hash",
        embed_fingerprint="",
        dimension=DIMENSION,
        kinds=(),
        vector_kinds=(),
        word_kinds=(),
    )
    kinds = kinds_of(["hybrid"])
    return create_store(path, with_kinds(config, vectors=kinds.vectors, words=kinds.words))


def write_documents(folder: Path, texts: dict[str, list[str]]) -> None:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, pages in texts.items():
        make_pdf(folder / f"{name}.pdf", pages)


def run(path: Path, documents: Path) -> int:
    """Ingest the documents; return how many texts were embedded."""
    with open_store(path) as store:
        report = ingest(store, [documents], embed_model=model(), prune=True, workers=0)
        assert report.ok, report
        return report.embedded


def prepare(folder: Path) -> Stage:
    """Build the index of the old documents, and note what the new ones must give."""
    documents = folder / "documents"
    contents: dict[str, dict[str, int]] = {}
    for name, texts in (("new", NEW), ("old", OLD)):
        write_documents(documents, texts)
        new_index(folder / name).close()
        run(folder / name, documents)
        with open_store(folder / name) as store, store.snapshot() as snapshot:
            contents |= {s.content_hash: dict(s.nodes) for s in snapshot.sources()}
    write_documents(documents, NEW)
    with open_store(folder / "new") as store:
        wanted = answers(store)
    return Stage(documents, folder / "old", wanted, contents)


def answers(store: SqliteStore) -> list[object]:
    """Return names, and what each arm finds."""
    found: list[object] = []
    with store.snapshot() as snapshot:
        found.append(snapshot.names())
        for query in ("zebra page", "cats lives", "birds fly", "whales sing", "dogs bark"):
            found.append(snapshot.search_words("parent", query.split(), 9))
            for kind in ("child-128", "child-256"):
                found.append(snapshot.search_vectors(kind, _vector(query), 9))
    return found


def _vector(text: str) -> Any:
    import numpy as np

    return np.array(hash_vector(text), np.float32)


def kill_at(stage: Stage, path: Path, arm: Callable[[], None], delay: float | None = None) -> bool:
    """Copy the old index to ``path`` and kill an ingest into it; tell whether it died of it."""
    shutil.copytree(stage.before, path)
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            arm()
            run(path, stage.documents)
        finally:
            os._exit(0)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def count_points(stage: Stage, path: Path, arm: Callable[[int, int], None]) -> int:
    """Return how many points of one sort an ingest passes."""
    shutil.copytree(stage.before, path)
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            arm(0, writable)
            run(path, stage.documents)
        finally:
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        count = len(pipe.read())
    os.waitpid(child, 0)
    shutil.rmtree(path)
    return count


class _Counter:
    """Counts points; dies at the n-th, or reports each to a pipe."""

    def __init__(self, nth: int, pipe: int = -1) -> None:
        self._left, self._pipe = nth, pipe

    def point(self) -> None:
        if self._pipe >= 0:
            os.write(self._pipe, b".")
            return
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def arm_sqlite(nth: int, pipe: int = -1) -> None:
    """Die at the n-th statement or burst of steps of SQLite."""
    counter, connect = _Counter(nth, pipe), sqlite3.connect

    def connecting(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **kwargs)
        connection.set_trace_callback(lambda _: counter.point())
        connection.set_progress_handler(counter.point, _STEPS)
        return connection

    sqlite3.connect = connecting  # type: ignore[assignment]


def arm_files(nth: int, pipe: int = -1) -> None:
    """Die before or after the n-th fsync, rename or removal by our own code."""
    counter = _Counter(nth, pipe)

    def wrap(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            counter.point()
            result = call(*args, **kwargs)
            counter.point()
            return result

        return wrapped

    for name in ("fsync", "rename", "unlink", "mkdir", "pwrite"):
        setattr(os, name, wrap(getattr(os, name)))


def arm_bytes(size: int, pipe: int = -1) -> None:
    """Die when any file would grow beyond ``size`` bytes, in the middle of that write."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def check(stage: Stage, path: Path) -> list[str]:
    """Return what is wrong with what a killed ingest left, then with the index once finished."""
    with open_store(path) as store:
        wrong = [f"after the kill: {finding}" for finding in store.verify()]
        with store.snapshot() as snapshot:
            for source in snapshot.sources():
                if stage.contents.get(source.content_hash) != dict(source.nodes):
                    wrong.append(f"half a file: {source.names}")
            held = {name: snapshot.find(name) for name in snapshot.names()}
    for name in ("a", "c"):
        if str(stage.documents / f"{name}.pdf") not in held and name == "a":
            wrong.append("neither the old nor the new a.pdf is there")
    run(path, stage.documents)
    embedded_again = run(path, stage.documents)
    with open_store(path) as store:
        wrong += [f"finished: {finding}" for finding in store.verify()]
        if answers(store) != stage.wanted:
            wrong.append("finished: other answers than those of a fresh index")
    if embedded_again:
        wrong.append(f"{embedded_again} texts embedded though nothing was missing")
    shutil.rmtree(path)
    return wrong


def spread(points: int, count: int) -> list[int]:
    """Return ``count`` points from 1 to ``points``, evenly spread."""
    count = min(count, points)
    return sorted({1 + index * points // count for index in range(count)})


def random_delays(longest: float, count: int, seed: int) -> list[float]:
    """Return delays in seconds."""
    chooser = random.Random(seed)  # not for secrets
    return [chooser.uniform(0, longest) for _ in range(count)]
