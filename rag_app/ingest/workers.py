"""Reading PDFs in other processes and parsing in threads, while this one embeds and writes.

When a PDF library crashes its process (``pipelines.isolated``), only that file fails.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from queue import Queue

from pipelines.errors import RagError, ReadError
from pipelines.file_names import printable
from pipelines.isolated import Reading, Stopper, read_file
from pipelines.protocol import OnOcrPage
from rag_app.ingest.parsing import Chunking, Parsed, parse_read

Outcome = Parsed | RagError
OnOcrPageOf = Callable[[Path, int, int], None]
_MAX_AHEAD_FILES = 1  # parsed files kept waiting per worker, so that memory stays flat


def parse_all(
    paths: Iterable[Path],
    chunking: Chunking,
    workers: int,
    reading: Reading | None = None,
    on_ocr_page: OnOcrPageOf | None = None,
) -> Iterator[tuple[Path, Outcome]]:
    """Yield each file with the result of parsing it, or the error, in the order given.

    Args:
        paths: the files.
        chunking: how they are cut into nodes.
        workers: processes that read at the same time; 0: one, while nothing else is done.
        reading: limits, passwords and OCR.
        on_ocr_page: called in this thread as OCR begins with a page of a file: its place among
            those that OCR reads, and how many there are.
    """
    reading = reading or Reading()
    if workers < 1:
        for path in paths:
            told = partial(on_ocr_page, path) if on_ocr_page is not None else None
            yield path, parse_file(path, chunking, reading, on_ocr_page=told)
        return
    with _Pool(chunking, workers, reading) as pool:
        yield from pool.run(list(paths), on_ocr_page)


def parse_file(
    path: Path,
    chunking: Chunking,
    reading: Reading,
    stopper: Stopper | None = None,
    on_ocr_page: OnOcrPage | None = None,
) -> Outcome:
    """Return the result of parsing one file, or the error."""
    try:
        read = read_file(path, chunking.reader, reading, stopper, on_ocr_page)
        return parse_read(read, chunking)
    except RagError as error:
        return error
    except Exception as error:  # one bad file must not stop the others
        return ReadError(
            f"{printable(path.name)}: its text could not be split: {type(error).__name__}: {error}",
            hint="leave it out, and please report it",
        )


class _Pool:
    """Threads that each read one file at a time in another process, and parse it."""

    def __init__(self, chunking: Chunking, workers: int, reading: Reading) -> None:
        self._chunking, self._reading = chunking, reading
        self._tasks: Queue[tuple[int, Path] | None] = Queue()
        self._done: dict[int, Outcome] = {}
        self._begun: dict[int, tuple[int, int]] = {}  # the last page that OCR began with, by file
        self._ready = threading.Condition()
        self._room = threading.Semaphore(workers * _MAX_AHEAD_FILES)
        self._stopper = Stopper()
        self._stopped = False
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(workers)]

    def __enter__(self) -> _Pool:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        self._stopper.stop()
        for _thread in self._threads:
            self._tasks.put(None)
            self._room.release()
        for thread in self._threads:
            thread.join()

    def run(
        self, paths: list[Path], on_ocr_page: OnOcrPageOf | None
    ) -> Iterator[tuple[Path, Outcome]]:
        for task in enumerate(paths):
            self._tasks.put(task)
        for index, path in enumerate(paths):
            while (outcome := self._next_outcome(index, paths, on_ocr_page)) is None:
                pass
            self._room.release()
            yield path, outcome

    def _next_outcome(
        self, index: int, paths: list[Path], on_ocr_page: OnOcrPageOf | None
    ) -> Outcome | None:
        """Wait for a file; None: before it was read, OCR began with pages, which was told."""
        with self._ready:
            self._ready.wait_for(lambda: self._begun or index in self._done)
            begun, self._begun = self._begun, {}
            outcome = self._done.pop(index, None)
        for at, step in begun.items():
            if on_ocr_page is not None:
                on_ocr_page(paths[at], *step)
        return outcome

    def _serve(self) -> None:
        while (task := self._next()) is not None:
            index, path = task
            outcome = parse_file(
                path, self._chunking, self._reading, self._stopper, partial(self._begin, index)
            )
            with self._ready:
                self._done[index] = outcome
                self._ready.notify_all()

    def _begin(self, index: int, number: int, total: int) -> None:
        with self._ready:
            self._begun[index] = (number, total)
            self._ready.notify_all()

    def _next(self) -> tuple[int, Path] | None:
        self._room.acquire()
        task = self._tasks.get()
        return None if self._stopped else task
