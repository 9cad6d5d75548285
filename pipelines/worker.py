"""The process that reads PDFs: one after the other, within limits, until its input ends.

Started by ``pipelines.isolated`` and by nothing else. A file that needs too much memory or
time ends the process, and its exit code (or signal) says why.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pipelines.errors import RagError, ReadError, TooLargeError
from pipelines.ocr import wants
from pipelines.page_showing import ShownPage, show_page
from pipelines.protocol import (
    ACCEPTED,
    ENDS,
    READY,
    STAYS,
    OnOcrPage,
    Read,
    Task,
    WorkerAnswer,
    answer_bytes,
    ocr_page_bytes,
    receive_task,
)
from pipelines.readers import RawPdf
from pipelines.reading import read_data

EXIT_MEMORY = 86
MAX_IDLE_SECONDS = 300
MAX_IDLE_BYTES = 200_000_000  # a process that holds more than this after a file ends
_CHECK_SECONDS = 0.02  # between two checks of the memory, which grows by 40 MB at most
# The limit of the address space, as a multiple: the kernel refuses single huge requests.
_ADDRESS_FACTOR = 4


def memory_error(limits_mb: int) -> TooLargeError:
    """Return the error for a file that needs more memory than the limit."""
    return TooLargeError(
        f"it unfolds beyond the memory limit of {limits_mb} MB",
        hint="leave it out; where it is to be trusted, allow more: RAG_READ_MEMORY_MB",
    )


class Guard:
    """Ends this process when a file takes too much memory or time, or the parent has gone."""

    def __init__(self) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # what was read stays out of dumps
        self._parent = os.getppid()
        self._max_bytes = 0
        self._until = 0.0
        self._busy = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    @contextmanager
    def watching(self, task: Task) -> Iterator[Callable[[], None]]:
        """Enforce the limits of one file; gives what allows the time of one more page of OCR."""
        self._max_bytes = task.limits.memory_for(task.size)
        seconds = task.limits.seconds_for(task.size)
        self._until = time.process_time() + seconds
        _soft(resource.RLIMIT_CPU, math.ceil(self._until))
        _soft(resource.RLIMIT_AS, address_bytes() + _ADDRESS_FACTOR * self._max_bytes)
        self._busy.set()
        try:
            yield lambda: self._allow(task.limits.seconds_per_ocr_page)
        finally:
            self._busy.clear()
            _soft(resource.RLIMIT_CPU, None)
            _soft(resource.RLIMIT_AS, None)

    def _allow(self, seconds: float) -> None:
        self._until = max(self._until, time.process_time() + seconds)
        _soft(resource.RLIMIT_CPU, math.ceil(self._until))

    def _watch(self) -> None:
        while self._busy.wait():
            if resident_bytes() > self._max_bytes:
                os._exit(EXIT_MEMORY)
            if os.getppid() != self._parent:
                os._exit(0)
            time.sleep(_CHECK_SECONDS)


def resident_bytes() -> int:
    """Return the memory that this process holds; where that is unknown, its maximum so far."""
    if sys.platform == "linux":
        return _statm()[1]
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def address_bytes() -> int:
    """Return the size of the address space; 0 where it is unknown."""
    return _statm()[0] if sys.platform == "linux" else 0


def _statm() -> tuple[int, int]:
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  # pathlib costs start-up
        size, resident, *_ = file.read().split()
    page = resource.getpagesize()
    return int(size) * page, int(resident) * page


def _soft(what: int, value: int | None) -> None:
    """Set a soft limit, within the hard one; None removes it."""
    _, hard = resource.getrlimit(what)
    wanted = resource.RLIM_INFINITY if value is None else value
    if hard != resource.RLIM_INFINITY:
        wanted = hard if value is None else min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses some: the watch remains
        resource.setrlimit(what, (wanted, hard))


def answered(
    task: Task, data: bytes, on_ocr_page: OnOcrPage = lambda *_: None
) -> WorkerAnswer | ShownPage | RagError:
    """Return the pages of a file, or the one that is wanted, or the error."""
    try:
        if task.request is not None:
            seconds = task.limits.seconds_per_ocr_page
            return show_page(data, task.passwords, task.request, seconds)
        return WorkerAnswer(
            *read_data(data, task.reader, task.passwords, task.limits, _by_ocr(task, on_ocr_page))
        )
    except RagError as error:
        return error
    except MemoryError:
        return memory_error(task.limits.memory_mb)
    except Exception as error:  # one bad file must not stop the others
        return ReadError(
            f"reading failed: {type(error).__name__}: {error}",
            hint="the file may be damaged: open it in a viewer and save it again",
        )


def _by_ocr(task: Task, on_ocr_page: OnOcrPage) -> Callable[[RawPdf, bytes], RawPdf] | None:
    """Return what reads the pages of a file that no reader could."""
    ocr = task.ocr
    if ocr is None:
        return None

    def recognise(raw: RawPdf, data: bytes) -> RawPdf:
        if not any(wants(page.state) for page in raw.pages):
            return raw
        # Imported here: few files need it, and a process that reads starts quickly.
        from pipelines.scanned import read_scanned, tesseract

        engine = tesseract(ocr)
        return read_scanned(data, task.passwords, raw, engine, task.limits, on_ocr_page)

    return recognise


def serve(
    read: Read,
    results: BinaryIO,
    watching: Callable[[Task], contextlib.AbstractContextManager[Callable[[], None] | None]],
) -> None:
    """Read the files that arrive until the input ends, or this process has grown large."""
    results.write(READY)
    results.flush()
    ends = False
    while not ends:
        try:
            task = receive_task(read)
            data = read(task.size)
        except EOFError:
            return
        results.write(ACCEPTED)
        results.flush()
        with watching(task) as allow:
            answer = answered(task, data, _telling(results, allow))
            del data
            for part in answer_bytes(answer):
                results.write(part)
        del answer
        ends = resident_bytes() > MAX_IDLE_BYTES
        results.write(ENDS if ends else STAYS)
        results.flush()


def _telling(results: BinaryIO, allow: Callable[[], None] | None) -> OnOcrPage:
    """Return what tells that OCR begins with a page, and allows the time that it needs."""

    def begin(number: int, total: int) -> None:
        if allow is not None:
            allow()
        results.write(ocr_page_bytes(number, total))
        results.flush()

    return begin


def reading_from(tasks: io.FileIO) -> Read:
    """Return a function that reads exact numbers of bytes; a long silence ends the input."""

    def read(count: int) -> bytes:
        data = bytearray(count)
        room = memoryview(data)
        while room:
            if not select.select([tasks], [], [], MAX_IDLE_SECONDS)[0]:
                raise EOFError
            got = tasks.readinto(room)
            if not got:
                raise EOFError
            room = room[got:]
        return bytes(data)

    return read


def main() -> None:
    """Run as the process that reads: results go to stdout, stray prints elsewhere."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    tasks, results = io.FileIO(os.dup(0)), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(BrokenPipeError):
        serve(reading_from(tasks), results, Guard().watching)
    os._exit(0)
