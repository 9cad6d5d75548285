"""Ctrl-C, SIGTERM and SIGHUP: the first ends the work in order, a second one at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

INTERRUPTED = 128 + signal.SIGINT
# Show the cursor again, and clear the line on which a bar stood.
_TIDY = "\x1b[?25h\r\x1b[2K"
_POLITE = ("SIGTERM", "SIGHUP")  # by name: not every system has both


class Terminated(KeyboardInterrupt):
    """Another process, or the end of the terminal, asks this one to end.

    Attributes:
        code: the exit code that a shell expects: 128 and the signal's number.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


def code_of(error: KeyboardInterrupt) -> int:
    """Return the exit code of a command that was interrupted."""
    return error.code if isinstance(error, Terminated) else INTERRUPTED


def words_of(error: KeyboardInterrupt) -> str:
    """Return a message about the interrupt."""
    return "terminated" if isinstance(error, Terminated) else "interrupted"


@contextmanager
def handled() -> Iterator[None]:
    """Turn the signals into exceptions while the body runs, and end at once on a second one.

    A signal that whoever started this process had ignored (``nohup``, a job in the
    background) stays ignored. The main thread only.
    """
    before: dict[int, Any] = {}
    seen = False

    def act(number: int, _: FrameType | None) -> None:
        nonlocal seen
        if seen:
            _end(number)
        seen = True
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, act)
    for name in _POLITE:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, act)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int) -> NoReturn:
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), _TIDY.encode())
    os._exit(128 + number)
