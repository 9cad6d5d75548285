"""Kill every operation that writes, at any point, and look at what is left.

Shared with ``benchmarks/store_crash.py``. The points are those of
``tests/rag_app/store/crash.py``: inside SQLite's work, before and after each system
call that names, syncs, writes or removes a file, in the middle of a write, and at a
random time. After the kill the index must be whole, hold each file whole or not at
all, and be finished by the same command; files of the user that lie beside it stay.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pipelines.errors import IndexNotFoundError
from rag_app.cached.folders import IndexCache
from rag_app.cached.indexes import PdfIndexes
from rag_app.ingest import ingest, remove
from rag_app.settings import Settings
from rag_app.store.merging import merge
from rag_app.store.sqlite.schema import DATABASE, DERIVED, LOCK
from rag_app.store.sqlite.store import open_store
from tests.rag_app.store import crash
from tests.support.pdfs import make_pdf

OPERATIONS = (
    "first ingest",
    "re-ingest",
    "remove",
    "prune",
    "merge",
    "cached index",
    "cached index of two",
)
# Beside and in each index: what a killed run has left is removed, this is not.
MINE = ("thesis.txt", "merging-1/thesis.txt")


@dataclass(frozen=True)
class Operation:
    """Something that writes an index, or several.

    Attributes:
        name: what it is called in the results.
        prepare: makes the folder of one trial as it is before.
        act: what is killed; then run again to its end.
        wrong: what is wrong with the folder after ``act`` has come to its end.
        indexes: where the indexes of a trial lie, as far as there are any.
        own: whether the index shares its folder with files of the user.
    """

    name: str
    prepare: Callable[[Path], None]
    act: Callable[[Path], None]
    wrong: Callable[[Path], list[str]]
    indexes: Callable[[Path], list[Path]]
    own: bool = True


def operations(folder: Path) -> list[Operation]:
    """Return every operation, with what they start from made in ``folder``."""
    stage = crash.prepare(folder)
    one = lambda path: [path / "index"]  # noqa: E731

    def copied(path: Path) -> None:
        shutil.copytree(stage.before, path / "index")

    def first(path: Path) -> None:
        if not (path / "index" / DATABASE).exists():
            crash.new_index(path / "index").close()
        crash.run(path / "index", stage.documents)

    def again(path: Path) -> None:
        crash.run(path / "index", stage.documents)

    def as_new(path: Path) -> list[str]:
        with open_store(path / "index") as store:
            same = crash.answers(store) == stage.wanted
        return [] if same else ["other answers than those of a fresh index"]

    def take_away(path: Path) -> None:
        with open_store(path / "index") as store:
            with store.snapshot() as snapshot:
                names = [name for name in snapshot.names() if not name.endswith("b.pdf")]
            remove(store, names)

    def only_b(path: Path) -> list[str]:
        return _names_are(path / "index", ["b.pdf"])

    def with_all(path: Path) -> None:
        copied(path)
        with open_store(path / "index") as store:
            ingest(store, [stage.documents], embed_model=crash.model(), workers=0)

    def prune(path: Path) -> None:
        with open_store(path / "index") as store:
            ingest(store, [stage.documents], embed_model=crash.model(), prune=True, workers=0)

    def merge_two(path: Path) -> None:
        if not (path / "index" / DATABASE).exists():
            merge({"old": stage.before, "new": folder / "new"}, path / "index")

    def merged(path: Path) -> list[str]:
        return _names_are(path / "index", ["a.pdf", "a.pdf", "b.pdf", "c.pdf", "d.pdf", "e.pdf"])

    def ask(*names: str) -> Callable[[Path], None]:
        files = [stage.documents / f"{name}.pdf" for name in names]

        def act(path: Path) -> None:
            with ExitStack() as stack:
                cache = IndexCache(path / "cache", limit_mb=1000)
                cache.prepare()
                indexes = PdfIndexes(cache, _settings(path), stack)
                indexes._model = crash.model()
                index = indexes.open(files)
                if not index.as_retriever(similarity_top_k=1).retrieve("cats sleep on sofas"):
                    raise AssertionError("the cached index finds nothing")
                cache.trim()

        return act

    def all_cached(path: Path) -> list[str]:
        entries = IndexCache(path / "cache", limit_mb=1000).entries()
        return [f"{entry.key} is not finished" for entry in entries if not entry.files]

    nothing = lambda path: path.mkdir(exist_ok=True)  # noqa: E731
    return [
        Operation("first ingest", nothing, first, as_new, one, own=False),
        Operation("re-ingest", copied, again, as_new, one),
        Operation("remove", copied, take_away, only_b, one),
        Operation("prune", with_all, prune, as_new, one),
        Operation("merge", nothing, merge_two, merged, one, own=False),
        Operation("cached index", nothing, ask("a"), all_cached, _cached, own=False),
        Operation("cached index of two", nothing, ask("a", "d"), all_cached, _cached, own=False),
    ]


def _cached(path: Path) -> list[Path]:
    return sorted(place.parent for place in (path / "cache").glob(f"*/index/{DATABASE}"))


def _settings(path: Path) -> Settings:
    return Settings(cache_dir=path / "settings", strategy="hybrid")


def _names_are(index: Path, wanted: list[str]) -> list[str]:
    with open_store(index) as store, store.snapshot() as snapshot:
        found = sorted(
            Path(name).name for source in snapshot.sources() for name in set(source.names)
        )
    return [] if found == wanted else [f"{found} are there, not {wanted}"]


def kill(operation: Operation, path: Path, arm: Callable[[], None], delay: float | None) -> bool:
    """Run one trial in ``path`` up to the kill; tell whether it died of it."""
    path.mkdir()
    operation.prepare(path)
    for name in MINE:
        place = path / "index" / name if operation.own else path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("mine")
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            arm()
            operation.act(path)
        finally:
            os._exit(0)
    if delay is not None:
        time.sleep(delay)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def check(operation: Operation, path: Path) -> list[str]:
    """Return what is wrong after a kill, then after the same work was done to its end."""
    wrong = [f"after the kill: {one}" for one in _verified(operation, path)]
    operation.act(path)
    wrong += [f"finished: {one}" for one in (*operation.wrong(path), *_verified(operation, path))]
    for index in operation.indexes(path):
        with open_store(index) as store, store.writer():
            pass  # a merge is done when its database is in place: the next writer clears up
        wrong += [f"left behind: {name}" for name in _leftovers(index)]
    for name in MINE:
        place = path / "index" / name if operation.own else path / name
        if not place.exists() or place.read_text() != "mine":
            wrong.append(f"a file of the user is gone: {name}")
    shutil.rmtree(path)
    return wrong


def _verified(operation: Operation, path: Path) -> Iterator[str]:
    for index in operation.indexes(path):
        try:
            with open_store(index) as store:
                yield from map(str, store.verify())
        except IndexNotFoundError:
            continue  # killed before there was one


def _leftovers(index: Path) -> Iterator[str]:
    """Yield what lies in an index that no run uses: drafts, logs, replaced files."""
    with open_store(index) as store, store.snapshot() as snapshot:
        listed = {file for (file,) in snapshot._sql.execute("SELECT file FROM derived")}
    ours = {DATABASE, LOCK, DERIVED, *(name.split("/")[0] for name in MINE)}
    yield from sorted({path.name for path in index.iterdir()} - ours)
    yield from sorted(
        {f"{DERIVED}/{path.name}" for path in (index / DERIVED).iterdir()} - listed
        if (index / DERIVED).is_dir()
        else ()
    )


def count_points(operation: Operation, path: Path, arm: Callable[[int, int], None]) -> int:
    """Return how many points of one sort an operation passes."""
    path.mkdir()
    operation.prepare(path)
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            arm(0, writable)
            operation.act(path)
        finally:
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        count = len(pipe.read())
    os.waitpid(child, 0)
    shutil.rmtree(path)
    return count


Trial = tuple[str, Callable[[], None], float | None]


def trials(
    operation: Operation, folder: Path, sqlite: int, files: int, sizes: int, times: int
) -> Iterator[Trial]:
    """Yield (sort, how to arm the child, seconds to the kill) for so many kills of each sort."""
    for sort, arm, count in (
        ("sqlite", crash.arm_sqlite, sqlite),
        ("files", crash.arm_files, files),
    ):
        points = count_points(operation, folder / "counted", arm) if count else 0
        for nth in crash.spread(points, count):
            yield sort, lambda arm=arm, nth=nth: arm(nth), None
    for size in crash.spread(150_000, sizes):
        yield "bytes", lambda size=size: crash.arm_bytes(size), None
    if times:
        began = time.monotonic()
        kill(operation, folder / "timed", lambda: None, None)
        shutil.rmtree(folder / "timed")
        for delay in crash.random_delays(time.monotonic() - began, times, seed=times):
            yield "time", lambda: None, delay


def kill_workers(folder: Path, seed: int) -> tuple[int, list[str]]:
    """Ingest with worker processes and kill those, not the run; return (kills, what is wrong).

    A killed worker costs at most its own file; the next run brings that one in. One is
    killed when the first file is done, others at random times.
    """
    path, documents = folder / "index", folder / "worked"
    documents.mkdir(exist_ok=True)
    for n in range(6):
        make_pdf(documents / f"{n}.pdf", [f"Page {page} of report {n}." for page in range(40)])
    crash.new_index(path).close()
    chooser, stop, killed = random.Random(seed), threading.Event(), 0

    def kill_one() -> None:
        nonlocal killed
        for child in _readers(os.getpid())[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
                killed += 1

    def kill_some() -> None:
        while not stop.wait(chooser.uniform(0.05, 0.4)) and killed < 3:
            kill_one()

    def kill_first(_: object) -> None:
        if not killed:
            kill_one()

    killer = threading.Thread(target=kill_some)
    with open_store(path) as store:
        killer.start()
        try:
            report = ingest(
                store, [documents], embed_model=crash.model(), workers=2, on_file=kill_first
            )
        finally:
            stop.set()
            killer.join()
        failed = [file for file in report.files if file.status == "failed"]
        wrong = [f"{file.file}: {file.status}" for file in failed if not file.error]
        if len(failed) > killed:
            wrong.append(f"{len(failed)} files failed by {killed} kills")
        wrong += [str(finding) for finding in store.verify()]
        report = ingest(store, [documents], embed_model=crash.model(), workers=2)
        wrong += [f"next run: {file.file}: {file.error}" for file in report.failed]
        wrong += [str(finding) for finding in store.verify()]
        with store.snapshot() as snapshot:
            if len(snapshot.names()) != 6:
                wrong.append(f"{len(snapshot.names())} of 6 files are there")
    shutil.rmtree(path)
    return killed, wrong


def _readers(parent: int) -> list[int]:
    """Return the worker processes of a run (from any of its threads)."""
    found: list[int] = []
    for task in Path(f"/proc/{parent}/task").iterdir():
        with contextlib.suppress(OSError):
            for child in map(int, (task / "children").read_text().split()):
                command = Path(f"/proc/{child}/cmdline").read_bytes()
                if b"pipelines" in command or b"worker" in command:
                    found.append(child)
    return sorted(found)
