"""Reading PDFs in other processes and parsing them in threads, while this one embeds and writes.

A crash of a PDF library ends a worker, and costs its file. Each worker is a fresh
interpreter that runs ``pipelines.worker`` alone, so that it is small, nothing of
the caller's program is imported again (a script without a main guard, a notebook)
and no thread or lock is copied as by a fork. Tasks and results go through its
pipes; a worker whose parent dies reads the end of its input and goes.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Queue

from pipelines.errors import RagError, ReadError
from pipelines.reading import ReadPdf
from pipelines.worker import read_or_error
from rag_app.ingest.parsing import Chunking, Parsed, parse_read
from rag_app.settings import child_environment

Outcome = Parsed | RagError
_AHEAD = 1  # parsed files kept waiting per worker, so that memory stays flat


def parse_all(
    paths: Iterable[Path], chunking: Chunking, workers: int
) -> Iterator[tuple[Path, Outcome]]:
    """Yield each file with what it was parsed to, or the error, in the order given.

    Args:
        paths: the files.
        chunking: what decides their nodes.
        workers: processes; 0 parses here, one file after the other.
    """
    if workers < 1:
        for path in paths:
            yield path, _parsed(path, read_or_error(path, chunking.reader), chunking)
        return
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(_Pool(chunking, workers))
        yield from pool.run(list(paths))


def _parsed(path: Path, read: ReadPdf | RagError, chunking: Chunking) -> Outcome:
    if isinstance(read, RagError):
        return read
    try:
        return parse_read(read, chunking)
    except RagError as error:
        return error
    except Exception as error:  # one bad file must not stop the others
        return ReadError(
            f"{path.name}: its text could not be cut: {type(error).__name__}: {error}",
            hint="leave it out, and please report it",
        )


class _Pool:
    """Worker processes, one thread each to talk to it."""

    def __init__(self, chunking: Chunking, workers: int) -> None:
        self._chunking = chunking
        self._tasks: Queue[tuple[int, Path] | None] = Queue()
        self._done: dict[int, Outcome] = {}
        self._ready = threading.Condition()
        self._room = threading.Semaphore(workers * _AHEAD)
        self._stopped = False
        self._workers: set[_Worker] = set()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(workers)]

    def __enter__(self) -> _Pool:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._ready:
            self._stopped = True
            for worker in self._workers:
                worker.kill()
        for _thread in self._threads:
            self._tasks.put(None)
            self._room.release()
        for thread in self._threads:
            thread.join()

    def run(self, paths: list[Path]) -> Iterator[tuple[Path, Outcome]]:
        for task in enumerate(paths):
            self._tasks.put(task)
        for index, path in enumerate(paths):
            with self._ready:
                self._ready.wait_for(lambda index=index: index in self._done)  # type: ignore[misc]
                outcome = self._done.pop(index)
            self._room.release()
            yield path, outcome

    def _serve(self) -> None:
        worker: _Worker | None = None
        try:
            while (task := self._next()) is not None:
                index, path = task
                worker = worker or self._start()
                read = worker.read(path) if worker is not None else _stopped(path)
                if worker is not None and worker.dead:
                    self._end(worker)
                    worker = None  # the next file gets a new one
                outcome = _parsed(path, read, self._chunking)
                with self._ready:
                    self._done[index] = outcome
                    self._ready.notify_all()
        finally:
            if worker is not None:
                self._end(worker)

    def _next(self) -> tuple[int, Path] | None:
        self._room.acquire()
        task = self._tasks.get()
        return None if self._stopped else task

    def _start(self) -> _Worker | None:
        with self._ready:
            if self._stopped:
                return None
            worker = _Worker(self._chunking.reader)
            self._workers.add(worker)
            return worker

    def _end(self, worker: _Worker) -> None:
        with self._ready:
            self._workers.discard(worker)
        worker.close()


def _stopped(path: Path) -> ReadError:
    return ReadError(f"{path.name}: reading was stopped", hint="run it again")


class _Worker:
    """One process that reads one file at a time."""

    def __init__(self, reader: str) -> None:
        environment = child_environment(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        root = str(Path(__file__).resolve().parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(
            part for part in (root, environment.get("PYTHONPATH", "")) if part
        )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pipelines.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self._reader = reader
        self.dead = False

    def read(self, path: Path) -> ReadPdf | RagError:
        """Return what the worker reads; a crash of the worker is the file's error."""
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise ValueError("the worker has no pipes")
        try:
            pickle.dump((str(path), self._reader), process.stdin)
            process.stdin.flush()
            read: ReadPdf | RagError = pickle.load(process.stdout)  # noqa: S301  # our own process wrote it
        except (EOFError, OSError, pickle.UnpicklingError):
            self.dead = True
            return ReadError(
                f"{path.name}: the process that read it died",
                hint="the file may be damaged or too large for the memory: leave it out",
            )
        return read

    def kill(self) -> None:
        """Stop it in the middle of what it does."""
        self._process.kill()

    def close(self) -> None:
        """End the process; it holds nothing that could be lost."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
