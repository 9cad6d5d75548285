"""PDF file → its pages, read by another process, so that a bad file cannot crash or fill ours.

The process is a fresh interpreter in isolated mode that is told where this package lies: no
code of the current folder, of ``PYTHONPATH`` or of the caller's program runs in it, it
inherits no key and no password, and nothing of a threaded program is forked. It is kept for
the next file. Within it ``pipelines.worker`` enforces the limits; a time limit here ends it
when even that fails. Both speak ``pipelines.protocol``.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import logging
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

from pipelines.errors import (
    ConfigError,
    CrashError,
    NoTextError,
    RagError,
    ReadError,
    TooLargeError,
    TooSlowError,
)
from pipelines.file_names import printable
from pipelines.interpreter import isolated_command, isolated_environment
from pipelines.ocr import Ocr
from pipelines.page_showing import PageRequest, ShownPage
from pipelines.protocol import (
    ACCEPTED,
    READY,
    STAYS,
    OnOcrPage,
    ProtocolError,
    Task,
    WorkerAnswer,
    receive_answer,
    receive_shown,
    task_bytes,
)
from pipelines.readers import Limits
from pipelines.reading import DEFAULT_READER, READERS, ReadPdf
from pipelines.regular_files import open_regular
from pipelines.worker import EXIT_MEMORY, memory_error

MAX_IDLE = 2  # processes that are kept for the next file
_START_SECONDS = 120.0
_EXIT_SECONDS = 10.0
# Wall clock, as a multiple of processor time: a busy machine gives a process a part of its
# time, and a process that waits for a dead disk uses none.
_WALL_FACTOR, _WALL_SECONDS = 4, 60.0
_CHUNK_BYTES = 1 << 20
_LIBRARIES = ("pypdfium2", "pypdfium2_raw", "pypdf", "cryptography", "numpy", "tesserocr")
# Files are read side by side, each by one thread.
_ONE_THREAD = {"OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1"}


_log = logging.getLogger(__name__)

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Reading:
    """How files are read.

    Attributes:
        limits: what one file may cost.
        passwords: tried on an encrypted file, after the empty one; in no representation.
        ocr: what reads pages that are pictures; None: nothing does.
    """

    limits: Limits = field(default_factory=Limits)
    passwords: tuple[str, ...] = field(default=(), repr=False)
    ocr: Ocr | None = None

    def __post_init__(self) -> None:
        if any("\0" in one or not _is_unicode(one) for one in self.passwords):
            raise ConfigError("the password holds characters that no password of a PDF can hold")


class Stopper:
    """Stops the reading of files, from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: set[ReaderProcess] = set()
        self._stopped = False

    def stop(self) -> None:
        """Make every file fail that is being read, or will be."""
        with self._lock:
            self._stopped = True
            for process in self._active:
                process.kill()

    @contextmanager
    def watching(self, process: ReaderProcess) -> Iterator[None]:
        """Let :meth:`stop` end a process."""
        with self._lock:
            if self._stopped:
                raise _stopped()
            self._active.add(process)
        try:
            yield
        finally:
            with self._lock:
                self._active.discard(process)


def read_file(
    path: Path,
    reader: str = DEFAULT_READER,
    reading: Reading | None = None,
    stopper: Stopper | None = None,
    on_ocr_page: OnOcrPage | None = None,
) -> ReadPdf:
    """Return the pages of a PDF, read by another process.

    Args:
        path: the file.
        reader: one of ``READERS``; the other one is tried on a file that this one cannot read.
        reading: limits and passwords.
        stopper: can stop it.
        on_ocr_page: called as OCR begins with a page: its place, and how many there are.

    Raises:
        ConfigError: there is no such reader.
        ReadError: the file could not be read; its subclass says why.
    """
    if reader not in READERS:
        raise ConfigError(
            f"there is no PDF reader {reader!r}", hint=f"choose one of: {', '.join(READERS)}"
        )
    reading, stopper = reading or Reading(), stopper or Stopper()
    try:
        with open_regular(path) as file:
            answer, digest = _named(path, file, reader, reading, stopper, on_ocr_page)
    except OSError as error:
        raise ReadError(
            f"{printable(path)}: {error.strerror or error}",
            hint="check the path and its permissions",
        ) from error
    return ReadPdf(path, answer.raw, digest, reader, answer.read_by, reading.ocr)


def read_page(
    path: Path, request: PageRequest, reading: Reading | None = None
) -> tuple[ShownPage, str]:
    """Return one page of a PDF with its quotes, read by another process, and the file's hash.

    Args:
        path: the file.
        request: the page, and what is wanted of it.
        reading: limits and passwords.

    Raises:
        ReadError: the file or the page cannot be read or drawn; its subclass says why.
    """
    reading = reading or Reading()
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            task = Task(DEFAULT_READER, size, reading.limits, reading.passwords, request=request)
            return _asked(file, lambda process: process.show(task, request, file), Stopper())
    except OSError as error:
        raise ReadError(
            f"{printable(path)}: {error.strerror or error}",
            hint="check the path and its permissions",
        ) from error
    except ReadError as error:
        named = f"{printable(path.name)}: {error.message}"
        raise type(error)(named, hint=error.hint) from error


def _named(
    path: Path,
    file: BinaryIO,
    reader: str,
    reading: Reading,
    stopper: Stopper,
    on_ocr_page: OnOcrPage | None,
) -> tuple[WorkerAnswer, str]:
    try:
        try:
            return _read(file, reader, reading, stopper, on_ocr_page)
        except _OcrFailure as failure:
            # What its pictures did to OCR does not cost the file its text.
            _log.warning("%s: read without OCR: %s", printable(path.name), failure)
            file.seek(0)
            try:
                return _read(file, reader, replace(reading, ocr=None), stopper, None)
            except NoTextError as error:
                ended = failure.error
                message = f"{error.message}; text recognition (OCR) ended: {ended.message}"
                raise NoTextError(message, hint=ended.hint) from error
    except ReadError as error:
        named = f"{printable(path.name)}: {error.message}"
        raise type(error)(named, hint=error.hint) from error


def _read(
    file: BinaryIO,
    reader: str,
    reading: Reading,
    stopper: Stopper,
    on_ocr_page: OnOcrPage | None,
) -> tuple[WorkerAnswer, str]:
    size = os.fstat(file.fileno()).st_size
    task = Task(reader, size, reading.limits, reading.passwords, reading.ocr)
    return _asked(file, lambda process: process.read(task, file, on_ocr_page), stopper)


def _asked(file: BinaryIO, ask: Callable[[ReaderProcess], Answer], stopper: Stopper) -> Answer:
    for _ in range(2):
        with borrowed() as process, stopper.watching(process):
            try:
                return ask(process)
            except FileNotTaken:
                file.seek(0)  # it had ended while it waited, not because of this file
    raise ReadError("the process that reads PDFs does not start", hint=_REINSTALL)


class FileNotTaken(Exception):
    """The process ended before it had taken the file."""


class _OcrFailure(Exception):
    """The process ended while it read pages by OCR; the message says why."""

    def __init__(self, error: ReadError) -> None:
        super().__init__(str(error))
        self.error = error


_REINSTALL = "the Python of this program must start and import pypdfium2: install it again"


class ReaderProcess:
    """One process that reads one file at a time; for one thread at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and code
            isolated_command("pipelines.worker", _LIBRARIES),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A library may print anything about a hostile file, also terminal escapes.
            stderr=subprocess.DEVNULL,
            env=isolated_environment() | _ONE_THREAD,
            cwd=os.path.abspath(os.sep),  # noqa: PTH100  # no library is sought beside the PDFs
            bufsize=0,
        )
        self._pipes = _Pipes(self._process)
        self._ready = False
        self.alive = True

    def read(
        self, task: Task, file: BinaryIO, on_ocr_page: OnOcrPage | None = None
    ) -> tuple[WorkerAnswer, str]:
        """Return the pages of a file, and the hash of its bytes.

        Raises:
            FileNotTaken: the process has ended for a reason of its own.
            ReadError: the file could not be read.
        """
        return self._exchange(task, file, lambda: self._answer(task, on_ocr_page))

    def show(self, task: Task, request: PageRequest, file: BinaryIO) -> tuple[ShownPage, str]:
        """Return one page of a file, and the hash of its bytes.

        Raises:
            FileNotTaken: the process has ended for a reason of its own.
            ReadError: the file or the page could not be read.
        """
        receive = partial(receive_shown, self._pipes.read, request)
        return self._exchange(task, file, lambda: self._received(task, receive))

    def _exchange(
        self, task: Task, file: BinaryIO, answered: Callable[[], Answer | RagError]
    ) -> tuple[Answer, str]:
        try:
            digest = self._sent(task, file)
            answer = answered()
        except BaseException:  # also Ctrl-C: what is in the pipes belongs to no later file
            self.kill()
            raise
        if isinstance(answer, RagError):
            raise answer
        return answer, digest

    def kill(self) -> None:
        """Stop it in the middle of what it does; the file has failed."""
        self.alive = False
        self._process.kill()

    def close(self) -> None:
        """End the process; it holds nothing that could be lost."""
        self.kill()
        self._process.wait()
        self.forget()

    def forget(self) -> None:
        """Close our ends of its pipes."""
        self.alive = False
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def is_waiting(self) -> bool:
        """Tell whether it still runs, and waits for a file."""
        return self.alive and self._process.poll() is None

    def _sent(self, task: Task, file: BinaryIO) -> str:
        """Send a task and the file's bytes; return their hash, which no reader can falsify."""
        pipes, digest, left = self._pipes, hashlib.sha256(), task.size
        pipes.until = time.monotonic() + _START_SECONDS
        try:
            if not self._ready and pipes.read(1) != READY:
                raise FileNotTaken
            self._ready = True
            pipes.until = time.monotonic() + _wall(task)
            pipes.write(task_bytes(task))
            while left:
                part = file.read(min(left, _CHUNK_BYTES))
                if not part:
                    raise ReadError("it became shorter while it was read", hint="run it again")
                digest.update(part)
                pipes.write(part)
                left -= len(part)
            if pipes.read(1) != ACCEPTED:
                raise FileNotTaken
        except (EOFError, BrokenPipeError, TimeoutError) as error:
            if not self.alive:
                raise _stopped() from error
            raise FileNotTaken from error
        return digest.hexdigest()

    def _answer(self, task: Task, on_ocr_page: OnOcrPage | None) -> WorkerAnswer | RagError:
        begun = False

        def began(number: int, total: int) -> None:
            nonlocal begun
            begun = True
            more = _WALL_SECONDS + _WALL_FACTOR * task.limits.seconds_per_ocr_page
            self._pipes.until = max(self._pipes.until, time.monotonic() + more)
            if on_ocr_page is not None:
                on_ocr_page(number, total)

        receive = partial(receive_answer, self._pipes.read, task.limits, began)
        answer = self._received(task, receive)
        if begun and isinstance(answer, CrashError | TooLargeError | TooSlowError):
            raise _OcrFailure(answer)
        return answer

    def _received(self, task: Task, receive: Callable[[], Answer | RagError]) -> Answer | RagError:
        pipes = self._pipes
        try:
            answer = receive()
            self.alive = self.alive and pipes.read(1) == STAYS
        except TimeoutError:
            self.kill()
            return _too_slow(_wall(task))
        except ProtocolError as error:
            self.kill()
            return CrashError(
                f"the process that reads it sent a malformed answer: {error}", hint=_LEAVE_OUT
            )
        except EOFError:
            stopped = not self.alive
            code = self._code()
            self.kill()
            return _death(code, task, stopped=stopped)
        return answer

    def _code(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(_EXIT_SECONDS)
        return None


class _Pipes:
    """Both pipes of a process, read and written until a point in time (``time.monotonic``)."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("the process has no pipes")
        self._in, self._out = process.stdout.fileno(), process.stdin.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._read = bytearray()
        self.until = 0.0

    def read(self, count: int) -> bytes:
        """Return exactly ``count`` bytes.

        Raises:
            EOFError: the process ended.
            TimeoutError: they did not come in time.
        """
        while len(self._read) < count:
            self._wait(self._in, select.POLLIN)
            part = os.read(self._in, _CHUNK_BYTES)
            if not part:
                raise EOFError
            self._read += part
        found = bytes(self._read[:count])
        del self._read[:count]
        return found

    def write(self, data: bytes) -> None:
        """Write all of it.

        Raises:
            BrokenPipeError: the process ended.
            TimeoutError: it did not take it in time.
        """
        rest = memoryview(data)
        while rest:
            self._wait(self._out, select.POLLOUT)
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(self._out, rest) :]

    def _wait(self, pipe: int, event: int) -> None:
        poll = select.poll()
        poll.register(pipe, event)
        left = self.until - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise TimeoutError


_LEAVE_OUT = "leave it out, or open it in a viewer and save it again"


def _death(code: int | None, task: Task, *, stopped: bool) -> ReadError:
    """Return the error for a file that ended the process."""
    if stopped:
        return _stopped()
    if code == EXIT_MEMORY:
        return memory_error(task.limits.memory_mb)
    if code == -signal.SIGXCPU:
        return _too_slow(task.limits.seconds_for(task.size))
    if code == -signal.SIGKILL:
        why = "the process that read it was killed from outside (SIGKILL)"
        return CrashError(why, hint="the machine may have run out of memory: leave it out")
    how = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
    return CrashError(
        f"it crashed the PDF reader ({how})",
        hint=f"{_LEAVE_OUT}, or try another reader: RAG_READER",
    )


def _stopped() -> ReadError:
    return ReadError("reading was stopped", hint="run it again")


def _too_slow(seconds: float) -> TooSlowError:
    return TooSlowError(
        f"reading it took longer than {seconds:.0f} s",
        hint="leave it out; where it is to be trusted, allow more: RAG_READ_SECONDS",
    )


def _wall(task: Task) -> float:
    return _WALL_SECONDS + _WALL_FACTOR * task.limits.seconds_for(task.size)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _IdleProcesses:
    """Processes that wait for the next file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[ReaderProcess] = []

    def take(self) -> ReaderProcess:
        """Return an idle process, or a new one."""
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.is_waiting():
                    return process
                process.close()
        return ReaderProcess()

    def give(self, process: ReaderProcess) -> None:
        """Keep a process for the next file, or end it when enough are kept."""
        with self._lock:
            if process.is_waiting() and len(self._idle) < MAX_IDLE:
                self._idle.append(process)
                return
        process.close()

    def close(self) -> None:
        """End all idle processes."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def after_fork(self) -> None:
        """Forget the processes in a forked child: they belong to the parent."""
        self._lock = threading.Lock()
        while self._idle:
            self._idle.pop().forget()


_kept = _IdleProcesses()
atexit.register(_kept.close)
os.register_at_fork(after_in_child=_kept.after_fork)


@contextmanager
def borrowed() -> Iterator[ReaderProcess]:
    """Lend a process that reads; it is kept for the next file."""
    process = _kept.take()
    try:
        yield process
    finally:
        _kept.give(process)


def begin() -> None:
    """Start a process that reads, where none waits, while something else is being done."""
    with borrowed():
        pass


def close_idle() -> None:
    """End the processes that wait for a file; the next one gets a new process."""
    _kept.close()


def passwords(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the passwords to be tried; the empty one always is."""
    several = [given] if isinstance(given, str) else given or ()
    if not isinstance(several, (list, tuple)) or not all(isinstance(one, str) for one in several):
        raise ConfigError("a password must be text", hint='write password="…"')
    return tuple(dict.fromkeys(one for one in several if one))
